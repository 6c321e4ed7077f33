"""The CPU engine as a back end: the walk of a launch, and the state of the device.

A launch is bound to its kernel and checked, gets a plan, and is run by it (execution.py). A plan is kept, so
a launch that comes again is run at once. Launches from several threads take turns, as in CUDA's default
stream, but for those that may wait for others (`Launch.alongside`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from math import prod
from typing import Any

import numpy as np

from ... import devices
from ...codegen import Instrument, Probe
from ...devices import Device
from ...errors import ArgumentError, LaunchError
from ...program import Program
from ...source.compiled import Compiled
from ..launch.arguments import Bound
from ..launch.backend import Dim3, Launch, Outcome
from ..launch.kernel_exceptions import clear_exception, raise_exception
from ..launch.sticky import StickyState
from . import execution
from .admission import admit
from .execution import Begun
from .footprint import most_resident
from .guard import hears_signals
from .heap import Heap
from .launch_plan import Key, LaunchPlan, PlanCache, describe, make_plan
from .order import Order
from .prepared import Executable, Prepared, prepare
from .rehearsal import Rehearsed, may_rehearse, rehearse
from .replay import Replay, is_short, make_replay
from .thread_pool import POOL, thread_count
from .worker import Worker


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
        self._plans = PlanCache(self._heap)

    @property
    def description(self) -> str:
        """The device line of a report."""
        return describe(thread_count())

    # ------------------------------------------------------------------------------------ launching
    def run(self, launch: Launch) -> Outcome:
        """Run a kernel to completion; results are in the argument arrays."""
        self._state.check()
        if launch.variables:
            _assign(launch)
        try:
            with POOL.lock:
                key, plan, parameters = (None, None, None) if launch.begun else self._plans.find(launch)
                if plan is not None:
                    POOL.settle()
                    plan = plan.beside() if plan.executable.busy else plan
                    return _outcome(execution.rerun(plan, launch, self._heap, parameters), plan)
            return self._run_new(launch, key)
        except LaunchError as error:
            self._state.note(error)
            raise

    def _run_new(self, launch: Launch, key: Key | None) -> Outcome:
        """Run a launch that has no plan yet. A plan that will hold again is kept."""
        prepared, bound, cluster = self._bind(launch)
        with POOL.lock:
            POOL.settle()
            general = prepared.executable(launch.block, launch.grid, bound, None, cluster, soon=True)
            hot = general.tiers.hot
            executable, settled = prepared.specialised(general, launch.grid, bound.values)
            clear_exception(launch.compiled, prepared.module.clear)
            plan = self._plan(launch, prepared, executable, bound, range(launch.begun, prod(launch.grid)))
            seconds, _ = execution.run(plan, launch, self._heap)
            if (left := plan.left) is not None:
                rest = replace(launch, timeout=max(0.0, launch.timeout - seconds))
                better = prepared.executable(launch.block, launch.grid, bound, None, cluster)
                seconds += execution.run(self._plan(rest, prepared, better, bound, left), rest, self._heap)[0]
            if key is not None:
                self._plans.keep(key, launch, plan, general, hot, settled)
            raise_exception(launch.compiled, prepared.module.read)
        return _outcome(seconds, plan)

    def observe(
        self,
        launch: Launch,
        instrument: Instrument,
        begin: Callable[[Begun], None] | None = None,
        sample: Sequence[int] | None = None,
        order: Order | None = None,
        watcher: Rehearsed | None = None,
    ) -> tuple[Outcome, Observed]:
        """Run a kernel to completion and return what an instrument has seen of it.

        `begin` is called when all is ready to run. With a `sample`, numbers of blocks in order, the
        instrument sees these blocks only. With an `order` blocks and warps come in that one, for instruments
        whose probes allow it; what the kernel prints is dropped. A `watcher` allows a launch whose probes ask
        for one thread to be rehearsed (rehearsal.py); then `begin` may be called twice.
        """
        self._state.check()
        launch = replace(launch, alongside=None)  # what observers keep is one launch's
        if launch.variables:
            _assign(launch)
        prepared, bound, cluster = self._bind(launch)
        parts = _parts(prod(launch.grid), sample)
        if (prepared.cooperative or prepared.facts.clustered) and len(parts) > 1:
            raise ArgumentError(f"{launch.compiled.name} needs all blocks at once: no sample can be taken")
        try:
            with POOL.lock:
                POOL.settle()
                configuration = launch.block, launch.grid, bound
                observed = prepared.executable(*configuration, instrument, cluster)
                plain = observed if sample is None else prepared.executable(*configuration, None, cluster)
                done = None
                if watcher is not None and begin is not None and order is None and sample is None:
                    done = self._rehearse(launch, prepared, observed, bound, begin, watcher)
                if done is None:
                    clear_exception(launch.compiled, prepared.module.clear)
                    done = 0.0, np.zeros(1, np.int64)
                    for blocks, seen in parts:
                        code = observed if seen else plain
                        plan = self._plan(launch, prepared, code, bound, blocks)
                        took, workers = execution.run(plan, launch, self._heap, begin, order)
                        observed.experience.note_watched(took)
                        if seen:
                            words = _sum_words(workers)  # one worker's own, which the next part clears
                            done = done[0] + took, words if len(parts) == 1 else done[1] + words
                        else:
                            done = done[0] + took, done[1]
                    raise_exception(launch.compiled, prepared.module.read)
        except LaunchError as error:
            self._state.note(error)
            raise
        observed.release()
        seconds, totals = done
        return Outcome(seconds, "engine"), Observed(prepared.program, observed.probes, totals)

    def make_ready(self, launch: Launch) -> None:
        """Compile what a launch runs, and raise what it is refused for."""
        self._state.check()
        prepared, bound, cluster = self._bind(launch)
        with POOL.lock:
            prepared.executable(launch.block, launch.grid, bound, None, cluster, soon=True)

    def _rehearse(
        self,
        launch: Launch,
        prepared: Prepared,
        executable: Executable,
        bound: Bound,
        begin: Callable[[Begun], None],
        watcher: Rehearsed,
    ) -> tuple[float, np.ndarray[Any, Any]] | None:
        """Rehearse a launch: seconds and the words' totals; None if it is to run on one thread."""
        if not may_rehearse(watcher, executable, prepared):
            return None
        plan = self._plan(launch, prepared, executable, bound, range(prod(launch.grid)), rehearsed=True)
        if plan.count == 1:
            return None
        clear_exception(launch.compiled, prepared.module.clear)
        end = partial(raise_exception, launch.compiled, prepared.module.read)
        done = rehearse(plan, launch, self._heap, begin, end, watcher)
        return None if done is None else (done[0], _sum_words(done[1]))

    def replay(self, launch: Launch, interrupts: Callable[[], bool]) -> Replay | None:
        """A launch of a virtual device's that has run, made ready to be replayed; None if it is not short.

        If its kernel has loops, it is as short as it was the last time. Then `interrupts` is asked whether
        Ctrl-C will end it, unless nobody hears of that anyway.
        """
        prepared = _prepared(launch)
        if launch.resident is None:
            return None
        if not is_short(prepared, launch):
            ends = interrupts() or not hears_signals()
            if not (ends and self._was_brief(launch)):
                return None
        with POOL.lock:
            bound = launch.resident.bind(prepared)
            cluster = admit(launch, prepared, self.model)
            executable = prepared.executable(launch.block, launch.grid, bound, None, cluster)
            laid = launch.resident.lay_out()
            return make_replay(launch, prepared, executable, laid, self._state, self._heap)

    def _was_brief(self, launch: Launch) -> bool:
        plan = self._plans.latest(launch)
        if plan is None or plan.count > 1 or not plan.may_join:
            return False
        tiers = plan.executable.tiers
        return tiers.brief and tiers.frugal

    def static_shared(self, compiled: Compiled) -> int:
        """Bytes of shared memory that a kernel declares itself."""
        return prepare(compiled).facts.shared.static

    def _plan(
        self,
        launch: Launch,
        prepared: Prepared,
        executable: Executable,
        bound: Bound,
        blocks: range,
        *,
        rehearsed: bool = False,
    ) -> LaunchPlan:
        resident = most_resident(self.model, prod(launch.block))
        return make_plan(launch, prepared, executable, bound, self._heap, blocks, resident, rehearsed)

    def _bind(self, launch: Launch) -> tuple[Prepared, Bound, Dim3 | None]:
        """A launch's kernel, checked arguments and clusters; raises ArgumentError, or LaunchError as CUDA."""
        prepared = _prepared(launch)
        cluster = admit(launch, prepared, self.model)
        bound = execution.bind(launch, prepared)
        for array in bound.arrays if launch.resident is None else ():
            if array.device is not None:
                raise ArgumentError(
                    f"argument {array.position + 1} ({array.name}) lies on CUDA device {array.device}; "
                    f"the CPU engine needs it in host memory"
                )
        return prepared, bound, cluster

    # ------------------------------------------------------------------------------------ module variables
    def read_variable(self, compiled: Compiled, symbol: str) -> bytes | None:
        """What a module variable of a kernel holds; None if the kernel does not use it."""
        with POOL.lock:
            return prepare(compiled).module.content(symbol)

    def hand_on_variables(self, source: Compiled, target: Compiled) -> None:
        """Let a kernel's variables hold what those of another version of it hold."""
        with POOL.lock:
            values, module = prepare(source).module, prepare(target).module
            for variable in module.variables:
                if (content := values.content(variable.name)) is not None:
                    module.assign(variable.name, content)

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

    def recover(self) -> LaunchError | None:
        """Forget a sticky error and nothing else, as no GPU can; returns it. Tests do not share one then."""
        first = self._state.first
        self._state.clear()
        return first


def _outcome(seconds: float, plan: LaunchPlan) -> Outcome:
    return Outcome(seconds, "engine", 0.0, plan.executable.tiers.unoptimised, plan.device)


def _sum_words(workers: Sequence[Worker]) -> np.ndarray[Any, Any]:
    """What observers have counted, over all workers; nothing is copied where there is one."""
    return reduce(np.add, [worker.words for worker in workers])


def _assign(launch: Launch) -> None:
    """Write the values that a launch brings for module variables."""
    with POOL.lock:
        POOL.settle()
        module = _prepared(launch).module
        for symbol, content in launch.variables:
            module.assign(symbol, content)


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
