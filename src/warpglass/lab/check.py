"""The check's part of the wiring: a launch under the detectors, and again in other orders."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from .. import __version__, devices, lab
from ..engine.cpu.backend import Begun, CpuBackend
from ..engine.cpu.faults import Scene
from ..engine.cpu.order import MOST, Order
from ..engine.cpu.snapshot import Snapshot
from ..engine.launch.backend import Backend, Launch, Outcome
from ..errors import ArgumentError, KernelFault, KernelTimeout, raised_by_kernel
from ..host.source_lines import keep_text
from ..observe.detectors import Checker
from ..observe.detectors.diagnostics.causes import merged, one_per_cause
from ..records.check import Check, Finding, joined, sources_around
from ..records.schedules import ALL_SCHEDULES, schedule_of, weakest
from ..records.suppressions import read_entries
from ..records.suppressions import suppress as suppress_findings

_ENDLESS = "the launch did not end, so it was not run in other orders"
_NO_LINES = (
    "the kernel has no line numbers, so places are lines of its PTX: compile it with -lineinfo, in numba "
    "with @cuda.jit(lineinfo=True)"
)


def check(
    kernel: lab.Kernel,
    grid: lab.Extent,
    block: lab.Extent | None,
    args: Sequence[object],
    shared: int = 0,
    device: str = "cpu",
    timeout: float = 60.0,
    model: str = "h100",
    schedules: int = 0,
    seed: int | None = None,
    suppress: str | Path | None = None,
    cluster: lab.Extent | None = None,
) -> Check:
    """Run a kernel once under all detectors; results are in the arrays, `findings` in the result.

    Arguments are those of `run`; arrays may be marked with `out` and `all_of`. The engine runs the kernel,
    whatever GPU there is; `device` is "cpu" or "auto". A defect of the kernel, faults and timeouts included,
    is a finding. With `schedules`, the kernel runs on copies of its arrays so many times more, each time with
    its blocks and warps in another random order, from `seed` (default 1) on; `seed` alone is one such run.
    `suppress` names a file of findings that are not to be reported (suppressions.py).
    Raises ArgumentError for arguments that do not fit and LaunchError for a launch that no GPU would begin.
    """
    if device not in ("cpu", "auto"):
        raise ArgumentError(f"device {device!r}: check runs kernels on the engine; pass 'cpu' or nothing")
    seeds = seeds_of(schedules, seed)
    entries = () if suppress is None else read_entries(Path(suppress), always=True)
    launch = lab.make_launch(kernel, grid, block, args, shared, timeout, _engine(model), cluster)
    (found,), notes = suppress_findings([examine(launch, model, seeds).check], entries)
    return replace(found, notes=(*found.notes, *notes))


def seeds_of(schedules: int, seed: int | None) -> range:
    """The seeds of the random orders that are asked for; raises ArgumentError for what is no such number."""
    if type(schedules) is not int or schedules < 0:
        raise ArgumentError(f"schedules is {schedules!r}; it must be a number of random orders, 0 or more")
    if seed is None:
        return range(1, 1 + schedules)
    if type(seed) is not int or not 0 <= seed <= MOST + 1 - max(1, schedules):
        raise ArgumentError(f"seed is {seed!r}; it must be a whole number from 0 to {MOST}")
    return range(seed, seed + max(1, schedules))


@dataclass(frozen=True, slots=True)
class Examined:
    """What one launch showed, and the error that it ended with when it ran by number."""

    check: Check
    error: Exception | None


def examine(launch: Launch, model: str, seeds: Sequence[int], site: str = "") -> Examined:
    """Make a launch under the detectors, once by number and once more for every seed."""
    place = _engine(model)
    with _turns.lock:
        if launch.compiled.text:
            keep_text(launch.compiled.text)  # all such texts have one name
        runs = _Runs(place, launch, seeds)
        error = runs.by_number()
        tried = () if _endless(error) else tuple(seeds)
        if tried:
            runs.in_other_orders(tried)
        runs.tell_written()
    note = [_ENDLESS] if tried != tuple(seeds) else []
    found = merged(runs.found, runs.others)
    note += [_NO_LINES] if found and not runs.file else []
    return Examined(
        Check(
            kernel=launch.compiled.name,
            language=launch.compiled.language,
            device=place.description,
            grid=launch.grid,
            block=launch.block,
            shared=launch.shared,
            findings=tuple(replace(finding, holds=runs.holds) for finding in found),
            schedule=schedule_of(tried, runs.holds),
            file=runs.file,
            holds=runs.holds,
            seeds=tried,
            notes=(*runs.notes, *note),
            site=site,
            version=__version__,
            sources=sources_around(found),
        ),
        error,
    )


def by_place(found: Sequence[Check]) -> list[Check]:
    """Of checks of launches, one for each place and kernel, in the order of their first launches."""
    groups: dict[tuple[str, str], Check] = {}
    for one in found:
        place = one.site, one.kernel
        groups[place] = joined([groups[place], one]) if place in groups else one
    return list(groups.values())


class Launches:
    """The launches of a program under the detectors: `make` is a watcher for `lab.watching`.

    A launch that fails raises what it would raise without a check. `timeout` bounds every launch's own.
    """

    def __init__(self, model: str, seeds: Sequence[int], timeout: float = math.inf):
        self.model = devices.get(model).key
        self._seeds = seeds
        self._timeout = timeout
        self._found: dict[tuple[str, str], Check] = {}
        self.begun = False

    def make(self, _: Backend, launch: Launch) -> Outcome:
        """Make one launch in place of a back end."""
        self.begun = True
        site, started = lab.launch_site(), time.perf_counter()
        launch = replace(launch, timeout=min(launch.timeout, self._timeout))
        examined = examine(launch, self.model, self._seeds, site)
        place = site, launch.compiled.name
        with _turns.lock:
            before = self._found.get(place)
            self._found[place] = examined.check if before is None else joined([before, examined.check])
        if examined.error is not None:
            raise examined.error
        return Outcome(time.perf_counter() - started, "engine")

    def checks(self) -> list[Check]:
        """A check for each place and kernel, in the order of their first launches."""
        return list(self._found.values())


class _Runs:
    """The runs of one launch; what it changes is what the run by number changes."""

    def __init__(self, place: CpuBackend, launch: Launch, seeds: Sequence[int]):
        self._place = place
        self._launch = launch
        self._seeds = seeds
        self._before: Snapshot | None = None
        self._scene: Scene | None = None
        self.found: tuple[Finding, ...] = ()
        self.others: list[tuple[int, tuple[Finding, ...]]] = []
        self.notes: tuple[str, ...] = ()
        self.holds = ALL_SCHEDULES
        self.file = ""
        self._first: Checker | None = None

    def by_number(self) -> Exception | None:
        """The run whose results stay; returns what it ended with."""
        self.found, error = self._run(None)
        return error

    def tell_written(self) -> None:
        """Tell the memory of a device what the run whose results stay has written."""
        if self._first is not None:
            self._first.tell_written()

    def in_other_orders(self, seeds: Sequence[int]) -> None:
        """The others, each from where the first began."""
        assert self._before is not None, "the first run has begun"
        assert self._scene is not None, "the first run has begun"
        after = Snapshot(self._scene)
        try:
            for seed in seeds:
                self._before.restore()
                self.others.append((seed, self._run(Order(seed))[0]))
        finally:
            after.restore()

    def _run(self, order: Order | None) -> tuple[tuple[Finding, ...], Exception | None]:
        checker, failed = Checker(dict(self._launch.purposes)), None
        if order is None:
            self._first = checker

        def begin(begun: Begun) -> None:
            if order is None and self._seeds:
                self._scene = begun.scene
                self._before = self._before or Snapshot(begun.scene)  # of the first beginning, if it is two
            checker.begin(begun)

        try:
            self._place.observe(self._launch, checker, begin, order=order, watcher=checker)
        except Exception as error:
            if not (isinstance(error, KernelFault | KernelTimeout) or raised_by_kernel(error)):
                raise
            failed = error
        refused = checker.refused()  # in the words of a heap that a reset clears
        if failed is not None:
            self._place.reset()
        self.holds = weakest((self.holds, checker.holds_for))
        self.file = checker.file
        self.notes = tuple(dict.fromkeys((*self.notes, *checker.notes)))
        found = [finding for _, finding in refused]
        if failed is not None:
            found += [
                one for one in [checker.fault(failed)] if not any(_again(one, other) for other in found)
            ]
        elif refused:
            failed = refused[0][0]
        found = one_per_cause([*found, *checker.findings(complete=failed is None)])
        return tuple(found), failed


def _again(fault: Finding, before: Finding) -> bool:
    """Whether what ended a launch is the same defect as an access that it had gone on without."""
    if fault.kind != before.kind:
        return False
    freed = fault.kind == "use-after-free"  # memory that is freed too early is freed again where it should be
    return freed or (fault.source, fault.array) == (before.source, before.array)


def _endless(error: Exception | None) -> bool:
    """Whether a launch was stopped because it took too long."""
    place = error.place if isinstance(error, KernelTimeout) else None
    return isinstance(error, KernelTimeout) and (place is None or place.kind == "timeout")


class _Turns:
    """Checks take turns: one that resets the engine after a fault must not do so within another."""

    def __init__(self) -> None:
        self._begin()
        if hasattr(os, "register_at_fork"):  # the lock might be held
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self.lock = threading.Lock()


_turns = _Turns()


def reset(model: str = "h100") -> None:
    """Reset what checks for a GPU run on: memory that kernels have allocated and not freed is gone."""
    _engine(model).reset()


@cache
def _engine(model: str) -> CpuBackend:
    """An engine of its own: a kernel that fails under check leaves the device usable."""
    return CpuBackend(model)
