"""Work that streams do while the host goes on: a kernel that waits for the host, and what comes after it.

Work is done when it is asked for, and no program can tell, but one whose kernel looks at a place in memory
until the host has written there. Such a kernel is launched in a thread, and if it does not end soon, the
launch returns. Until it has ended

* work of its stream, and all other kernels, queue up behind it;
* functions of `ALONGSIDE` do what they do at any time, and queries answer that it is not ready;
* those of `OF_DEFAULT` wait for its end if the default stream would;
* all others wait for its end, as those that synchronise do on a GPU.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable

from .results import Refusal

Work = Callable[[], None]
_SOON = 0.1  # seconds that a launch waits for a kernel that may wait for the host
_DEFAULT = (0, 1, 2)  # handles of the default streams
_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING

# Functions of the driver and the runtime, without `cu` and `cuda`, that wait for no work, or that find out by
# themselves whether they have to.
ALONGSIDE = frozenset(
    (
        "LaunchKernel LaunchKernelEx LaunchKernelExC LaunchHostFunc StreamAddCallback StreamWaitEvent "
        "StreamQuery StreamSynchronize EventQuery EventSynchronize EventRecord EventRecordWithFlags "
        "StreamCreate StreamCreateWithFlags StreamCreateWithPriority EventCreate EventCreateWithFlags "
        "MemcpyAsync MemcpyHtoDAsync MemcpyDtoHAsync MemcpyDtoDAsync MemcpyPeerAsync MemPrefetchAsync "
        "MemsetAsync MemsetD8Async MemsetD16Async MemsetD32Async MemcpyToSymbolAsync MemcpyFromSymbolAsync "
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


class Behind:
    """The work of one device that is not done yet; most of the time there is none."""

    def __init__(self) -> None:
        self.busy = False
        self._works: deque[Work] = deque()
        self._streams: dict[int, int] = {}  # those that have work here, with their flags
        self._failed: Refusal | None = None
        self._changing = threading.Lock()
        self._thread: threading.Thread | None = None

    def holds(self, stream: int, flags: int) -> bool:
        """Whether a stream's next work has to wait for work that is here."""
        if not self.busy:
            return False
        with self._changing:
            if _named(stream) in self._streams:
                return True
            if stream in _DEFAULT:
                return any(not other & _NON_BLOCKING for other in self._streams.values())
            return 0 in self._streams and not flags & _NON_BLOCKING

    def put(self, stream: int, flags: int, work: Work) -> None:
        """Do the work of a stream behind what is here, or begin with it and wait a little for its end.

        Raises Refusal if it is refused at once.
        """
        with self._changing:
            self._streams[_named(stream)] = flags
            self._works.append(work)
            if self.busy:
                return
            self.busy = True
            self._thread = thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        thread.join(_SOON)
        if not self.busy:
            self._tell()

    def settle_for(self, stem: str) -> None:
        """Wait until a function can do what it does. Raises Refusal if work that it waits for was refused."""
        if stem not in ALONGSIDE and (stem not in OF_DEFAULT or self.holds(0, 0)):
            self.settle()

    def settle(self) -> None:
        """Wait until all work is done. Raises Refusal if any was refused."""
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()
            self._tell()

    def _run(self) -> None:
        while True:
            try:
                self._works[0]()
            except Refusal as refusal:
                self._failed = self._failed or refusal
            except Exception:
                sys.stderr.write("warpglass: work of a stream failed, which is a defect of warpglass:\n")
                traceback.print_exc()
            with self._changing:
                self._works.popleft()
                if not self._works:
                    self._streams.clear()
                    self.busy = False
                    return

    def _tell(self) -> None:
        failed, self._failed = self._failed, None
        if failed is not None:
            raise failed


def _named(stream: int) -> int:
    return 0 if stream in _DEFAULT else stream
