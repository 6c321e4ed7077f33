"""Work that streams do while the host goes on: kernels that leave cores free or wait, and what comes after.

Most work is done when it is asked for. A kernel that looks at a place in memory until the host, or a kernel
of another stream, has written there is launched in a thread, and if it does not end soon, the launch returns.
One of a stream of the program's that takes long and leaves cores free is launched in a thread, too, and its
launch returns at once. Until it has ended

* work of its stream queues up behind it, that of other streams is done as ever;
* functions of `ALONGSIDE` do what they do at any time, and queries answer that it is not ready;
* those of `OF_DEFAULT` wait for its end if the default stream would;
* those that synchronise wait for the work that they are about, and all others for all work.

Where a kernel has failed, what is left is not done, but for what a program is told by.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Protocol

from .results import Refusal

_SOON = 0.1  # seconds that a launch waits for a kernel that may wait for the host
_DEFAULT = (0, 1, 2)  # handles of the default streams
NON_BLOCKING = 1  # CU_STREAMNON_BLOCKING

# Functions of the driver and the runtime, without `cu` and `cuda`, that wait for no work, or that find out by
# themselves whether they have to.
ALONGSIDE = frozenset(
    (
        "LaunchKernel LaunchKernelEx LaunchKernelExC LaunchHostFunc StreamAddCallback StreamWaitEvent "
        "StreamQuery StreamSynchronize EventQuery EventSynchronize EventRecord EventRecordWithFlags "
        "StreamCreate StreamCreateWithFlags StreamCreateWithPriority EventCreate EventCreateWithFlags "
        "MemcpyAsync MemcpyHtoDAsync MemcpyDtoHAsync MemcpyDtoDAsync MemcpyPeerAsync MemPrefetchAsync "
        "MemsetAsync MemsetD8Async MemsetD16Async MemsetD32Async MemcpyToSymbolAsync MemcpyFromSymbolAsync "
        "Memcpy2DAsync Memcpy3DAsync Memset2DAsync Memset3DAsync GraphLaunch GraphInstantiate "
        "StreamBeginCapture StreamEndCapture StreamIsCapturing StreamDestroy EventDestroy EventElapsedTime "
        "StreamGetPriority StreamGetFlags DeviceGetStreamPriorityRange CtxGetStreamPriorityRange "
        "FuncSetAttribute "
        "Malloc MallocHost MallocManaged HostAlloc HostGetDevicePointer MemAlloc MemAllocHost MemHostAlloc "
        "MemAllocManaged MemHostGetDevicePointer GetLastError PeekAtLastError GetErrorString GetErrorName "
        "GetDevice SetDevice CtxGetCurrent CtxSetCurrent PushCallConfiguration PopCallConfiguration "
        "GetKernel GetDeviceCount GetDeviceProperties DeviceGetAttribute FuncGetAttributes KernelGetFunction "
        "OccupancyMaxActiveBlocksPerMultiprocessor MemGetInfo PointerGetAttributes"
    ).split()
)


# Functions that work in the default stream, and wait for it.
OF_DEFAULT = frozenset(
    (
        "Memcpy MemcpyHtoD MemcpyDtoH MemcpyDtoD Memcpy2D Memcpy3D MemcpyToSymbol MemcpyFromSymbol "
        "MemcpyPeer Memset MemsetD8 MemsetD16 MemsetD32 Memset2D"
    ).split()
)


def stem_of(name: str) -> str:
    """The name of a function of either API as the tables have it."""
    return name.lstrip("_").removeprefix("cuda").removeprefix("cu")


@dataclass(eq=False, slots=True)
class Work:
    """Something that a stream is to do, `begun` once nothing in front of it is left.

    It comes after what was there before it in its stream, and in streams that the default stream waits for;
    with `last`, after all that was there. With `always` it is done on a device that is broken, too. One that
    `waits` may not end by itself.
    """

    stream: int
    flags: int
    do: Callable[[], None]
    after: tuple[Work, ...] = ()
    last: bool = False
    always: bool = False
    waits: bool = False
    begun: bool = False
    ended: threading.Event = field(default_factory=threading.Event)

    def comes_after(self, earlier: Work) -> bool:
        """Whether this waits for work that was there before it."""
        if self.last or earlier in self.after:
            return True
        return _in_order(self.stream, self.flags, earlier.stream, earlier.flags)


class Aside(Protocol):
    """Launches of machine code, of which there are none from `enter` to `leave`."""

    def enter(self) -> None:
        """No more from now on; returns when none is under way."""
        ...

    def leave(self) -> None:
        """As before."""
        ...


class Behind:
    """The work of one device that is not done yet; most of the time there is none."""

    def __init__(self, aside: Aside, broken: Callable[[], bool]) -> None:
        """`broken` says whether the device does no more work, since a kernel has failed."""
        self.busy = False
        self._aside, self._broken = aside, broken
        self._threads = _Threads()
        self._works: list[Work] = []  # as they were asked for
        self._failed: Refusal | None = None
        self._waiters = 0
        self._changing = threading.Lock()

    def holds(self, stream: int, flags: int) -> bool:
        """Whether a stream's next work has to wait for work that is here."""
        return self.busy and bool(self._of(stream, flags))

    def put(
        self,
        stream: int,
        flags: int,
        do: Callable[[], None],
        *,
        after: tuple[Work, ...] = (),
        last: bool = False,
        always: bool = False,
        waits: bool = False,
    ) -> Work:
        """Do the work of a stream behind what is here; if that begins at once and `waits`, wait a little.

        Raises Refusal if it is refused meanwhile.
        """
        work = Work(_named(stream), flags, do, after, last, always, waits)
        with self._changing:
            if not self.busy:
                self._aside.enter()
            self._works.append(work)
            self.busy = True
            ready = self._begin()
        if work in ready:
            self._threads.run(self._run, work)
            if waits and work.ended.wait(_SOON):
                self._tell()
        return work

    def settle_for(self, stem: str) -> None:
        """Wait until a function can do what it does. Raises Refusal if work that it waits for was refused."""
        if stem not in ALONGSIDE and (stem not in OF_DEFAULT or self.holds(0, 0)):
            self.settle()

    def awaited(self) -> bool:
        """Whether a thread of the program waits for work."""
        return self._waiters > 0

    def settle(self) -> None:
        """Wait until all work is done. Raises Refusal if any was refused."""
        with self._changing:
            works = list(self._works)
        self._wait(works)

    def finish(self) -> None:
        """The process ends: wait for what ends by itself, as long as there is memory for it to work on."""
        while True:
            with self._changing:
                running = next((work for work in self._works if work.begun and not work.waits), None)
            if running is None:
                return
            running.ended.wait()

    @property
    def here(self) -> bool:
        """Whether this thread does such work."""
        return getattr(_here, "works", False)

    def settle_stream(self, stream: int, flags: int) -> None:
        """Wait until the work is done that a stream's next would wait for. Raises Refusal as `settle`."""
        self._wait(self._of(stream, flags))

    def settle_work(self, work: Work) -> None:
        """Wait until this work is done. Raises Refusal as `settle`."""
        self._wait([work])

    def _wait(self, works: list[Work]) -> None:
        if self.here:  # this is work itself
            return
        with self._changing:
            self._waiters += 1
        try:
            for work in works:
                work.ended.wait()
        finally:
            with self._changing:
                self._waiters -= 1
        self._tell()

    def _of(self, stream: int, flags: int) -> list[Work]:
        with self._changing:
            named = _named(stream)
            return [one for one in self._works if _in_order(named, flags, one.stream, one.flags)]

    def _begin(self) -> list[Work]:
        """The works that nothing is in front of any more, which begin now."""
        ready = [
            work
            for place, work in enumerate(self._works)
            if not work.begun and not any(map(work.comes_after, self._works[:place]))
        ]
        for work in ready:
            work.begun = True
        return ready

    def _run(self, work: Work | None) -> None:
        """Do a work, and then what has waited for it; in further threads, what can be done at once."""
        _here.works = True
        while work is not None:
            try:
                if work.always or not self._broken():
                    work.do()
            except Refusal as refusal:
                self._failed = self._failed or refusal
            except Exception:
                sys.stderr.write("warpglass: work of a stream failed, which is a defect of warpglass:\n")
                traceback.print_exc()
            with self._changing:
                self._works.remove(work)
                self.busy = bool(self._works)
                if not self.busy:
                    self._aside.leave()
                ready = self._begin()
            work.ended.set()
            for other in ready[1:]:
                self._threads.run(self._run, other)
            work = ready[0] if ready else None

    def _tell(self) -> None:
        failed, self._failed = self._failed, None
        if failed is not None:
            raise failed


class _Threads:
    """Threads that wait for work; there are as many as ever had some at once."""

    def __init__(self) -> None:
        self._idle: list[SimpleQueue[tuple[Callable[[Work], None], Work]]] = []

    def run(self, function: Callable[[Work], None], work: Work) -> None:
        """Let a thread do it."""
        try:
            jobs = self._idle.pop()
        except IndexError:
            jobs = SimpleQueue()
            threading.Thread(target=self._serve, args=(jobs,), name="warpglass-stream", daemon=True).start()
        jobs.put((function, work))

    def _serve(self, jobs: SimpleQueue[tuple[Callable[[Work], None], Work]]) -> None:
        while True:
            function, work = jobs.get()
            function(work)
            del work
            self._idle.append(jobs)


_here = threading.local()  # `works` is True in threads that do work


def _named(stream: int) -> int:
    return 0 if stream in _DEFAULT else stream


def _in_order(stream: int, flags: int, other: int, its_flags: int) -> bool:
    """Whether work of two streams, by `_named`, is done one after the other."""
    if stream == other:
        return True
    return (stream == 0 and not its_flags & NON_BLOCKING) or (other == 0 and not flags & NON_BLOCKING)
