"""The CPU engine as a back end: launches, faults, the watchdog, the sticky state of the device."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ... import devices
from ...codegen import Instrument, Probe
from ...codegen.context import DEADLOCK, FAULT
from ...devices import Device
from ...errors import ArgumentError, LaunchError
from ...program import Program
from ...source.compiled import Compiled
from ..launch.arguments import Bound
from ..launch.backend import Launch, Outcome
from ..launch.kernel_exceptions import check_raised, clear_raised
from ..launch.limits import check_launch
from ..launch.sticky import StickyState
from .cooperative import run_crew
from .faults import Scene, explain_deadlock, explain_fault, explain_grid_deadlock, explain_timeout
from .footprint import check_cooperative
from .grid_watch import GridWatch
from .heap import Heap
from .launch_plan import Plan, Plans, make_plan
from .order import Order
from .prepared import Executable, Prepared, prepare
from .privatisation import redirect
from .replay import Ready, is_short, make_ready
from .thread_pool import Pool, thread_count
from .worker import Worker

_POOL = Pool()


@dataclass(frozen=True, slots=True)
class Begun:
    """A launch about to run, for observers that have words of their own to put into its workers."""

    scene: Scene
    workers: Sequence[Worker]
    shared: int  # bytes of shared memory, static and dynamic
    parameters: bytes  # the parameter block
    blocks: np.ndarray[Any, Any] | None = None  # the block at each place; None: they come by number

    def block_at(self, place: int) -> int:
        """The number of the block at a place in the order of the blocks."""
        return place if self.blocks is None else int(self.blocks[place])


Begin = Callable[[Begun], None]


@dataclass(frozen=True, slots=True)
class Observed:
    """What an instrument saw of a launch: its probes, the program they watched, and their words' totals."""

    program: Program
    probes: tuple[Probe, ...]
    totals: np.ndarray[Any, Any]  # int64, summed over the workers


class CpuBackend:
    """Runs kernels on the CPU in lockstep warps; `model` names the GPU whose launch limits apply."""

    name = "cpu"

    def __init__(self, model: str = "h100"):
        self.model: Device = devices.get(model)
        self._state = StickyState()
        self._heap = Heap()
        self._plans = Plans(self._heap)

    @property
    def description(self) -> str:
        """The device line of a report."""
        return _description(thread_count())

    # ------------------------------------------------------------------------------------ launching
    def run(self, launch: Launch) -> Outcome:
        """Run a kernel to completion; results are in the argument arrays."""
        self._state.check()
        with _POOL.lock:
            key, plan = self._plans.find(launch)
            if plan is not None:
                _POOL.settle()
                try:
                    seconds = _repeat(plan, launch, self._heap) if plan.joins and plan.count == 1 else None
                    if seconds is None:
                        seconds, _ = _carry_out(plan, launch, self._heap, again=True)
                    return Outcome(seconds, "engine")
                except LaunchError as error:
                    self._state.note(error)
                    raise
        return self._launch(launch, None, key=key)[0]

    def static_shared(self, compiled: Compiled) -> int:
        """Bytes of shared memory that a kernel declares itself."""
        return prepare(compiled).facts.shared.static

    def observe(
        self,
        launch: Launch,
        instrument: Instrument,
        begin: Begin | None = None,
        sample: Sequence[int] | None = None,
        order: Order | None = None,
    ) -> tuple[Outcome, Observed]:
        """Run a kernel to completion and return what an instrument has seen of it.

        `begin` is called when all is ready to run. With a `sample`, numbers of blocks in order, the
        instrument sees these blocks only. With an `order` blocks and warps come in that one, for instruments
        whose probes allow it; what the kernel prints is dropped.
        """
        outcome, executable, totals = self._launch(launch, instrument, begin, sample, order)
        executable.release()
        program = _prepared(launch).program
        return outcome, Observed(program, executable.probes, totals)

    def _launch(
        self,
        launch: Launch,
        instrument: Instrument | None,
        begin: Begin | None = None,
        sample: Sequence[int] | None = None,
        order: Order | None = None,
        key: Hashable = None,
    ) -> tuple[Outcome, Executable, np.ndarray[Any, Any]]:
        self._state.check()
        prepared = _prepared(launch)
        static, directives = prepared.facts.shared.static, prepared.facts.directives
        check_launch(self.model, launch.grid, launch.block, static, launch.shared, directives=directives)
        bound = _bind(launch, prepared)
        if launch.resident is None:
            self._refuse_device_arrays(bound)
        parts = _parts(prod(launch.grid), sample)
        if prepared.cooperative and len(parts) > 1:
            raise ArgumentError(f"{launch.compiled.name} needs all blocks at once: no sample can be taken")
        seconds, totals = 0.0, np.zeros(1, np.int64)
        if prepared.cooperative:
            x, y, z = launch.grid
            threads = launch.block[0] * launch.block[1] * launch.block[2]
            check_cooperative(self.model, launch.compiled.name, x * y * z, threads)
        with _POOL.lock:
            _POOL.settle()
            executable = general = prepared.executable(launch.block, launch.grid, bound, instrument)
            hot, settled = general.tiers.hot, False
            if instrument is None:
                executable, settled = prepared.repeated(general, launch.block, launch.grid, bound)
            others = executable if sample is None else prepared.executable(launch.block, launch.grid, bound)
            clear_raised(launch.compiled, lambda name: prepared.module.word(name).fill(0))
            try:
                for blocks, seen in parts:
                    code = executable if seen else others
                    plan = make_plan(launch, prepared, code, bound, self._heap, blocks)
                    took, workers = _carry_out(plan, launch, self._heap, begin, order)
                    seconds += took
                    if key is not None and settled:
                        self._plans.keep(key, launch, plan, general, hot)
                    if seen and instrument is not None:
                        totals = totals + np.sum([worker.words for worker in workers], axis=0)
            except LaunchError as error:
                self._state.note(error)
                raise
            check_raised(launch.compiled, lambda name: int(prepared.module.word(name)[0]))
        return Outcome(seconds, "engine"), executable, totals

    def ready(self, launch: Launch) -> Ready | None:
        """A launch of a virtual device's that has run, made ready to be repeated; None if it is not short."""
        prepared = _prepared(launch)
        if launch.resident is None or not is_short(prepared, launch):
            return None
        with _POOL.lock:
            bound = launch.resident.bind(prepared)
            executable = prepared.executable(launch.block, launch.grid, bound)
            laid = launch.resident.lay_out()
            return make_ready(launch, prepared, executable, laid, self._state, self._heap)

    def _refuse_device_arrays(self, bound: Bound) -> None:
        for array in bound.arrays:
            if array.device is not None:
                raise ArgumentError(
                    f"argument {array.position + 1} ({array.name}) lies on CUDA device {array.device}; "
                    f"the CPU engine needs it in host memory"
                )

    # ------------------------------------------------------------------------------------ arrays
    def to_device(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The array itself: the engine works on host memory."""
        return array

    def to_host(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The array itself."""
        return array

    def copy(self, source: np.ndarray[Any, Any], target: np.ndarray[Any, Any]) -> None:
        """Copy one array over another."""
        np.copyto(target, source)

    def part(self, array: np.ndarray[Any, Any], start: int, stop: int | None = None) -> np.ndarray[Any, Any]:
        """A view."""
        return array[start:stop]

    def flush_caches(self) -> None:
        """Nothing to do: engine times are wall times of the host, caches and all."""

    def reset(self) -> None:
        """Forget a sticky error, as cudaDeviceReset does."""
        self._state.clear()
        self._heap.clear()
        self._plans.clear()


def _prepared(launch: Launch) -> Prepared:
    return prepare(launch.compiled) if launch.resident is None else launch.resident.prepare(launch.compiled)


def _parts(blocks: int, sample: Sequence[int] | None) -> list[tuple[range, bool]]:
    """The blocks of a launch in order, in stretches that an instrument sees and others that it does not."""
    if sample is None:
        return [(range(blocks), True)]
    parts: list[tuple[range, bool]] = []
    done = 0
    for block in sample:
        if block > done:
            parts.append((range(done, block), False))
        parts.append((range(block, block + 1), True))
        done = block + 1
    return [*parts, (range(done, blocks), False)] if done < blocks else parts


def _carry_out(
    plan: Plan,
    launch: Launch,
    heap: Heap,
    begin: Begin | None = None,
    order: Order | None = None,
    again: bool = False,
) -> tuple[float, list[Worker]]:
    """Run a plan's blocks on the pool, whose lock is held; returns seconds and workers.

    `again` says that the plan is kept for more launches than this. Raises what went wrong. A cooperative
    launch is run as a whole.
    """
    prepared, executable, blocks, count = plan.prepared, plan.executable, plan.blocks, plan.count
    control = executable.control
    control.clear(blocks.start)
    workers = _fill(plan, launch, again)
    plan.system.workers = workers
    crew, listed = _put_in_order(order, prepared, workers, blocks)
    if begin is not None:
        begin(Begun(_scene(plan, launch, heap), workers, plan.shared, plan.laid.parameters, listed))
    watch = None
    if prepared.cooperative and count == 1:
        watch = GridWatch(executable.code.yields, prepared.program, workers)
    job = partial(run_crew, executable.tiers, [crew[k::count] for k in range(count)], watch)
    started = time.perf_counter()
    try:
        if plan.joins and count == 1:
            codes, late = [job(0)], False
        else:
            tiers = executable.tiers
            codes, late = _POOL.run(
                job, count, control.stop, launch.timeout, tiers.notice, brief=tiers.brief, joins=plan.joins
            )
    finally:
        if plan.tallies:
            _gather(plan, workers)
        seconds = time.perf_counter() - started
        heap.forget()
        executable.tiers.spend(seconds)
        executable.trim(plan.worker_bytes)
        if order is None and prepared.facts.services:
            sys.stdout.write(plan.system.output)
    if plan.system.error is not None:
        raise plan.system.error
    if any(codes):
        _raise_failure(_scene(plan, launch, heap), workers, watch, late=late)
    return seconds, workers


def _repeat(plan: Plan, launch: Launch, heap: Heap) -> float | None:
    """Run a kept plan for the launching thread alone, whose lock is held, as its only worker did before.

    Does what `_carry_out` would and no more; returns seconds, or None if the worker has done else since. What
    kept plans have none of is left out: calls of the runtime, grid barriers, an order, observers.
    """
    executable = plan.executable
    worker = executable.workers(1)[0]
    if not worker.refill(plan):
        return None
    executable.control.clear(plan.blocks.start)
    started = time.perf_counter()
    worker.code = executable.tiers.run(worker)
    seconds = time.perf_counter() - started
    executable.tiers.spend(seconds)
    executable.trim(plan.worker_bytes)
    if worker.code:
        _raise_failure(_scene(plan, launch, heap), [worker], None, late=False)
    return seconds


def _fill(plan: Plan, launch: Launch, again: bool) -> list[Worker]:
    """The workers of a launch, filled in."""
    executable, resident = plan.executable, plan.prepared.cooperative
    workers = executable.residents(len(plan.blocks)) if resident else executable.workers(plan.count)
    for number, worker in enumerate(workers):
        if again and worker.refill(plan):
            continue
        end, chunk = (number + 1, 1) if resident else (plan.blocks.stop, plan.chunk)
        ranges = plan.ranges
        worker.tallies = [tally.copy() for tally in plan.tallies] if number else []
        if worker.tallies:
            ranges = redirect(ranges, plan.tallies, worker.tallies)
        worker.set_alone(plan.alone)
        worker.fill(launch.grid, end, chunk, plan.laid.parameters, plan.shared, ranges, plan.system)
        if again:
            worker.keep_filling(plan)
    for worker in workers if plan.tallies else ():
        for tally, own in zip(plan.tallies, worker.tallies, strict=False):
            tally.clear(own)
    return workers


def _gather(plan: Plan, workers: Sequence[Worker]) -> None:
    """Add what workers have kept for themselves to the arrays."""
    for worker in workers:
        for tally, own in zip(plan.tallies, worker.tallies, strict=False):
            tally.gather(own)


def _scene(plan: Plan, launch: Launch, heap: Heap) -> Scene:
    return Scene(
        launch,
        plan.prepared,
        plan.executable,
        _bind(launch, plan.prepared),
        plan.laid.placed,
        plan.system,
        heap,
    )


def _bind(launch: Launch, prepared: Prepared) -> Bound:
    """The launch's arguments, checked."""
    return prepared.binder.bind(launch.args) if launch.resident is None else launch.resident.bind(prepared)


def _raise_failure(scene: Scene, workers: Sequence[Worker], watch: GridWatch | None, *, late: bool) -> None:
    """Raise the error for what has ended a launch early; `late` says that its time was over."""
    contexts = [worker.context for worker in workers if worker.code == FAULT]
    if contexts:
        raise explain_fault(scene, contexts)
    if watch is not None and watch.stuck:
        raise explain_grid_deadlock(scene, watch.stuck)
    for worker in workers:
        if worker.code == DEADLOCK:
            raise explain_deadlock(scene, worker)
    if late:
        raise explain_timeout(scene, [worker.context for worker in workers])


def _put_in_order(
    order: Order | None, prepared: Prepared, workers: list[Worker], blocks: range
) -> tuple[list[Worker], np.ndarray[Any, Any] | None]:
    """Let workers follow an order; returns them as they come, and the block at each place if not by number.

    Blocks of a cooperative grid have a worker each. Those of a kernel whose threads may wait for an earlier
    block come by number: with one at a time under way, it would wait for ever.
    """
    listed = None
    if order is None:
        return workers, listed
    if prepared.cooperative:
        workers = [workers[block] for block in order.blocks(len(blocks))]
    elif not prepared.program.fair:
        listed = order.blocks(len(blocks))
    for worker in workers:
        worker.follow(order, listed)
    return workers, listed


@lru_cache
def _description(threads: int) -> str:
    plural = "" if threads == 1 else "s"
    return f"warpglass engine on {_cpu_name()}, {threads} thread{plural} (CPU; no GPU is involved)"


@lru_cache(maxsize=1)
def _cpu_name() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as info:
            for line in info:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or os.name
