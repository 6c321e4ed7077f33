"""The standing worker threads of the CPU engine.

Kernels run in native code that releases the GIL, one call per worker. The launching thread waits in Python,
so Ctrl-C and the watchdog act at once: they set the stop flag, which the native code reads at every block and
every backward jump. Only in what is over soon anyway does it take part.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ...errors import ArgumentError
from ...host.cores import core_count, current_core, own_cores, spare_cores, stay_on
from ...host.environment import read
from .guard import GUARD
from .spin_wait import SpinWait

Job = Callable[[int], int]
Inbox = queue.SimpleQueue[tuple["Flight", int]]
Assigned = list[tuple[Inbox, int]]

# Once a worker has faulted, how long the others may finish blocks that come before the faulting one.
_GRACE = 1.0
# How long, in seconds, to stay awake for the end of a small kernel, and from which launch on: a process with
# fewer need not load the code for it.
_SMALL_KERNEL, _FEW = 50e-6, 3
# Seconds after which a kernel that is under way is hot: about what optimising its code takes.
LONG_KERNEL = 0.05
# Seconds that a launch of a small kernel may seem to take, to wake up the launching thread included.
BRIEF = 2 * _SMALL_KERNEL
_LONGEST = 1e6  # seconds; what lock timeouts of all platforms can represent
# Bytes of a worker's stack, which cost nothing until they are used. Quick code keeps most values of a long
# kernel there: 6 KiB for each of its instructions have been seen, and a thread has 8 MiB of its own accord.
_STACK = 256 << 20


THREADS = "WARPGLASS_THREADS"


def thread_count() -> int:
    """Workers to use: WARPGLASS_THREADS, or the cores this process may run on."""
    wish = read(THREADS)
    if not wish:
        return core_count()
    if not wish.isdecimal() or int(wish) == 0:
        raise ArgumentError(f"WARPGLASS_THREADS is {wish!r}; it must be a number of threads above 0")
    return int(wish)


class Flight:
    """One launch in the air: what each worker returned, None while it runs.

    `assigned` says which threads work on it and as which workers; the launching thread may be another. If
    the work is `shared`, one worker ends when there is none left: those that have not begun need not.
    """

    def __init__(
        self,
        workers: int,
        job: Job,
        stop: Callable[[], None],
        spin: SpinWait | None,
        assigned: Assigned,
        *,
        shared: bool,
    ):
        self.codes: list[int | None] = [None] * workers
        self.assigned = assigned
        self.errors: list[BaseException] = []
        self._job = job
        self._stop = stop
        self._spin = spin
        self._cancelled = False
        self._shared = shared
        self._unclaimed = list(range(workers))  # those that nobody has begun
        self._ended: queue.SimpleQueue[int] = queue.SimpleQueue()

    def work(self, number: int) -> None:
        """Worker `number`'s part, on its own thread."""
        if not self._claim(number):
            return
        code = 0
        try:
            if not self._cancelled:
                code = self._job(number)
        except BaseException as error:  # the launching thread raises it
            self.errors.append(error)
        self.codes[number] = code
        if code < 0:
            GUARD.hasten(_GRACE)
        for other in self._unclaimed.copy() if self._shared else ():
            if self._claim(other):
                self.codes[other] = 0
        self._ended.put(code)
        if self._spin is not None and None not in self.codes:
            self._spin.notify()

    def _claim(self, number: int) -> bool:
        """Whether a worker's part is left to the caller: to one thread, as lists change at once."""
        try:
            self._unclaimed.remove(number)
        except ValueError:
            return False
        return True

    def cancel(self) -> None:
        """End at once, and do not begin where it has not begun."""
        self._cancelled = True
        self._stop()

    def wait(self, timeout: float, notice: Callable[[], None] | None = None) -> bool:
        """Wait for all workers, stop them after `timeout` seconds; returns whether that was necessary.

        `notice` is called once if they run for longer than LONG_KERNEL. Whatever interrupts the waiting
        (Ctrl-C) is raised once all workers have stopped: they use the launch's memory.
        """
        begun = time.monotonic()
        deadline = begun + timeout
        alarm = begun + LONG_KERNEL if notice is not None else deadline
        late = False
        interrupt: BaseException | None = None
        while None in self.codes:
            try:
                if self._spin is not None:
                    self._spin.wait()
                rest = min(alarm, deadline) - time.monotonic()
                if self._ended.get(timeout=min(max(rest, 0.0), _LONGEST)) < 0:
                    deadline = min(deadline, time.monotonic() + _GRACE)
            except queue.Empty:
                if notice is not None and alarm < deadline:
                    alarm = deadline + 2 * _LONGEST
                    notice()
                    continue
                late = late or interrupt is None
                deadline += _LONGEST
                self._stop()
            except BaseException as error:  # raised below
                interrupt = error
                deadline += _LONGEST
                self._stop()
        for error in (interrupt, *self.errors):
            if error is not None:
                raise error
        return late


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

    def __init__(self) -> None:
        self._begin()
        if hasattr(os, "register_at_fork"):  # threads do not survive a fork, and the lock might be held
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self.lock = threading.Lock()
        self._spare: list[ThreadPool] = []
        self.alongside = 0  # launches that are under way on threads of their own
        self._free: list[Inbox] = []
        self._pinned: dict[int, Inbox] = {}  # by their cores
        self._single: _Beside | None = None
        self._last: Flight | None = None
        self._spin: SpinWait | None = None
        self._launches = 0

    def run(
        self,
        job: Job,
        workers: int,
        stop: Callable[[], None],
        timeout: float,
        notice: Callable[[], None] | None = None,
        *,
        brief: bool = True,
        joins: bool = False,
        shared: bool = False,
    ) -> tuple[list[int], bool]:
        """Run `job(k)` on workers 0 .. workers-1; returns what they returned and whether time ran out.

        A negative return value means that the job failed. `stop` must make all jobs return soon; `notice` is
        called if they run for longer than LONG_KERNEL. `brief` says that they may end within moments, so that
        it is worth a core to stay awake. With `joins` the launching thread is worker 0 itself: for what is
        over soon, since nothing reaches Python meanwhile. Then the others end soon after it. `shared` says
        that workers take what there is to do from one place: who comes when it is done is not waited for.
        """
        first = 1 if joins else 0
        self._launches += 1
        spin = None
        beside = self._beside() if workers == 1 and not joins and len(own_cores()) > 1 else None
        # Else the launching thread would be in a worker's way.
        awake = workers - first <= spare_cores() and beside is None
        if (brief or joins) and awake and self._launches >= _FEW:
            spin = self._spin = self._spin or SpinWait(_SMALL_KERNEL)
            spin.clear()
        assigned = self._assign(workers, first) if beside is None else [(beside.inbox, 0)]
        flight = self._last = Flight(workers, job, stop, spin, assigned, shared=shared)
        for inbox, number in flight.assigned:
            inbox.put((flight, number))
        if joins:
            flight.work(0)
        late = flight.wait(timeout, notice) if beside is None else beside.wait(flight, timeout, notice)
        self._last = None
        return [code for code in flight.codes if code is not None], late

    @contextmanager
    def apart(self) -> Iterator[ThreadPool]:
        """Threads for a launch during which others are made: the lock, which is held, is let go meanwhile."""
        pool = self._spare.pop() if self._spare else ThreadPool()
        self.alongside += 1
        self.lock.release()
        try:
            yield pool
        finally:
            self.lock.acquire()
            self.alongside -= 1
            self._spare.append(pool)

    def settle(self) -> None:
        """End the last launch if an interrupt fell between its start and the waiting for it.

        Threads that it was never handed to get it now; the others see it twice and pass over it.
        """
        flight = self._last
        if flight is not None:
            flight.cancel()
            flight.errors.clear()  # its own launch has raised them
            if len(flight.assigned) < len(flight.codes):
                flight.codes[0] = 0  # this thread itself, which is here
            for inbox, number in flight.assigned:
                inbox.put((flight, number))
            flight.wait(_LONGEST)
            self._last = None

    def _assign(self, workers: int, first: int) -> Assigned:
        """Threads for the workers from `first` on, those on other cores than this thread's in front."""
        cores = own_cores()
        if workers == len(cores) > 1:
            here = current_core()
            chosen = sorted(cores, key=lambda core: core == here)[: workers - first]
            return [(self._pin(core), number) for number, core in enumerate(chosen, first)]
        while len(self._free) < workers:
            self._free.append(_start(f"warpglass-{len(self._free)}", None)[0])
        return [(self._free[number], number) for number in range(first, workers)]

    def _beside(self) -> _Beside:
        if self._single is None:
            self._single = _Beside(*_start("warpglass-single", None))
        self._single.meet()
        return self._single

    def _pin(self, core: int) -> Inbox:
        if core not in self._pinned:
            self._pinned[core], _ = _start(f"warpglass-core-{core}", core)
        return self._pinned[core]


def _start(name: str, core: int | None) -> tuple[Inbox, int]:
    """Start a worker thread, on a core of its own if one is given.

    Returns where to put what it is to do, and the system's number of it.
    """
    inbox: Inbox = queue.SimpleQueue()

    def serve() -> None:
        if core is not None:
            stay_on(core)
        while True:
            flight, number = inbox.get()
            flight.work(number)

    usual = threading.stack_size(_STACK)
    thread = threading.Thread(target=serve, name=name, daemon=True)
    try:
        thread.start()
    finally:
        threading.stack_size(usual)
    return inbox, thread.native_id or 0


class _Beside:
    """A worker that begins on the launching thread's core, and that thread, which stays there to wake up.

    Another core would have to be woken. They may move once a launch is long.
    """

    def __init__(self, inbox: Inbox, thread: int):
        self.inbox = inbox
        self._thread = thread  # its number

    def meet(self) -> None:
        """Let the worker wake up where the calling thread is."""
        stay_on(current_core(), thread=self._thread)

    def wait(self, flight: Flight, timeout: float, notice: Callable[[], None] | None) -> bool:
        """Wait for the worker as Flight does."""
        cores = own_cores()

        def let_go() -> None:
            stay_on(*cores)
            stay_on(*cores, thread=self._thread)
            if notice is not None:
                notice()

        try:
            stay_on(current_core())
            return flight.wait(timeout, let_go)
        finally:
            stay_on(*cores)


POOL = ThreadPool()  # the process's own
