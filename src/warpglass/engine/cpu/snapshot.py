"""What a launch may change, kept as it is at one moment and put back at another.

Belongs here: copies of the arrays, the module's variables and the heap of a launch that is about to run or
has run, so that it can be made again from the same state.
"""

from __future__ import annotations

import ctypes

from ...codegen.context import RANGE_WORDS, WRITE
from ...errors import ArgumentError
from ...host.budget import MEMORY, in_units, memory_limit
from .faults import Scene


class Snapshot:
    """A launch's memory, taken when made; raises ArgumentError if a copy of it takes too much."""

    def __init__(self, scene: Scene):
        ranges = [*_arrays(scene), *_variables(scene)]
        need = sum(size for _, size in ranges)
        if need > memory_limit() // 4:
            raise ArgumentError(
                f"{scene.launch.compiled.name}: to run it again a copy of its arrays is needed, "
                f"{in_units(need)}, too much of the {in_units(memory_limit())} that are allowed ({MEMORY})"
            )
        self._parts = [(address, ctypes.string_at(address, size)) for address, size in ranges]
        self._heap = scene.heap
        self._saved = scene.heap.save()

    def restore(self) -> None:
        """Put everything back."""
        for address, content in self._parts:
            ctypes.memmove(address, content, len(content))
        self._heap.restore(self._saved)


def _arrays(scene: Scene) -> list[tuple[int, int]]:
    """Host address and bytes of what the launch may write."""
    allocations = [one.allocation for one in scene.laid.placed]
    return [(one.address, one.nbytes) for one in allocations if one.nbytes and not one.readonly]


def _variables(scene: Scene) -> list[tuple[int, int]]:
    words = scene.prepared.module.words
    if scene.launch.resident is not None:
        words = scene.launch.resident.lay_out().with_variables(words)
    rows = [words[start : start + RANGE_WORDS] for start in range(0, len(words), RANGE_WORDS)]
    return [(base + delta, size) for base, size, delta, permissions in rows if permissions & WRITE and size]
