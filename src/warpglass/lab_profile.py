"""The profile's part of the wiring in lab.py: one counted launch, and what the machine code adds to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from math import prod
from typing import Any

from . import __version__, devices, lab
from .devices import Device
from .engine.backend import Launch
from .engine.cpu import CpuBackend
from .errors import CompileError
from .models.nsight_occupancy import nsight_metrics
from .models.occupancy import Demand, Occupancy, occupancy
from .observe import profiling
from .observe.counting import Counting
from .profile_record import LineProfile, Numbers, Profile
from .sass.translate import Translation, translate
from .source.compiled import Compiled
from .source.cubin import OLDEST, Resources, resources


def profile(
    kernel: lab.Kernel,
    grid: lab.Extent,
    block: lab.Extent,
    args: Sequence[object],
    shared: int = 0,
    device: str = "cpu",
    model: str = "h100",
    timeout: float = 60.0,
) -> Profile:
    """Run a kernel once on the engine and count what Nsight Compute counts; results are in the arrays.

    `model` names the GPU whose compiler target, occupancy and limits apply. Arguments are those of `run`.
    Raises ArgumentError for arguments that do not fit and LaunchError if the kernel fails: there is no
    profile of a part of a launch.
    """
    launch = lab.make_launch(kernel, grid, block, args, shared, timeout)
    place = lab.backend("cpu", model)
    assert isinstance(place, CpuBackend)
    machine = _machine_code(launch.compiled, place.model.key)
    outcome, seen = place.observe(launch, profiling.instrument(machine.translation))
    tallies = Counting.read(seen.program, seen.probes, seen.totals)
    fit = _fit(launch, machine, seen.program.shared.static, place.model)
    found = _launch_numbers(launch, fit, place.model)
    numbers = profiling.evaluate(seen.program, tallies, machine.translation, found)
    return Profile(
        kernel=kernel.name,
        language=kernel.language,
        model=place.model.key,
        target=target_of(place.model),
        device=place.description,
        grid=launch.grid,
        block=launch.block,
        shared=launch.shared,
        counters=Numbers(numbers.counters),
        metrics=Numbers(numbers.metrics),
        labels=dict(numbers.labels),
        lines=tuple(LineProfile(file, line, one) for (file, line), one in numbers.lines.items()),
        occupancy=_describe(fit),
        seconds=outcome.seconds,
        time_label=outcome.label,
        notes=machine.notes,
        version=__version__,
    )


def target_of(model: Device) -> str:
    """The compiler target of a GPU."""
    major, minor = model.capability
    return f"sm_{major}{minor}"


def _for_target(compiled: Compiled, target: str) -> Compiled:
    """The kernel's PTX, said to be for a GPU: PTX for a newer one may use nothing that the older lacks."""
    return replace(compiled, ptx=_TARGET.sub(f".target {target}", compiled.ptx, count=1))


_TARGET = re.compile(r"^\s*\.target\s+sm_\w+", re.MULTILINE)


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
        own = _for_target(compiled, target)
        return _MachineCode(translate(own, target), resources(own, target), ())
    except CompileError as problem:
        return _MachineCode(None, None, (f"counts are those of the PTX: {problem}",))


@dataclass(frozen=True, slots=True)
class _MachineCode:
    translation: Translation | None
    resources: Resources | None
    notes: tuple[str, ...]


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
