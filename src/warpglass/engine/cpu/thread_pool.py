"""Which threads a launch of the CPU engine gets.

Kernels run in native code, without the GIL, one part per worker. The launching thread waits in Python, so
Ctrl-C and the watchdog act at once: they set the stop flag, which the native code reads at every block and
every backward jump. Only in what is over soon anyway does it take part. The threads are crews (crew.py).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ...errors import ArgumentError
from ...host.cores import core_count, current_core, own_cores, spare_cores, stay_on
from ...host.environment import read
from .crew import Crew, Flight, Job, Native

# Seconds that the launching thread stays awake for the end of a small kernel, and the others for the next:
# to wake a sleeping thread takes longer than many run (20 to 70 us on a virtual machine).
_SMALL_KERNEL = 50e-6
# Seconds that a launch of a small kernel may seem to take, to wake up the launching thread included.
BRIEF = 2 * _SMALL_KERNEL

THREADS = "WARPGLASS_THREADS"


def thread_count() -> int:
    """Workers to use: WARPGLASS_THREADS, or the cores this process may run on."""
    wish = read(THREADS)
    if not wish:
        return core_count()
    if not wish.isdecimal() or int(wish) == 0:
        raise ArgumentError(f"WARPGLASS_THREADS is {wish!r}; it must be a number of threads above 0")
    return int(wish)


class ThreadPool:
    """Worker threads that wait for launches.

    A launch for all cores gets threads that stay on a core each. Left to themselves, two that are woken at
    once may share a core for milliseconds while another idles, since the launching thread was still on it.
    A single worker begins on the launching thread's core, whose caches have what that thread has written.
    Threads of other launches are free to move: other processes may be on the same cores.

    `lock` is to be held from filling a launch's buffers to its end, after `settle`: launches from several
    threads take turns, as they do in CUDA's default stream. A launch that may wait for another one has
    threads of its own, and lets go of the lock while it runs (`apart`).
    """

    def __init__(self, *, beside: bool = False) -> None:
        """`beside` says that other launches run at the same time."""
        self._free_to_move = beside
        self._begin()
        if hasattr(os, "register_at_fork"):  # threads do not survive a fork, and the lock might be held
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self.lock = threading.Lock()
        self._spare: list[ThreadPool] = []
        self.alongside = 0  # launches that are under way on threads of their own
        self._free: Crew | None = None
        self._pinned: dict[tuple[int, ...], Crew] = {}  # by their cores
        self._single: Crew | None = None
        self._last: Crew | None = None  # that may be at a launch

    def run(
        self,
        job: Job,
        workers: int,
        stop: Callable[[], None],
        timeout: float,
        notice: Callable[[], None] | None = None,
        *,
        native: Native | None = None,
        brief: bool = True,
        joins: bool = False,
        shared: bool = False,
    ) -> tuple[list[int], bool]:
        """Run `job(k)` on workers 0 .. workers-1; returns what they returned and whether time ran out.

        A negative return value means that the job failed. `stop` must make all jobs return soon; `notice` is
        called if they run for longer than LONG_KERNEL. Other threads than this one begin with what is
        `native`. `brief` says that they may end within moments, so that it is worth a core to stay awake.
        With `joins` the launching thread is worker 0 itself: for what is over soon, since nothing reaches
        Python meanwhile. Then the others end soon after it. `shared` says that workers take what there is to
        do from one place: who comes when it is done is not waited for.
        """
        if joins and workers == 1:
            return [job(0)], False
        alone = workers == 1 and len(own_cores()) > 1 and not self._free_to_move
        crew, here = self._beside() if alone else self._crew(workers)
        room = workers - joins <= spare_cores() and not alone  # else who is awake is in a worker's way
        awake = _SMALL_KERNEL if room and (brief or joins) else 0.0
        lingers = _SMALL_KERNEL if workers <= core_count() and not alone else 0.0
        self._last = crew
        how = {"joins": joins, "shared": shared}
        crew.begin(Flight(job, native, stop), workers, here=here, awake=awake, lingers=lingers, **how)
        if joins:
            crew.join()
        late = _wait_beside(crew, timeout, notice) if alone else crew.wait(timeout, notice)
        codes = crew.codes(workers)
        crew.rest()
        self._last = None
        return codes, late

    @contextmanager
    def apart(self) -> Iterator[ThreadPool]:
        """Threads for a launch during which others are made: the lock, which is held, is let go meanwhile."""
        pool = self._spare.pop() if self._spare else ThreadPool(beside=True)
        self.alongside += 1
        self.lock.release()
        try:
            yield pool
        finally:
            self.lock.acquire()
            self.alongside -= 1
            self._spare.append(pool)

    def settle(self) -> None:
        """End the last launch if an interrupt fell between its start and the end of the waiting for it."""
        if self._last is not None:
            self._last.settle()
            self._last = None

    def _crew(self, workers: int) -> tuple[Crew, int]:
        """The threads for so many workers, and which of them is on this thread's core."""
        cores = own_cores()
        if workers == len(cores) > 1:
            if cores not in self._pinned:
                self._pinned[cores] = Crew("warpglass-core", workers, cores)
            core = current_core()
            return self._pinned[cores], cores.index(core) if core in cores else 0
        if self._free is None or self._free.most < workers:
            self._free = Crew("warpglass", max(workers, core_count()))
        return self._free, 0

    def _beside(self) -> tuple[Crew, int]:
        """A thread that begins on the launching thread's core: another core would have to be woken."""
        if self._single is None:
            self._single = Crew("warpglass-single", 1)
        stay_on(current_core(), thread=self._single.native_id(0))
        return self._single, 0


def _wait_beside(crew: Crew, timeout: float, notice: Callable[[], None] | None) -> bool:
    """Wait for a single worker as Crew does, on its core; they may move once the launch is long."""
    cores = own_cores()

    def let_go() -> None:
        stay_on(*cores)
        stay_on(*cores, thread=crew.native_id(0))
        if notice is not None:
            notice()

    try:
        stay_on(current_core())
        return crew.wait(timeout, let_go)
    finally:
        stay_on(*cores)


POOL = ThreadPool()  # the process's own
