"""The memory of the virtual device: allocations in an address space of their own, backed by host memory.

What cuMemAlloc gives lies above all windows of the engine, far from its neighbours, and no address is given
twice before the space is used up: what leaves an allocation, or is used after it was freed, is found. Pinned,
registered and managed memory has one address for host and kernels, as with unified addressing.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import threading
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..codegen.context import GLOBAL_BASE, HEAP_BASE, READ, SHARED_WINDOW, WRITE
from ..engine.cpu.address_space import Laid, Placed, range_words
from ..engine.launch.arguments import Allocation
from ..engine.launch.backend import Lines
from ..host.budget import MEMORY, in_units, memory_limit
from .mapped import Mapped
from .results import Refusal, Result
from .written import Written, fill_with_poison

_ALIGN = 512
_GUARD = 1 << 32
_PINNED_ALIGN = 4096
_POOL = 64 << 20  # bytes of memory that is not filled, so that pages which nobody uses cost nothing
_PART = 1 << 20  # bytes whose state is copied at once
_FREED = 10_000  # allocations that are remembered after they were freed, for messages


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """One allocation: its address for kernels, its size, and where it lies on the host.

    `kind` is "device", "host" (pinned by us), "registered" (the program's, pinned later), "managed", "ipc"
    (another process's) or "mapped" (into addresses that the program has reserved).
    """

    base: int
    size: int
    host: int
    kind: str
    number: int  # in the order of allocation
    keep: object = field(repr=False, default=None)
    flags: int = 0  # of pinned memory, as the program gave them

    @property
    def placed(self) -> Placed:
        """The allocation as the engine describes it."""
        return Placed(Allocation(f"allocation {self.number}", self.host, self.size, False, None), self.base)


class Shared:
    """Memory of an open file, mapped so that every process that maps it sees the same."""

    def __init__(self, file: int, size: int):
        if os.fstat(file).st_size == 0:
            os.ftruncate(file, size)
        self.file = file
        self._map = mmap.mmap(file, size)
        self.host = ctypes.addressof(ctypes.c_uint8.from_buffer(self._map))

    def __del__(self) -> None:
        os.close(self.file)


class DeviceMemory:
    """All allocations; `capacity` is the GPU's memory in bytes, `watched` says if launches are watched.

    With `zeros` new memory holds zeros while no launch is watched, as it mostly does on a GPU.
    """

    def __init__(self, capacity: int, watched: Callable[[], bool] = lambda: False, *, zeros: bool = False):
        self.capacity = capacity
        self.zeros = zeros
        self._watched = watched
        self._written: dict[int, Written] = {}  # by base, of allocations with bytes that nobody has written
        self._told = False  # whether the launch under way has told what it has written
        self._freed: deque[Block] = deque(maxlen=_FREED)
        self._blocks: list[Block] = []  # by base; another list whenever they change, as threads look at it
        self._next = GLOBAL_BASE
        self._count = 0
        self._used = 0
        self._laid: Laid | None = None
        self._changing = threading.Lock()
        self._variables: dict[
            int, tuple[int, int, int]
        ] = {}  # by base: size, distance to the host, permissions
        self.layout = 0  # another number whenever allocations have come or gone

    @property
    def watched(self) -> bool:
        """Whether there are bytes that nobody is known to have written."""
        return bool(self._written)

    def restore(self, block: Block) -> None:
        """Let an allocation that was freed be there again, at its address. Raises Refusal if it is taken."""
        if self.overlapping(block.base, block.size) or block.size > self.free:
            raise Refusal(Result.OUT_OF_MEMORY, f"the memory at {block.base:#x} is in use")
        self._used += block.size
        self._insert(block)

    @property
    def usable(self) -> int:
        """Bytes that can be had at all: the GPU's, or what the host allows."""
        return min(self.capacity, memory_limit())

    @property
    def reached_by_host(self) -> bool:
        """Whether there is memory that the host reads and writes while kernels run."""
        return any(block.kind in ("host", "registered", "managed") for block in self._blocks)

    @property
    def free(self) -> int:
        """Bytes that can still be had."""
        return max(0, self.usable - self._used)

    def allocate(self, size: int, kind: str = "device", flags: int = 0) -> Block:
        """New memory: a pattern; zeros if pinned, large or asked. Raises Refusal if there is too little."""
        if size == 0:
            raise Refusal(Result.INVALID_VALUE, "an allocation of 0 bytes")
        if size > self.free:
            raise Refusal(
                Result.OUT_OF_MEMORY,
                f"an allocation of {in_units(size)}; {in_units(self.free)} are left ({MEMORY} sets a limit)",
            )
        zeros = kind == "host" or (kind == "device" and size >= _POOL) or (self.zeros and not self._watched())
        buffer, host = _host_memory(size, zeros=zeros, managed=kind == "managed")
        base = self._place(size) if kind == "device" else host
        self._used += size
        if not zeros:
            fill_with_poison(host, size)
        if kind != "host" and self._watched():
            self._written[base] = Written(host, size, shared=kind == "managed")
        return self._insert(Block(base, size, host, kind, self._number(), buffer, flags))

    def register(self, host: int, size: int, flags: int = 0) -> Block:
        """Let kernels reach memory of the program."""
        if self.overlapping(host, size):
            raise Refusal(Result.HOST_MEMORY_ALREADY_REGISTERED)
        return self._insert(Block(host, size, host, "registered", self._number(), flags=flags))

    def share(self, address: int) -> tuple[Block, Shared]:
        """Move an allocation to memory that other processes can map; its address stays."""
        block = self.find(address)
        if block is None or block.kind != "device":
            raise Refusal(Result.INVALID_VALUE, f"no memory of the device is at {address:#x}")
        if isinstance(block.keep, Shared):
            return block, block.keep
        shared = Shared(os.memfd_create("warpglass-ipc", os.MFD_CLOEXEC), block.size)
        copy(shared.host, block.host, block.size)
        moved = replace(block, host=shared.host, keep=shared)
        self._set_blocks([moved if one is block else one for one in self._blocks])
        self._written.pop(block.base, None)
        return moved, shared

    def import_shared(self, file: int, size: int) -> Block:
        """Memory that another process shares, at an address of our own."""
        shared = Shared(file, size)
        return self._insert(Block(self._place(size), size, shared.host, "ipc", self._number(), shared))

    def reserve(self, size: int, alignment: int) -> int:
        """An address where as much can be mapped."""
        return -(-self._place(size + alignment) // alignment) * alignment

    def map(self, base: int, size: int, host: int, keep: object) -> None:
        """Let there be memory at reserved addresses; it is one allocation with its neighbours there."""
        for end in (base - 1, base + size):
            near = self.find(end)
            if near is not None and near.keep is keep:
                self._set_blocks([one for one in self._blocks if one is not near])
                base, host = min(base, near.base), min(host, near.host)
                size += near.size
        self._insert(Block(base, size, host, "mapped", self._number(), keep))

    def unmap(self, base: int, size: int) -> None:
        """Let there be no memory at addresses. Raises Refusal if there is none."""
        block = self.find(base)
        if block is None or block.kind != "mapped" or base + size > block.base + block.size:
            raise Refusal(Result.INVALID_VALUE, f"no memory of {size} bytes is mapped at {base:#x}")
        self._set_blocks([one for one in self._blocks if one is not block])
        self._freed.append(Block(base, size, block.host + base - block.base, "mapped", block.number))
        for start, end in ((block.base, base), (base + size, block.base + block.size)):
            if start < end:
                host = block.host + start - block.base
                self._insert(Block(start, end - start, host, "mapped", block.number, block.keep))

    def release(self, base: int, kinds: tuple[str, ...]) -> None:
        """Free an allocation of one of these kinds by its address."""
        block = self.find(base)
        if block is None or block.base != base or block.kind not in kinds:
            raise Refusal(Result.INVALID_VALUE, f"no memory of kind {' or '.join(kinds)} starts at {base:#x}")
        self._set_blocks([one for one in self._blocks if one is not block])
        self._written.pop(base, None)
        self._freed.append(block)
        if block.kind not in ("registered", "ipc"):
            self._used -= block.size

    def clear(self) -> None:
        """Free all."""
        layout = self.layout + 1
        self.__init__(self.capacity, self._watched, zeros=self.zeros)
        self.layout = layout

    def find(self, address: int) -> Block | None:
        """The allocation that an address is in."""
        blocks = self._blocks
        index = bisect_right(blocks, address, key=lambda block: block.base) - 1
        if index >= 0 and address < blocks[index].base + blocks[index].size:
            return blocks[index]
        return None

    def freed(self, address: int) -> Block | None:
        """The allocation that an address was in, of those that were freed last."""
        inside = (one for one in reversed(self._freed) if one.base <= address < one.base + one.size)
        return next(inside, None)

    def overlapping(self, base: int, size: int) -> bool:
        """Whether an allocation has one of these bytes."""
        index = bisect_right(self._blocks, base + size - 1, key=lambda block: block.base) - 1
        return index >= 0 and self._blocks[index].base + self._blocks[index].size > base

    def host(self, address: int, size: int) -> int | None:
        """Where bytes of the device lie on the host; None for memory that the device does not know.

        Raises Refusal for a stretch that leaves its allocation.
        """
        block = self.find(address)
        if block is None:
            return None
        if address + size > block.base + block.size:
            raise Refusal(Result.INVALID_VALUE, f"{size} bytes at {address:#x} leave their allocation")
        return block.host + address - block.base

    def lay_out(self, parameters: bytes) -> Laid:
        """All memory, as a launch sees it, which threads of streams make while the program allocates."""
        with self._changing:
            if self._laid is None:
                placed = tuple(block.placed for block in self._blocks)
                low = [one for one in placed if one.base < SHARED_WINDOW]
                high = [one for one in placed if one.base >= SHARED_WINDOW]
                variables = [word for base, row in sorted(self._variables.items()) for word in (base, *row)]
                self._laid = Laid(placed, range_words(high), b"", range_words(low), variables)
            return replace(self._laid, parameters=parameters)

    def lend(self, base: int, size: int, host: int) -> None:
        """Let the kernels of all modules reach a module's variable, of which the host knows the address."""
        if base not in self._variables:
            self._variables[base] = size, host - base, READ | WRITE
            self._lay_out_anew()

    def take_back(self, bases: Iterable[int]) -> None:
        """Variables at these addresses are there no more."""
        lent = self._variables.keys() & set(bases)
        for base in lent:
            del self._variables[base]
        if lent:
            self._lay_out_anew()

    # ------------------------------------------------------------------------------------ what is written
    def define(self, address: int, size: int) -> None:
        """Bytes at an address of the device are written."""
        block = self.find(address) if self._written else None
        written = None if block is None else self._written.get(block.base)
        if block is not None and written is not None:
            if size >= block.size:
                del self._written[block.base]
            else:
                written.define(address - block.base, size)

    def define_copy(self, target: int, source: int, size: int) -> None:
        """Bytes at one address are what those at another are, written or not; either may be the host's."""
        home, origin = (self.find(one) if self._written else None for one in (target, source))
        written = None if origin is None else self._written.get(origin.base)
        if home is None or origin is None or written is None:
            self.define(target, size)
            return
        if home.base not in self._written:
            self._written[home.base] = Written(home.host, home.size, shared=False)
            self._written[home.base].define(0, home.size)
        for done in range(0, size, _PART):
            part = written.at(source + done - origin.base, min(_PART, size - done))
            self._written[home.base].set(target + done - home.base, part)

    @property
    def follows(self) -> bool:
        """Whether it is known of any memory which of its bytes were written."""
        return bool(self._written)

    def write(self, block: Block, content: bytes) -> None:
        """Fill the first bytes of an allocation."""
        ctypes.memmove(block.host, content, len(content))
        self.define(block.base, len(content))

    def forget_undefined(self) -> None:
        """Take all for written, because somebody may have written it unseen."""
        self._written.clear()

    def written(self) -> dict[int, np.ndarray[Any, Any]]:
        """By number of block, for those with bytes that nobody has written: a bit for each byte that is."""
        for base in [base for base, written in self._written.items() if written.complete]:
            del self._written[base]
        numbers = {block.base: number for number, block in enumerate(self._blocks)}
        return {numbers[base]: written.bits for base, written in self._written.items()}

    def add_written(self, touched: Mapping[int, Lines]) -> None:
        """A launch has written bytes of blocks, by number."""
        self._told = True
        for number, lines in touched.items():
            written = self._written.get(self._blocks[number].base)
            if written is not None:
                written.add_lines(*lines)

    @contextmanager
    def launching(self) -> Iterator[None]:
        """Within this a launch is made; unless it tells what it has written, that may be anything."""
        self._told = False
        try:
            yield
        finally:
            if not self._told:
                self.forget_undefined()

    def _insert(self, block: Block) -> Block:
        position = bisect_right(self._blocks, block.base, key=lambda one: one.base)
        self._set_blocks([*self._blocks[:position], block, *self._blocks[position:]])
        return block

    def _set_blocks(self, blocks: list[Block]) -> None:
        self._blocks = blocks
        self._lay_out_anew()

    def _lay_out_anew(self) -> None:
        with self._changing:
            self._laid = None
            self.layout += 1

    def _number(self) -> int:
        self._count += 1
        return self._count

    def _place(self, size: int) -> int:
        step = -(-size // _ALIGN) * _ALIGN + _GUARD
        if self._next + step > HEAP_BASE:  # once round: take up what was freed
            self._next = GLOBAL_BASE
        while self.overlapping(self._next, size):
            self._next += step
        base, self._next = self._next, self._next + step
        return base


def _host_memory(size: int, *, zeros: bool, managed: bool) -> tuple[object, int]:
    """New memory of the host: what keeps it, and its address, at the start of a page."""
    if managed:
        mapped = Mapped(size)
        return mapped, mapped.host
    buffer = (np.zeros if zeros else np.empty)(size + _PINNED_ALIGN, np.uint8)
    return buffer, -(-buffer.ctypes.data // _PINNED_ALIGN) * _PINNED_ALIGN


def copy(target: int, source: int, size: int) -> None:
    """Copy bytes of the host; the stretches may overlap."""
    ctypes.memmove(target, source, size)


def fill(target: int, pattern: bytes, count: int) -> None:
    """Repeat a pattern."""
    if len(pattern) == 1:
        ctypes.memset(target, pattern[0], count)
        return
    view: Any = (ctypes.c_uint8 * (len(pattern) * count)).from_address(target)
    np.frombuffer(view, f"u{len(pattern)}")[:] = int.from_bytes(pattern, "little")
