"""Running a plan: the way of a launch from filled buffers to results, or to the error that explains its end.

A launch is bound (backend.py), planned (launch_plan.py), and comes here. Its workers, one for each thread,
are prepared: their buffers filled in, and put in the order that an observer wants. They run, on the launching
thread alone or on the pool. What they have kept for themselves is gathered, whatever has happened meanwhile.
If a worker has ended early, the words that it left behind are made into an error (faults.py).

A kept plan that one thread runs takes the same way without what it does not need (`rerun`).
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np

from ...codegen.context import DEADLOCK, FAULT, OK, SLOT
from ..launch.arguments import Bound
from ..launch.backend import Launch
from .clusters import ClusterRun, blocks_by_cluster, peer_windows
from .cooperative import run_waiting, run_workers
from .crew import LONG_KERNEL
from .faults import Scene, explain_deadlock, explain_fault, explain_grid_deadlock, explain_timeout
from .grid_watch import GridWatch
from .guard import GUARD
from .heap import Heap
from .launch_plan import LaunchPlan
from .order import Order
from .prepared import Prepared
from .privatisation import redirect
from .ready import Ready
from .replay import PATIENCE, is_short
from .second_look import look_again
from .stalls import StallWatch, explain_stall
from .thread_pool import POOL, ThreadPool
from .worker import Worker

_CHANGES = SLOT["changes"]
# Seconds that a worker takes at most for an element that others want to change, and four times those for a
# byte of a copy; and those that all take together if to wake them may take longer. What takes less may be
# quicker without other workers.
_CHANGE, _COPY, _BRIEF = 300e-9, 2e-9, 400e-6


@dataclass(frozen=True, slots=True)
class Begun:
    """A launch about to run, for observers that have words of their own to put into its workers."""

    scene: Scene
    workers: Sequence[Worker]
    shared: int  # bytes of shared memory, static and dynamic
    parameters: bytes  # the parameter block
    blocks: np.ndarray[Any, Any] | None = None  # the block at each place; None: they come by number
    threads: int = 1  # that run the workers

    def block_at(self, place: int) -> int:
        """The number of the block at a place in the order of the blocks."""
        return place if self.blocks is None else int(self.blocks[place])


def run(
    plan: LaunchPlan,
    launch: Launch,
    heap: Heap,
    begin: Callable[[Begun], None] | None = None,
    order: Order | None = None,
    kept: bool = False,
    parameters: bytes | None = None,
) -> tuple[float, list[Worker]]:
    """Run a plan's blocks, the pool's lock held; returns seconds and workers. Raises what went wrong.

    `begin` is called when all is ready to run; `kept` says that the plan is kept for more launches than this.
    `parameters` are the launch's where they are others than the plan's.
    """
    workers = _prepare(plan, launch, kept)
    _set_parameters(workers, parameters)
    running, listed = _put_in_order(order, plan, workers)
    clusters = None
    if plan.clustered:
        clusters, listed = _put_in_clusters(order, plan, launch, workers)
    if begin is not None:
        scene = _scene(plan, launch, heap)
        begin(Begun(scene, workers, plan.shared, plan.laid.parameters, listed, plan.count))
    watch = None
    if plan.prepared.cooperative and plan.count == 1:
        watch = GridWatch(plan.executable.code.yields, plan.prepared.program, workers)
    stalls = StallWatch(plan, launch, workers)
    started = time.perf_counter()
    for worker in workers if plan.private else ():
        for array, own in zip(plan.private, worker.private, strict=False):
            array.clear(own)
    try:
        with stalls:
            failed, late = _run(plan, launch, running, watch, clusters, stalls, kept)
    finally:
        for worker in workers if plan.private else ():
            for array, own in zip(plan.private, worker.private, strict=False):
                array.gather(own)
        seconds = time.perf_counter() - started
        _gain_experience(plan, workers, seconds)
        heap.forget()
        plan.executable.tiers.spend(seconds)
        plan.executable.trim(plan.worker_bytes)
        if order is None and plan.prepared.facts.services:
            sys.stdout.write(plan.system.output)
    if plan.system.error is not None:
        raise plan.system.error
    if stalls.vain is not None:
        raise explain_stall(launch, stalls.vain, watched=bool(plan.executable.probes))
    if failed:
        vain = plan.resident if 1 < plan.resident < len(plan.blocks) else 0
        _explain(_scene(plan, launch, heap), workers, watch or clusters, late, vain)
    return seconds, workers


def rerun(plan: LaunchPlan, launch: Launch, heap: Heap, parameters: bytes | None) -> float:
    """Run a kept plan again, the pool's lock held; returns seconds. Raises what went wrong.

    `parameters` are the launch's where they are others than the plan's. If its executable has done nothing
    else since, buffers hold all but the results of the last run. Where the launching thread is a worker, what
    kept plans have none of is left out: calls of the runtime, grid barriers, an order, observers.
    """
    if launch.alongside is not None:
        return run(plan, launch, heap, parameters=parameters)[0]
    executable = plan.executable
    ready, guarded = executable.ready, not plan.joins and _joins_guarded(plan, launch)
    if plan.private or not (guarded or plan.joins) or POOL.alongside:
        return run(plan, launch, heap, kept=True, parameters=parameters)[0]
    if ready is None or ready.plan is not plan:
        ready = _ready(plan, _prepare(plan, launch, kept=True), kept=True)
    _set_parameters(ready.workers, parameters)
    executable.begin(plan.blocks.start)
    started = time.perf_counter()
    if not guarded:
        failed, late = _run_ready(plan, ready, launch.timeout)
    else:
        try:
            if not GUARD.begin(executable, launch.timeout, LONG_KERNEL):
                return run(plan, launch, heap, kept=True, parameters=parameters)[0]
            failed, late = _run_ready(plan, ready, launch.timeout)
            late |= GUARD.end()
        except BaseException:
            GUARD.abandon()
            raise
    seconds = time.perf_counter() - started
    executable.tiers.spend(seconds)
    executable.trim(plan.worker_bytes)
    _gain_experience(plan, ready.workers, seconds)
    if failed:
        _explain(_scene(plan, launch, heap), ready.workers, None, late=late)
    return seconds


def _run_ready(plan: LaunchPlan, ready: Ready, timeout: float) -> tuple[bool, bool]:
    """Run workers of which the launching thread is the first, as `_run` does."""
    if plan.count == 1:
        return ready.run(0) != OK, False
    executable = plan.executable
    executable.control.crew = plan.count
    how = {"native": ready.native, "joins": True, "shared": plan.shared_work}
    codes, late = POOL.run(ready.run, plan.count, executable.stop, timeout, executable.notice, **how)
    ready.note(codes)
    return any(codes), late


# ---------------------------------------------------------------------------------------- preparing
def _prepare(plan: LaunchPlan, launch: Launch, kept: bool) -> list[Worker]:
    """The workers of a launch, filled in; a cooperative grid has one for each block.

    Where blocks wait for later ones, what looks at all workers now gets all that there may be; else more come
    when they are needed.
    """
    executable, cooperative = plan.executable, plan.prepared.cooperative
    executable.begin(plan.blocks.start)
    executable.control.crew = plan.count
    if plan.clustered:
        workers = _prepare_clusters(plan, launch)
        plan.system.workers = workers
        return workers
    if plan.resident:
        known = executable.probes or plan.prepared.allocates
        workers = executable.leaving(plan.resident if known else plan.count, alone=plan.count == 1)
    elif kept and executable.ready is not None and executable.ready.plan is plan and not POOL.alongside:
        plan.system.workers = executable.ready.workers
        return executable.ready.workers
    else:
        workers = executable.residents(len(plan.blocks)) if cooperative else executable.workers(plan.count)
    for number, worker in enumerate(workers):
        worker.code = OK
        worker.private = [array.copy() for array in plan.private] if number else []
        _fill(worker, plan, launch, number + 1 if cooperative else plan.blocks.stop)
    plan.system.workers = workers
    return workers


def _set_parameters(workers: Sequence[Worker], parameters: bytes | None) -> None:
    if parameters is not None:
        for worker in workers:
            worker.set_parameters(parameters)


def _prepare_clusters(plan: LaunchPlan, launch: Launch) -> list[Worker]:
    """The workers of as many clusters as there are threads."""
    size = prod(plan.executable.shape.cluster)
    workers = plan.executable.clusters(size, plan.count)
    for first in range(0, len(workers), size):
        group = workers[first : first + size]
        windows = peer_windows(group, plan.shared)
        for worker in group:
            _fill(worker, plan, launch, 0, windows)
    return workers


def _put_in_clusters(
    order: Order | None, plan: LaunchPlan, launch: Launch, workers: list[Worker]
) -> tuple[ClusterRun, np.ndarray[Any, Any] | None]:
    """The clusters of a launch in an order, and the block at each place where code asks for it."""
    places = blocks_by_cluster(launch.grid, plan.executable.shape.cluster)
    turns = list(range(places.shape[1]))
    if order is not None:
        turns, places = order.blocks(len(turns)).tolist(), places[order.blocks(len(places))]
    listed = None
    if any(probe.any_order for probe in plan.executable.probes):
        listed = places.ravel()
        places = np.arange(listed.size).reshape(places.shape)
        for worker in workers:
            worker.follow_blocks(listed)
    code, program = plan.executable.code, plan.prepared.program
    return ClusterRun(workers, places, turns, code.yields, program), listed


def _fill(worker: Worker, plan: LaunchPlan, launch: Launch, end: int, windows: Sequence[int] = ()) -> None:
    plan.executable.ready = None
    ranges = redirect(plan.ranges, plan.private, worker.private) if worker.private else plan.ranges
    worker.set_alone(plan.alone and launch.alongside is None and not POOL.alongside)
    worker.defer(plan.defers)
    given = plan.laid.parameters, plan.shared, ranges, plan.system.serve
    worker.fill(launch.grid, end, plan.chunk, *given, windows)
    if plan.whole:
        worker.keep_code()


def _put_in_order(
    order: Order | None, plan: LaunchPlan, workers: list[Worker]
) -> tuple[list[Worker], np.ndarray[Any, Any] | None]:
    """Let workers follow an order; returns them as they come, and the block at each place if not by number.

    Blocks of a cooperative grid have a worker each. Those of a kernel whose threads may wait for an earlier
    block come by number: with one at a time under way, it would wait for ever.
    """
    listed = None
    if order is None:
        return workers, listed
    if plan.clustered:
        pass  # each cluster's own
    elif plan.prepared.cooperative:
        workers = [workers[block] for block in order.blocks(len(plan.blocks))]
    elif not plan.prepared.program.fair:
        listed = order.blocks(len(plan.blocks))
    for worker in workers:
        worker.follow(order, listed)
    return workers, listed


class _Reserve:
    """Workers that begin when all blocks under way wait for others; all threads take from it."""

    def __init__(self, plan: LaunchPlan, launch: Launch, workers: list[Worker]):
        """`workers` are those that are filled in; further ones join them."""
        self._plan, self._launch, self._workers = plan, launch, workers
        self._begun = plan.count
        self._lock = threading.Lock()

    def take(self) -> Worker | None:
        """One more; None if no more blocks may be under way, or none is left."""
        plan, executable = self._plan, self._plan.executable
        with self._lock:
            if self._begun == plan.resident or executable.control.taken >= plan.blocks.stop:
                return None
            if self._begun == len(self._workers):
                worker = executable.leaving(self._begun + 1, alone=plan.count == 1)[-1]
                _fill(worker, plan, self._launch, plan.blocks.stop)
                self._workers.append(worker)
            self._begun += 1
            return self._workers[self._begun - 1]


# ---------------------------------------------------------------------------------------- running
def _run(
    plan: LaunchPlan,
    launch: Launch,
    workers: list[Worker],
    watch: GridWatch | None,
    clusters: ClusterRun | None,
    stalls: StallWatch,
    kept: bool,
) -> tuple[bool, bool]:
    """Run workers on as many threads as planned; whether one has failed, and whether time ran out."""
    tiers, count = plan.executable.tiers, plan.count
    ready = None
    if clusters is not None:
        job = partial(clusters.run, tiers)
    elif plan.resident:
        job = partial(run_waiting, tiers, workers, _Reserve(plan, launch, workers).take, stalls.gives_up)
    elif watch is not None or len(workers) != count:
        job = partial(run_workers, tiers, [workers[k::count] for k in range(count)], watch)
    else:
        ready = _ready(plan, workers, kept)
        job = ready.run
    joins = plan.joins and (launch.alongside is None or is_short(plan.prepared, launch))
    if joins and count == 1:
        return job(0) != OK, False
    stop = plan.executable.control.stop
    how = {"brief": tiers.brief, "shared": plan.shared_work, "native": ready and ready.native}
    guarded, in_vain = not joins and _joins_guarded(plan, launch), False
    with _threads(plan, launch) as pool:
        try:
            begun = guarded and GUARD.begin(plan.executable, launch.timeout, LONG_KERNEL)
            how["joins"] = joins or begun
            codes, late = pool.run(job, count, stop, launch.timeout, tiers.notice, **how)
            in_vain = begun and GUARD.end()
        except BaseException:
            if guarded:
                GUARD.abandon()
            raise
    if ready is not None:
        ready.note(codes)
    return any(codes), late or in_vain


def _ready(plan: LaunchPlan, workers: list[Worker], kept: bool) -> Ready:
    """The workers as they are; a plan that is kept finds them so again."""
    executable = plan.executable
    ready = executable.ready
    if ready is None or ready.plan is not plan:
        ready = Ready(plan, executable.tiers, workers)
        executable.ready = ready if kept and not POOL.alongside else None
    return ready


def _joins_guarded(plan: LaunchPlan, launch: Launch) -> bool:
    """Whether the launching thread may be a worker while somebody looks after it."""
    tiers = plan.executable.tiers
    known = plan.may_join and tiers.short and tiers.frugal
    return known and launch.timeout >= PATIENCE and launch.alongside is None and not POOL.alongside


@contextmanager
def _threads(plan: LaunchPlan, launch: Launch) -> Iterator[ThreadPool]:
    """The threads that run a launch: its own while other launches are made, whose buffers are others."""
    if launch.alongside is None or plan.prepared.allocates:
        yield POOL
        return
    plan.executable.busy = True
    try:
        with POOL.apart() as own:
            yield own
    finally:
        plan.executable.busy = False


def _gain_experience(plan: LaunchPlan, workers: Sequence[Worker], seconds: float) -> None:
    experience = plan.executable.experience
    if plan.small:
        experience.note_seconds(seconds)
    if plan.executable.code.turns:
        experience.note_turns(plan.count, plan.executable.control.crew)
    elif plan.count == 1 and experience.tries_one and plan.shared_work:
        experience.note_contention(1, len(plan.blocks), seconds, plan.executable.tiers.tier, contended=False)
    elif plan.count > 1 and plan.shared_work:
        changes = sum([int(worker.context[_CHANGES]) for worker in workers[: plan.count]])
        copies = sum([array.size for array in plan.private]) * (plan.count - 1)
        experience.note_changes(changes)
        contended = seconds < max(_BRIEF / plan.count, _CHANGE * changes / plan.count, _COPY * copies)
        code = plan.executable.tiers.tier
        experience.note_contention(plan.count, len(plan.blocks), seconds, code, contended=contended)


# ---------------------------------------------------------------------------------------- explaining
def _scene(plan: LaunchPlan, launch: Launch, heap: Heap) -> Scene:
    bound = bind(launch, plan.prepared)
    given = plan.laid, plan.ranges, plan.shared
    return Scene(launch, plan.prepared, plan.executable, bound, *given, plan.system, heap)


def bind(launch: Launch, prepared: Prepared) -> Bound:
    """The launch's arguments, checked; raises ArgumentError."""
    return prepared.binder.bind(launch.args) if launch.resident is None else launch.resident.bind(prepared)


def _explain(
    scene: Scene,
    workers: Sequence[Worker],
    watch: GridWatch | ClusterRun | None,
    late: bool,
    resident: int = 0,
) -> None:
    """Raise the error for what has ended a launch early.

    `late` says that its time was over, `resident` how many blocks could be under way if that were too few.
    """
    contexts = [worker.context for worker in workers if worker.code == FAULT]
    if contexts:
        raise explain_fault(*look_again(scene, contexts))
    if watch is not None and watch.stuck:
        raise explain_grid_deadlock(scene, watch.stuck, watch.whole)
    for worker in workers:
        if worker.code == DEADLOCK:
            raise explain_deadlock(scene, worker)
    if late:
        raise explain_timeout(scene, [worker.context for worker in workers], resident)
