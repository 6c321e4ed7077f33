"""What a launch needs in memory besides its arrays: one Worker per thread, one Control for all of them.

Generated code knows all of it by address (codegen/context.py), so buffers are made once per compiled kernel
and keep their places; a launch only fills in its words. Nothing here is safe for two launches at a time: the
engine's lock is held from filling to the last worker's end.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from ...codegen import BlockShape, KernelCode, stream_bytes
from ...codegen.context import (
    BARRIER_WORDS,
    BARRIERS,
    DONE,
    GENERIC_ONLY,
    NOWHERE,
    OK,
    RANGE_WORDS,
    READ,
    SHARED_WINDOW,
    SITE_WORDS,
    SLOT,
    WORDS,
    WRITE,
)
from ..launch.backend import Dim3
from .order import Order

_CONTEXT = struct.Struct(f"={len(WORDS)}q")
# Words of Control: those that are written while workers run are on cache lines of their own.
_NEXT, _STOP, _RETIRE, _NEVER, _ALWAYS, _CREW, _LIMIT, _TURN = 0, 16, 17, 18, 19, 20, 32, 48
_NO_LIMIT = 1 << 62


class Control:
    """The words that all workers of a launch share: the next block, the stop flag, the first bad block, whose
    turn it is."""

    BYTES = 512  # from `next` on

    def __init__(self, shared: Control | None = None, first: int = 0) -> None:
        """`shared` is the control whose stop flag and limit hold here too; `first` is the first block."""
        memory = aligned(self.BYTES)
        self._words = memory.data.cast("B").cast("q")
        self._first = first
        address = memory.ctypes.data
        self.next, self.stop_flag, self.limit, self.turn, self.retire_flag, self.never, self.always = (
            address + 8 * word for word in (_NEXT, _STOP, _LIMIT, _TURN, _RETIRE, _NEVER, _ALWAYS)
        )
        self.crew_word = address + 8 * _CREW
        self._words[_ALWAYS] = _NO_LIMIT
        if shared is not None:
            self.stop_flag, self.limit = shared.stop_flag, shared.limit
        self.clear()

    def clear(self, first: int | None = None) -> None:
        """Make ready for a launch, or for the part of one that starts at block `first`."""
        words = self._words
        words[_NEXT] = words[_TURN] = self._first if first is None else first
        words[_STOP], words[_RETIRE], words[_LIMIT] = 0, 0, _NO_LIMIT

    @property
    def taken(self) -> int:
        """The first block that nobody has taken; the number of blocks or more if there is none left."""
        return self._words[_NEXT]

    @property
    def crew(self) -> int:
        """How many workers take blocks, if they leave where blocks mostly wait for their turns."""
        return self._words[_CREW]

    @crew.setter
    def crew(self, count: int) -> None:
        self._words[_CREW] = count

    def stop(self) -> None:
        """Tell all workers to end at the next backward jump or block."""
        self._words[_STOP] = 1

    def retire(self) -> None:
        """Tell all workers that better code waits to go on where they take blocks."""
        self._words[_RETIRE] = 1


# service, lanes, warp, block and buffer of a call of the CUDA runtime
_ENTRY = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 5)
# What answers it, the worker first.
Service = Callable[["Worker", int, int, int, int, int], int]


class Worker:
    """One worker's buffers for one compiled kernel."""

    def __init__(
        self,
        code: KernelCode,
        shape: BlockShape,
        threads: np.ndarray,
        control: Control,
        parameters: int,
        local: int,
        number: int = 0,
    ):
        """`number` is that among the workers that may leave a launch early."""
        self.context = np.zeros(len(WORDS), np.int64)
        self.code = OK  # what the last run returned
        self._sites = np.zeros(max(1, len(code.sites)) * SITE_WORDS, np.int64)
        self._stride = code.frame_stride
        self._waiting = code.waiting
        self._frames = aligned(code.frame_stride * shape.warps)
        self.local_size = local
        self._local = aligned(shape.width * local * shape.warps)
        self._service: Service | None = None
        self.private: list[np.ndarray] = []  # its own memory in place of arrays (privatisation.py)
        self._entry = _ENTRY(self._serve)
        self._waits = np.zeros((shape.warps, BARRIERS, 2), np.int32)
        self._barriers = np.zeros(BARRIERS * BARRIER_WORDS, np.int32)
        self._states = np.zeros(shape.warps, np.int32)
        self.words = np.zeros(max(1, code.words), np.int64)  # the probes'
        self._counted = False  # whether a launch may have changed them
        self._parameters = aligned(parameters)
        self._keep = (threads, control)
        self._warps = shape.warps
        self._counts = [shape.together] * (shape.warps - 1) + [shape.last]  # of their threads
        self._by_number = np.arange(shape.warps, dtype=np.int32)
        self._orders = self._by_number  # of the warps of this launch
        self._blocks: np.ndarray | None = None  # its blocks by place, if they do not come by number
        self.address = self.context.ctypes.data
        self._context_bytes = self.context.data.cast("B")
        kept = np.zeros_like(self.context)
        self._kept_bytes, self._kept_address = kept.data.cast("B"), int(kept.ctypes.data)
        self._parameter_bytes = self._parameters.data.cast("B")
        self._words = [0] * len(WORDS)
        self._deferred = np.zeros(0, np.int64)
        self._put(
            next_block=control.next,
            stop=control.stop_flag,
            retire=control.retire_flag,
            limit=control.limit,
            parameters=self._parameters.ctypes.data,
            frames=self._frames.ctypes.data,
            local=self._local.ctypes.data,
            states=self._states.ctypes.data,
            waits=self._waits.ctypes.data,
            barriers=self._barriers.ctypes.data,
            counters=self.words.ctypes.data,
            sites=self._sites.ctypes.data,
            threads=threads.ctypes.data,
            turn=control.turn,
            number=number,
            crew=control.crew_word,
            give_way=_give_way(),
            stream_bytes=stream_bytes(),
            system=ctypes.cast(self._entry, ctypes.c_void_p).value or 0,
            fault_site=NOWHERE,
            warp_orders=self._by_number.ctypes.data,
            warp_order_count=1,
            alone=1,
        )
        self._make_shared(0)
        self._make_ranges(4)

    def keep_code(self) -> None:
        """For the rest of the launch, run the code that begins now to the end."""
        self.context[SLOT["retire"]] = self._keep[1].never

    def set_alone(self, alone: bool) -> None:
        """Say whether the next launch runs on one thread."""
        self._words[_ALONE] = int(alone)

    def defer(self, most: int) -> None:
        """Say how many sums a block of the next launch may leave for its end."""
        if 2 * most > self._deferred.size:
            self._deferred = np.zeros(2 * most, np.int64)
            self._put(deferred=self._deferred.ctypes.data)
        self._put(deferred_most=most, deferred_room=most)

    def make_resident(self) -> None:
        """Let this worker's block be left whenever its warps only yield."""
        self._put(resident=1)

    def share_turn(self) -> None:
        """Let it always be this worker's turn: its thread has others too, whose blocks wait for its own."""
        self._put(turn=self._keep[1].always)

    def follow_blocks(self, blocks: np.ndarray) -> None:
        """Run the blocks of a launch, which is filled in, by their places."""
        self._blocks = blocks  # kept alive for the launch
        self.context[SLOT["block_order"]] = blocks.ctypes.data

    def follow(self, order: Order, blocks: np.ndarray | None) -> None:
        """Run the blocks and warps of a launch, which is filled in, in another order than by number."""
        warps = order.warps(self._warps)
        self._orders = warps  # kept alive for the launch
        self.context[SLOT["warp_orders"]] = warps.ctypes.data
        self.context[SLOT["warp_order_count"]] = len(warps)
        if blocks is not None:
            self.follow_blocks(blocks)

    @property
    def states(self) -> list[int]:
        """The state of each warp: done, or where it goes on (codegen/context.py)."""
        return self._states.tolist()

    def memory(self) -> tuple[np.ndarray, ...]:
        """What a block that was left goes on from: registers, local and shared memory, barriers."""
        return self._frames, self._local, self._shared, self._waits, self._barriers, self._states

    def waiting(self, warp: int) -> dict[int, int]:
        """The lanes of a warp that wait for others of it: a mask for each step where some do."""
        frame = self._frames[warp * self._stride :][: self._stride].view(np.uint32)
        masks = {step: int(frame[byte // 4]) for step, byte in self._waiting.items()}
        return {step: mask for step, mask in masks.items() if mask}

    @property
    def barriers(self) -> list[int]:
        """A barrier that each warp waits at, 0 for those that wait at none."""
        return np.argmax(self._waits[:, :, 1] == 1, axis=1).tolist()

    # ------------------------------------------------------------------------------------ the runtime's calls
    def _serve(self, service: int, lanes: int, warp: int, block: int, buffer: int) -> int:
        assert self._service is not None, "a launch brings its own"
        return self._service(self, service, lanes, warp, block, buffer)

    def read_local(self, warp: int, lane: int, offset: int, size: int) -> bytes:
        """Bytes of a thread's local memory; less if it ends before."""
        at = np.arange(offset, min(offset + size, self.local_size))
        start = 32 * self.local_size * warp + 4 * lane
        return self._local[start + (at & -4) * 32 + (at & 3)].tobytes()

    def find_range(self, address: int) -> tuple[int, int]:
        """Where a generic address lies on the host, and how many bytes may be read from there on."""
        rows = self._ranges[: int(self.context[_RANGE_COUNT]) * RANGE_WORDS].reshape(-1, RANGE_WORDS)
        index = int(np.searchsorted(rows[:, 0], min(address, _HIGHEST), side="right")) - 1
        if index < 0:
            return 0, 0
        base, size, delta, permissions = (int(word) for word in rows[index])
        readable = address < base + size and permissions & READ
        return (address + delta, base + size - address) if readable else (0, 0)

    def add_range(self, words: Sequence[int]) -> None:
        """Append an entry to the range table while a launch runs; its base is the highest."""
        used = int(self.context[_RANGE_COUNT]) * RANGE_WORDS
        if used + RANGE_WORDS > self._ranges.size:
            before = self._ranges
            self._make_ranges(2 * before.size // RANGE_WORDS)
            self._ranges[:used] = before[:used]
            self.context[_RANGES] = self._words[_RANGES]
        self._ranges[used : used + RANGE_WORDS] = words
        self.context[_RANGE_COUNT] += 1

    def change_range(self, words: Sequence[int]) -> None:
        """Replace the entry of the same base while a launch runs."""
        rows = self._ranges[: int(self.context[_RANGE_COUNT]) * RANGE_WORDS].reshape(-1, RANGE_WORDS)
        rows[int(np.searchsorted(rows[:, 0], words[0]))] = words
        self._sites.fill(0)  # they might remember the old one

    def _put(self, **words: int) -> None:
        for name, value in words.items():
            self._words[SLOT[name]] = value

    def take_block(self, place: int) -> None:
        """Let the next run of a filled worker that is left while it waits be one of this block."""
        self._keep[1].clear(place)
        self.context[_BLOCKS] = place + 1

    def threads_left(self) -> int:
        """The threads of the warps that have not ended."""
        return sum(count for count, state in zip(self._counts, self.states, strict=True) if state != DONE)

    def reserve_shared(self, size: int) -> int:
        """Have room for so many bytes of shared memory; their address."""
        if size > self._shared_room:
            self._make_shared(size)
        return self._words[_SHARED]

    def _make_shared(self, size: int) -> None:
        self._shared = aligned(size)
        self._shared_room = size
        self._put(shared=self._shared.ctypes.data)

    def _make_ranges(self, rows: int) -> None:
        self._ranges = np.zeros(rows * RANGE_WORDS, np.int64)
        self._range_bytes = self._ranges.data.cast("B")
        self._put(ranges=self._ranges.ctypes.data)

    def fill(
        self,
        grid: Dim3,
        blocks: int,
        chunk: int,
        parameters: bytes,
        shared_size: int,
        ranges: Sequence[int],
        service: Service,
        windows: Sequence[int] = (),
    ) -> None:
        """Fill in a launch; `ranges` are the words of the range table's entries for global memory.

        `service` answers the kernel's calls of the CUDA runtime (system.py). `windows` are the entries for
        shared memory if they are more than the block's own (clusters.py).
        """
        self._service = service
        shared = self.reserve_shared(shared_size)
        window = windows or (SHARED_WINDOW, shared_size, shared - SHARED_WINDOW, READ | WRITE | GENERIC_ONLY)
        count = len(window) + len(ranges)
        if count > self._ranges.size:
            self._make_ranges(2 * count // RANGE_WORDS)
        words = self._words
        low = 0
        while low < len(ranges) and ranges[low] < SHARED_WINDOW:
            low += RANGE_WORDS
        struct.pack_into(f"={count}q", self._range_bytes, 0, *ranges[:low], *window, *ranges[low:])
        self.set_parameters(parameters)
        self._sites.fill(0)  # their ranges were another launch's
        if self._counted:  # caches that are simulated take megabytes, most of which nobody touches
            self.words.fill(0)
        self._counted = True
        words[_GRID], words[_GRID + 1], words[_GRID + 2] = grid
        words[_BLOCKS], words[_CHUNK] = blocks, chunk
        words[_SHARED_SIZE], words[_RANGE_COUNT] = shared_size, count // RANGE_WORDS
        _CONTEXT.pack_into(self._context_bytes, 0, *words)

    def set_parameters(self, block: bytes) -> None:
        """Fill in the parameters of a launch."""
        self._parameter_bytes[: len(block)] = block

    def keep_filling(self) -> int:
        """Remember the words of the context as they are, for `refill`; where that is kept."""
        self._kept_bytes[:] = self._context_bytes
        return self._kept_address

    def refill(self) -> None:
        """Fill in again what was kept. The sites keep what they have met: all ranges are where they were."""
        self._context_bytes[:] = self._kept_bytes


@lru_cache(maxsize=1)
def _give_way() -> int:
    """The address of the host's function that lets other threads run."""
    if sys.platform == "win32":
        return ctypes.cast(ctypes.windll.kernel32.SwitchToThread, ctypes.c_void_p).value or 0
    return ctypes.cast(ctypes.CDLL(None).sched_yield, ctypes.c_void_p).value or 0


_SHARED, _SHARED_SIZE, _RANGE_COUNT = SLOT["shared"], SLOT["shared_size"], SLOT["range_count"]
_RANGES, _ALONE = SLOT["ranges"], SLOT["alone"]
_HIGHEST = (1 << 63) - 1
_GRID, _BLOCKS, _CHUNK = SLOT["grid_x"], SLOT["block_count"], SLOT["chunk"]


def aligned(size: int) -> np.ndarray:
    """Zeroed bytes whose first address is a multiple of 128, with slack behind for wide loads."""
    raw = np.zeros(size + 128 + 4096, np.uint8)
    start = -raw.ctypes.data % 128
    return raw[start : start + size + 4096]
