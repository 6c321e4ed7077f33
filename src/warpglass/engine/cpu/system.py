"""What happens when a kernel calls the CUDA runtime: printf, malloc and free, assert.

Generated code calls back into Python once per warp, with the active lanes and their arguments; the callback
holds the GIL, so only one warp is served at a time. Output is kept per block and comes out after the launch
in the order of the blocks, whichever worker ran them; within a block in the order of the calls, and within a
call in the order of the lanes. A kernel that allocates runs on one thread, so addresses repeat, too.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...codegen.context import LOCAL_WINDOW, SITE_WORD, service_code
from ..launch.backend import Dim3, unflatten
from .heap import Heap
from .printf import format_printf
from .worker import Worker

# What a launch may print, as it is kept until the end; more is cut, with a note. A GPU keeps 1 MiB and loses
# what came first.
_MOST_OUTPUT = 64 << 20
_CALL = 128  # what one call costs beside its text
_LONGEST_STRING = 1 << 20


@dataclass(frozen=True, slots=True)
class Account:
    """Why a call ended the kernel: a finding kind, CUDA's name for it and the words."""

    kind: str
    cuda_name: str
    text: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A call without effect that the kernel went on behind: its site, and who made it."""

    site: int
    account: Account
    block: Dim3
    thread: Dim3


class _Refused(Exception):
    def __init__(self, account: Account):
        self.account = account


class _RefusedFree(_Refused):
    """What changes nothing, so that a kernel may go on behind it."""


@dataclass(frozen=True, slots=True)
class _Thread:
    """A thread that calls, and how it sees memory."""

    worker: Worker
    warp: int
    lane: int
    block: Dim3
    thread: Dim3

    def read(self, address: int, size: int) -> bytes:
        """Bytes at a generic address; refused where the thread may not read."""
        if 0 <= address - LOCAL_WINDOW < self.worker.local_size:
            return self.worker.read_local(self.warp, self.lane, address - LOCAL_WINDOW, size)
        host, room = self.worker.find_range(address)
        if room < size:
            text = f"a function of the runtime reads {size} bytes at address {address:#x}, where it may not"
            raise _Refused(Account("out-of-bounds", "cudaErrorIllegalAddress", text))
        return ctypes.string_at(host, size)

    def string(self, address: int) -> bytes:
        """The C string at a generic address, which ends with its memory at the latest."""
        if 0 <= address - LOCAL_WINDOW < self.worker.local_size:
            rest = LOCAL_WINDOW + self.worker.local_size - address
            return self.read(address, rest).partition(b"\0")[0]
        self.read(address, 1)
        host, room = self.worker.find_range(address)
        return ctypes.string_at(host, min(room, _LONGEST_STRING)).partition(b"\0")[0]


class System:
    """The runtime's side of one launch."""

    def __init__(self, grid: Dim3, block: Dim3, heap: Heap, *, goes_on: bool = False):
        self.left_out: list[LeftOut] = []
        self._goes_on = goes_on  # behind what may be left out
        self.accounts: dict[int, Account] = {}  # by block
        self.error: Exception | None = None
        self.workers: Sequence[Worker] = ()
        self._grid = grid
        self._block = block
        self._heap = heap
        self._output: list[tuple[int, bytes]] = []
        self._room = _MOST_OUTPUT

    def again(self) -> System:
        """One for another launch of the same grid."""
        return System(self._grid, self._block, self._heap, goes_on=self._goes_on)

    def serve(self, worker: Worker, code: int, lanes: int, warp: int, block: int, buffer: int) -> int:
        """One warp's call: arguments and results are 32 words each; returns 0, or the failing lane + 1."""
        arguments = np.ctypeslib.as_array((ctypes.c_uint64 * 256).from_address(buffer)).reshape(8, 32)
        for lane in range(32):
            if not lanes >> lane & 1:
                continue
            thread = unflatten(warp * 32 + lane, self._block)
            caller = _Thread(worker, warp, lane, unflatten(block, self._grid), thread)
            try:
                result = _SERVICES[code](self, caller, block, *(int(word) for word in arguments[:5, lane]))
            except _Refused as refused:
                if self._goes_on and isinstance(refused, _RefusedFree):
                    site = int(arguments.flat[SITE_WORD])
                    self.left_out.append(LeftOut(site, refused.account, caller.block, thread))
                    continue
                self.accounts[block] = refused.account
                return lane + 1
            except Exception as error:  # the launching thread raises it
                self.error = error
                return lane + 1
            arguments[0, lane] = result & (1 << 64) - 1
        return 0

    @property
    def output(self) -> str:
        """What the launch has printed, in the order of the blocks."""
        text = b"".join(part for _, part in sorted(self._output, key=lambda one: one[0]))
        note = "\n[warpglass: the rest of the kernel's output is cut]\n" if self._room < 0 else ""
        return text.decode(errors="replace") + note

    # ------------------------------------------------------------------------------------ services
    def vprintf(self, caller: _Thread, block: int, text: int, arguments: int, *_: int) -> int:
        """Print; the number of arguments, or -1 without a format."""
        if text == 0:
            return -1
        printed, count = format_printf(
            caller.string(text),
            lambda offset, size: caller.read(arguments + offset, size),
            caller.string,
        )
        self._room -= len(printed) + _CALL
        if self._room >= 0:
            self._output.append((block, printed))
        return count

    def malloc(self, caller: _Thread, block: int, size: int, *_: int) -> int:
        """Memory from the heap; 0 if it is full."""
        chunk = self._heap.allocate(size, (caller.block, caller.thread))
        if chunk is None:
            return 0
        for worker in self.workers:
            worker.add_range(chunk.words)
        return chunk.base

    def free(self, caller: _Thread, block: int, address: int, *_: int) -> int:
        """Give memory back; what no malloc gave, or is freed already, is refused."""
        if address == 0:
            return 0
        chunk = self._heap.find(address)
        if chunk is None or chunk.base != address:
            text = f"free({address:#x}): no malloc gave this address"
            raise _RefusedFree(Account("out-of-bounds", "cudaErrorIllegalAddress", text))
        if chunk.freed_by is not None:
            text = f"free({address:#x}): {freed_before(*chunk.freed_by)}"
            raise _RefusedFree(Account("use-after-free", "cudaErrorIllegalAddress", text))
        self._heap.free(chunk, (caller.block, caller.thread))
        for worker in self.workers:
            worker.change_range(chunk.words)
        return 0

    def assertfail(
        self, caller: _Thread, block: int, condition: int, file: int, line: int, function: int, _: int
    ) -> int:
        """End the kernel with the assertion's own place and text."""
        texts = [
            caller.string(one).decode(errors="replace") if one else "?" for one in (condition, file, function)
        ]
        text = f"assertion `{texts[0]}` failed in {texts[2]} ({texts[1]}:{line})"
        raise _Refused(Account("trap", "cudaErrorAssert", text))


def freed_before(block: Dim3, thread: Dim3) -> str:
    """A clause for messages."""
    return f"block {block} thread {thread} has freed it already"


_SERVICES: dict[int, Callable[..., int]] = {
    service_code("vprintf"): System.vprintf,
    service_code("malloc"): System.malloc,
    service_code("free"): System.free,
    service_code("__assertfail"): System.assertfail,
}
