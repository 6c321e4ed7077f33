"""What a launch may change, kept as it is at one moment and put back at another.

Belongs here: copies of the arrays, the module's variables and the heap of a launch that is about to run or
has run, so that it can be made again from the same state.
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Sequence

import numpy as np

from ...codegen.context import OK, RANGE_WORDS, WRITE
from ...errors import ArgumentError
from ...host.budget import MEMORY, in_units, memory_limit
from .crew import LONGEST
from .faults import Scene
from .thread_pool import POOL

_PART = 1 << 20  # bytes that are worth another thread


class Snapshot:
    """A launch's memory, taken when made; raises ArgumentError if a copy of it takes too much."""

    def __init__(self, scene: Scene, rows: Collection[int] | None = None, threads: int = 1):
        """`rows` of the table of ranges are all that needs to be kept, if they are given.

        Several threads copy with the pool's lock held.
        """
        everything = [*_arrays(scene), *_variables(scene)]
        ranges = everything if rows is None else _rows(scene, rows)
        need = sum(size for _, size in ranges)
        if need > memory_limit() // 4:
            raise ArgumentError(
                f"{scene.launch.compiled.name}: to run it again a copy of its arrays is needed, "
                f"{in_units(need)}, too much of the {in_units(memory_limit())} that are allowed ({MEMORY})"
            )
        self._parts = [(address, np.empty(size, np.uint8)) for address, size in ranges]
        self._threads = threads
        for address, content in self._parts:
            self._copy(content.ctypes.data, address, content.nbytes)
        self._heap = scene.heap
        self._saved = scene.heap.save() if rows is None else None

    def restore(self) -> None:
        """Put everything back."""
        for address, content in self._parts:
            self._copy(address, content.ctypes.data, content.nbytes)
        if self._saved is not None:
            self._heap.restore(self._saved)

    def _copy(self, target: int, source: int, size: int) -> None:
        count = min(self._threads, 1 + size // _PART)

        def copy(part: int) -> int:
            first, end = size * part // count, size * (part + 1) // count
            ctypes.memmove(target + first, source + first, end - first)
            return OK

        if count == 1:
            copy(0)
        else:
            POOL.run(copy, count, lambda: None, LONGEST)


def _arrays(scene: Scene) -> list[tuple[int, int]]:
    """Host address and bytes of what the launch may write."""
    allocations = [one.allocation for one in scene.laid.placed]
    return [(one.address, one.nbytes) for one in allocations if one.nbytes and not one.readonly]


def _variables(scene: Scene) -> list[tuple[int, int]]:
    words = scene.prepared.module.words
    if scene.launch.resident is not None:
        words = scene.launch.resident.lay_out().with_variables(words)
    return _writable(words)


def _rows(scene: Scene, rows: Collection[int]) -> list[tuple[int, int]]:
    """The same of some rows of the table of ranges."""
    starts = [RANGE_WORDS * row for row in sorted(rows)]
    return _writable([word for start in starts for word in scene.ranges[start : start + RANGE_WORDS]])


def _writable(words: Sequence[int]) -> list[tuple[int, int]]:
    rows = [tuple(words[start : start + RANGE_WORDS]) for start in range(0, len(words), RANGE_WORDS)]
    return [(base + delta, size) for base, size, delta, permissions in rows if permissions & WRITE and size]
