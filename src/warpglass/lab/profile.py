"""The profile's part of the wiring: one counted launch, and what the machine code adds to it."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__, devices, lab
from ..devices import Device
from ..engine.cpu.backend import CpuBackend
from ..engine.gpu import ncu
from ..engine.launch.backend import Backend, Launch, Outcome
from ..errors import ArgumentError, CompileError
from ..models.caches import LINE, Geometry, geometry
from ..models.caches import counters as cache_counters
from ..models.memory_rules import rules_of
from ..models.nsight_occupancy import driver_shared, nsight_metrics
from ..models.occupancy import Demand, Occupancy, occupancy
from ..observe import profiling
from ..observe.counted_work import work_of
from ..observe.counters import COUNTERS, MEASURED, MODELLED
from ..observe.kernel_load import Counted
from ..observe.metrics import METRICS
from ..observe.warp_views import views_of
from ..records.profile import LineProfile, Numbers, Profile
from ..sass.choices import mark_choices
from ..sass.translate import Translation, translate
from ..source.compiled import Compiled
from ..source.cubin import OLDEST, Resources, resources, retargeted
from .kernel_time import model_time, without_caches
from .listing import listing_of


def profile(
    kernel: lab.Kernel,
    grid: lab.Extent,
    block: lab.Extent | None,
    args: Sequence[object],
    shared: int = 0,
    device: str = "cpu",
    model: str = "h100",
    timeout: float = 60.0,
    caches: bool = True,
    blocks: int | None = None,
    listing: bool = False,
    cluster: lab.Extent | None = None,
) -> Profile:
    """Run a kernel once on the engine and count what Nsight Compute counts; results are in the arrays.

    With `device` "gpu" the launch is made on that GPU as well, by Nsight Compute in a process of its own;
    what it measures takes the place of what the engine counts, which is kept in `counted`.

    `model` names the GPU whose compiler target, occupancy, limits and caches apply. Simulating `caches` takes
    one thread and most of the time; without it there is no traffic of the second-level cache and of DRAM.
    With `blocks` only so many are counted, evenly spread over the grid, and stand for all of them.
    With `listing` the profile has the kernel's texts as well, and what one warp did at each access.
    Arguments are those of `run`.
    Raises ArgumentError for arguments that do not fit and LaunchError if the kernel fails: there is no
    profile of a part of a launch.
    """
    place = lab.backend("cpu", model)
    launch = lab.make_launch(kernel, grid, block, args, shared, timeout, place, cluster)
    if device in ("cpu", "auto"):
        return count(launch, model, caches, blocks, listing)
    return _measured(launch, device, model, partial(count, caches=caches, blocks=blocks, listing=listing))


def count(
    launch: Launch, model: str, caches: bool = True, blocks: int | None = None, listing: bool = False
) -> Profile:
    """Make a launch on the engine and count it; `blocks` of a grid, evenly spread, stand for all of them.

    With `listing` the kernel's texts are added, and, where all blocks are counted, the warp views.
    """
    sample = None if blocks is None else _spread(blocks, prod(launch.grid))
    place = lab.backend("cpu", model)
    assert isinstance(place, CpuBackend)
    machine = _machine_code(launch.compiled, place.model.key)
    fit = _fit(launch, machine, place.static_shared(launch.compiled), place.model)
    memory = rules_of(place.model.capability)
    instrument = profiling.Profiling(
        profiling.counting_of(machine.translation, memory),
        _caches(fit, place.model) if caches and sample is None else None,
        views=listing and sample is None,
    )
    whole = replace(launch, compiled=machine.marked or launch.compiled)
    if whole.compiled is not launch.compiled:
        place.hand_on_variables(launch.compiled, whole.compiled)
    outcome, seen = place.observe(whole, instrument, sample=sample)
    if whole.compiled is not launch.compiled:
        place.hand_on_variables(whole.compiled, launch.compiled)
    scale = 1.0 if sample is None else prod(launch.grid) / len(sample)
    totals = seen.totals if sample is None else np.rint(seen.totals * scale).astype(np.int64)
    tallies, traffic = instrument.read(seen.program, seen.probes, totals)
    simulated = {} if traffic is None else cache_counters(traffic, place.model.capability)
    found = _launch_numbers(launch, fit, place.model)
    numbers = profiling.evaluate(seen.program, tallies, machine.translation, found, simulated, memory)
    sites = instrument.by_site(seen.program, seen.probes, totals)
    modelled, pipes = without_caches(place.model), dict[str, float]()
    if sites is not None:
        local = machine.resources.local if machine.resources else 0
        room = LINE * instrument.caches.l1_sets * instrument.caches.l1_ways if instrument.caches else 0
        counted = Counted(
            program=seen.program,
            tallies=tallies,
            leaders=sites.leaders,
            sites=sites.traffic,
            counters=numbers.counters,
            local=local,
            l1_bytes=room,
            executed=numbers.executed,
        )
        modelled, times, pipes = model_time(launch, counted, machine.translation, fit, place.model)
        numbers = profiling.with_times(numbers, times)
    notes = (*machine.notes, *filter(None, (memory.note,)), *numbers.notes)
    unsure: set[str] = set() if machine.resources else set(nsight_metrics(fit, 1, 1))
    if sample is not None:
        unsure |= numbers.counters.keys() - found.keys()
        notes += (
            f"counted in {len(sample)} of {prod(launch.grid)} blocks, evenly spread, and multiplied by "
            f"{scale:.6g}; the caches were not simulated",
        )
    return Profile(
        kernel=launch.compiled.name,
        language=launch.compiled.language,
        model=place.model.key,
        target=target_of(place.model),
        device=place.description,
        grid=launch.grid,
        block=launch.block,
        shared=launch.shared,
        counters=Numbers(numbers.counters),
        metrics=Numbers(numbers.metrics),
        labels={
            name: MODELLED if unsure & _made_of(name) else label for name, label in numbers.labels.items()
        },
        lines=tuple(LineProfile(file, line, one) for (file, line), one in numbers.lines.items()),
        occupancy=_describe(fit),
        seconds=outcome.seconds,
        time_label=outcome.label,
        notes=notes,
        version=__version__,
        assembler=machine.resources.assembler if machine.resources else "",
        listing=listing_of(launch.compiled, target_of(place.model)) if listing else None,
        views=views_of(seen.probes, totals),
        modelled=modelled,
        work=work_of(tallies, numbers.counters, traffic, pipes),
    )


def _made_of(name: str) -> set[str]:
    """The counters behind a metric's name, or a counter itself."""
    return set(METRICS[name].counters) if name in METRICS else {name}


def _spread(count: int, blocks: int) -> tuple[int, ...] | None:
    """So many block numbers, evenly spread over a grid; None if they are all."""
    if count < 1:
        raise ArgumentError(f"blocks is {count}; a sample has at least one")
    return None if count >= blocks else tuple((2 * k + 1) * blocks // (2 * count) for k in range(count))


def _measured(launch: Launch, device: str, model: str, counted: Callable[[Launch, str], Profile]) -> Profile:
    """Count a launch and measure it on a GPU, in this order: a kernel that fails or never ends fails here."""
    place = lab.backend(device)
    ncu.find_ncu()
    with tempfile.TemporaryDirectory(prefix="warpglass-ncu-") as folder:
        job = Path(folder) / "launch.pickle"
        ncu.save_launch(launch, job)
        profile = counted(launch, model)
        measured = ncu.measure(job, _MEASURABLE, device, launch.timeout)
    return _beside(profile, measured, place.description)


def _beside(profile: Profile, measured: ncu.Measurement, device: str) -> Profile:
    """The profile with measured numbers in place of those that the engine counted."""
    counters = {**profile.counters, **{n: v for n, v in measured.numbers.items() if n in COUNTERS}}
    names = {name for name in measured.numbers if name in COUNTERS}
    metrics = dict(profile.metrics)
    for name, metric in METRICS.items():
        if names.issuperset(metric.counters):
            metrics[name] = metric.value(counters)
            names.add(name)
    notes = profile.notes
    own = "{}.{}".format(*devices.get(profile.model).capability)
    if measured.capability not in ("", own):
        notes += (f"the GPU has compute capability {measured.capability}, the engine counted for {own}",)
    return replace(
        profile,
        device=device,
        counters=Numbers(counters),
        metrics=Numbers(metrics),
        labels={**profile.labels, **dict.fromkeys(names, MEASURED)},
        counted={n: v for n, v in {**profile.counters, **profile.metrics}.items() if n in names},
        seconds=measured.numbers[ncu.SECONDS] * 1e-9,
        time_label="gpu",
        notes=notes,
    )


# The launch's own numbers follow from its configuration: there is nothing to measure.
_MEASURABLE = tuple(name for name in COUNTERS if name.startswith(("l1tex__", "lts__", "dram__", "sm")))


def recorder(found: list[Profile], count_one: Callable[[Launch], Profile]) -> lab.Watcher:
    """A watcher for `lab.watching` that counts every launch and adds its profile to `found`."""

    def watch(_: Backend, launch: Launch) -> Outcome:
        profile = replace(count_one(launch), site=lab.launch_site())
        found.append(profile)
        return Outcome(profile.seconds, profile.time_label)

    return watch


def target_of(model: Device) -> str:
    """The compiler target of a GPU."""
    major, minor = model.capability
    return f"sm_{major}{minor}"


@lru_cache(maxsize=256)
def _machine_code(compiled: Compiled, gpu: str) -> _MachineCode:
    """What ptxas makes of a kernel for a GPU, and a note where it makes nothing."""
    model = devices.get(gpu)
    if model.capability < OLDEST:
        capability = ".".join(map(str, model.capability))
        note = (
            f"the assembler does not know compute capability {capability}: registers are unknown and counts "
            f"are those of the PTX"
        )
        return _MachineCode(None, None, (note,))
    target = target_of(model)
    try:
        own = retargeted(compiled, target)
        translation = translate(own, target)
        marked = mark_choices(compiled, translation.choices) if translation else None
        return _MachineCode(translation, resources(own, target), (), marked)
    except CompileError as problem:
        return _MachineCode(None, None, (f"counts are those of the PTX: {problem}",))


@dataclass(frozen=True, slots=True)
class _MachineCode:
    translation: Translation | None
    resources: Resources | None
    notes: tuple[str, ...]
    marked: Compiled | None = None  # the PTX that is run: selections that machine code acts on are counted


def _fit(launch: Launch, machine: _MachineCode, static: int, model: Device) -> Occupancy:
    found = machine.resources
    demand = Demand(
        threads=prod(launch.block),
        registers=found.registers if found else 0,
        static_shared=found.static_shared if found else static,
        dynamic_shared=launch.shared,
        barriers=found.barriers if found else 0,
    )
    return occupancy(demand, model.limits)


def _launch_numbers(launch: Launch, fit: Occupancy, model: Device) -> dict[str, float]:
    """What follows from the configuration, by the names of Nsight Compute."""
    blocks, threads = prod(launch.grid), prod(launch.block)
    return {
        **nsight_metrics(fit, blocks, model.multiprocessors),
        "launch__grid_size": blocks,
        "launch__block_size": threads,
        "launch__thread_count": blocks * threads,
        "smsp__warps_launched.sum": blocks * -(-threads // 32),
    }


def _caches(fit: Occupancy, model: Device) -> Geometry:
    """The caches that a kernel finds on a GPU, set to the shared memory that its blocks need."""
    return geometry(model, driver_shared(fit), fit.blocks)


def _describe(fit: Occupancy) -> dict[str, Any]:
    """An occupancy as plain data."""
    return {
        "share": fit.share,
        "thread_share": fit.thread_share,
        "warps": fit.warps,
        "blocks": fit.blocks,
        "allowed": dict(fit.allowed),
        "limiting": list(fit.limiting),
        "demand": asdict(fit.demand),
    }
