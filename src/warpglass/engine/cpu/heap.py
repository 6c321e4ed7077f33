"""The device heap: what kernels get from malloc.

As on a GPU, memory from malloc lives until it is freed, by any thread of any later kernel, or the device is
reset. Addresses are never given twice, so what is used after it was freed is always found; allocations lie
apart, so what leaves one does not reach the next.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from ...codegen.context import HEAP_BASE, READ, WRITE
from ...errors import LaunchError
from ...host.budget import MEMORY, in_units, memory_limit
from ..launch.backend import Dim3

HEAP_BYTES = 8 << 20  # cudaLimitMallocHeapSize by default
_ALIGN = 512
_GUARD = 1 << 24
# What a block of memory costs beside its bytes, so that small ones cannot use up the host's memory.
_HEADER = 16
# What the host keeps of an allocation in any case, freed or not, until the launch ends.
_RECORD = 512
# Freed blocks whose place is remembered for messages.
_MEMORY = 100_000


@dataclass(slots=True)
class Chunk:
    """One allocation, with the block and thread that made it, and the ones that freed it."""

    base: int
    size: int
    owner: tuple[Dim3, Dim3]
    content: np.ndarray | None  # None once it is freed
    freed_by: tuple[Dim3, Dim3] | None = None

    @property
    def words(self) -> tuple[int, int, int, int]:
        """Its entry of the range table."""
        if self.content is None:
            return self.base, self.size, 0, 0
        return self.base, self.size, self.content.ctypes.data - self.base, READ | WRITE


@dataclass(frozen=True, slots=True)
class Saved:
    """A heap at one moment: chunks with what was in them and who had freed them."""

    chunks: list[tuple[Chunk, np.ndarray | None, tuple[Dim3, Dim3] | None]]
    next: int
    used: int


class Heap:
    """All allocations of a device."""

    def __init__(self) -> None:
        self._chunks: list[Chunk] = []  # by address
        self._next = HEAP_BASE
        self._used = 0

    def clear(self) -> None:
        """Free everything, as a reset of the device does."""
        self.__init__()

    @property
    def unused(self) -> bool:
        """Whether nothing has been allocated since the device was reset."""
        return self._next == HEAP_BASE

    @property
    def next(self) -> int:
        """The address that the next allocation will have."""
        return self._next

    def words(self) -> list[int]:
        """The range table's entries of what is allocated."""
        return [word for chunk in self._chunks if chunk.content is not None for word in chunk.words]

    def allocate(self, size: int, owner: tuple[Dim3, Dim3]) -> Chunk | None:
        """A new chunk of zeroed bytes; None if the heap has no room."""
        cost = -(-size // _HEADER) * _HEADER + _HEADER
        if size <= 0 or self._used + cost > HEAP_BYTES:
            return None
        if len(self._chunks) * _RECORD > memory_limit():
            raise _exhausted(len(self._chunks))
        self._used += cost
        chunk = Chunk(self._next, size, owner, np.zeros(size, np.uint8))
        self._next += -(-size // _ALIGN) * _ALIGN + _GUARD
        self._chunks.append(chunk)
        return chunk

    def free(self, chunk: Chunk, by: tuple[Dim3, Dim3]) -> None:
        """Give a chunk's memory back."""
        chunk.content, chunk.freed_by = None, by
        self._used -= -(-chunk.size // _HEADER) * _HEADER + _HEADER

    def forget(self) -> None:
        """Between launches: keep of what was freed long ago nothing at all."""
        freed = [chunk for chunk in self._chunks if chunk.content is None]
        if len(freed) > _MEMORY:
            gone = {chunk.base for chunk in freed[: len(freed) - _MEMORY]}
            self._chunks = [chunk for chunk in self._chunks if chunk.base not in gone]

    def save(self) -> Saved:
        """All allocations as they are now, for `restore`."""
        chunks = [
            (chunk, None if chunk.content is None else chunk.content.copy(), chunk.freed_by)
            for chunk in self._chunks
        ]
        return Saved(chunks, self._next, self._used)

    def restore(self, saved: Saved) -> None:
        """Make all allocations what they were."""
        self._next, self._used = saved.next, saved.used
        self._chunks = [chunk for chunk, _, _ in saved.chunks]
        for chunk, content, freed_by in saved.chunks:
            chunk.content, chunk.freed_by = None if content is None else content.copy(), freed_by

    def find(self, address: int) -> Chunk | None:
        """The chunk that an address is in or behind, None if it is none of the heap's."""
        if not HEAP_BASE <= address < self._next:
            return None
        index = bisect_right(self._chunks, address, key=lambda chunk: chunk.base) - 1
        return self._chunks[index] if index >= 0 else None


def _exhausted(count: int) -> LaunchError:
    return LaunchError(
        f"cudaErrorMemoryAllocation: after {count} calls of malloc in one launch the engine's record of them "
        f"takes {in_units(count * _RECORD)}; {MEMORY}=16G, for instance, allows more",
        cuda_name="cudaErrorMemoryAllocation",
        synchronous=False,
        sticky=False,
    )
