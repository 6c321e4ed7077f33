"""The regions of a launch: rows of the table that native functions find them by (layout.py).

Belongs here: what a row says of its memory, and how much room the words of its lines take. Where the room is,
each worker has its own mind (shadow_memory.py): rows have distances from its start in place of addresses.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...codegen.context import GLOBAL_BASE, MODULE_BASE, SHARED_WINDOW, SLOT
from ...engine.cpu.backend import Begun
from ...engine.cpu.worker import Worker
from . import layout
from .arena import aligned

SHADOWS = (
    layout.WRITES,
    layout.EARLIER_WRITES,
    layout.READS,
    layout.LANE_READS,
    layout.OTHER_READS,
    layout.FAR_READS,
    layout.SETS,
)
_HEAP_SPAN = 1 << 30


class RegionRows:
    """Rows one after the other, and the `room` in words that their lines take together."""

    def __init__(self) -> None:
        self.rows: list[np.ndarray] = []
        self.room = 0

    def add(self, base: int, size: int, delta: int, granule: int) -> np.ndarray:
        """A row for more memory, of which nothing was written."""
        row = np.zeros(layout.REGION_WORDS, np.int64)
        row[[layout.BASE, layout.SIZE, layout.DELTA, layout.SHIFT]] = base, size, delta, granule
        row[layout.START] = base
        for which in SHADOWS:
            self.room = aligned(self.room, line_count(row))
            row[which] = 8 * self.room
            self.room += line_count(row)
        self.rows.append(row)
        return row

    def at(self, words: np.ndarray) -> np.ndarray:
        """The rows for those whose lines' words are there."""
        table = np.array(self.rows, np.int64)
        table[:, SHADOWS] += words.ctypes.data
        return table


def line_count(row: np.ndarray) -> int:
    """The lines of a region."""
    return (int(row[layout.SIZE]) >> int(row[layout.SHIFT]) >> layout.LINE_SHIFT) + 1


def rows_of_grid(begun: Begun, granule: int, near: int, fresh: Mapping[int, np.ndarray | None]) -> RegionRows:
    """What blocks share: module variables, the heap, allocations, and a cluster's memory.

    The `fresh` allocations are those of which nobody has written all, with a bit for each byte that is.
    """
    found = RegionRows()
    scene = begun.scene
    found.add(MODULE_BASE, _module_size(begun), 0, granule)
    # The addresses that malloc gives first in this launch, unwritten; later ones are not watched.
    heap = found.add(scene.heap.next, _HEAP_SPAN if scene.prepared.allocates else 0, 0, granule)
    heap[layout.FRESH] = 1
    for number, one in enumerate(scene.laid.placed):
        row = found.add(one.base, one.allocation.nbytes, one.allocation.address - one.base, granule)
        row[layout.FRESH] = int(number in fresh)
        defined = fresh.get(number)
        if defined is not None:
            row[layout.DEFINED] = defined.ctypes.data
    if scene.prepared.facts.clustered:  # the shared memory of a cluster's blocks, by rank
        for rank, worker in enumerate(begun.workers):
            base = SHARED_WINDOW + (rank + 1 << layout.RANK_SHIFT)
            row = found.add(base, begun.shared, shared_address(worker) - base, near)
            row[layout.FRESH] = 1
    return found


def row_of_block(begun: Begun, granule: int) -> RegionRows:
    """A block's own shared memory; where it is, its worker says."""
    found = RegionRows()
    row = found.add(0, begun.shared, 0, granule)
    row[layout.START], row[layout.FRESH] = SHARED_WINDOW, 1
    return found


def shared_address(worker: Worker) -> int:
    """Where a worker has the shared memory of its blocks."""
    return int(worker.context[SLOT["shared"]])


def _module_size(begun: Begun) -> int:
    """One region is for all module variables."""
    words = begun.scene.prepared.module.words
    ends = [base + size for base, size in zip(words[::4], words[1::4], strict=True)]
    size = max(ends, default=MODULE_BASE) - MODULE_BASE
    assert size < GLOBAL_BASE - MODULE_BASE
    return size


def granules(begun: Begun) -> dict[str, int]:
    """The bytes (log2) that all accesses to a state space are multiples of, up to 8."""
    least = {"shared": 3, "global": 3}
    for site in begun.scene.executable.code.sites:
        for space in (site.space,) if site.space in least else tuple(least):
            if site.space in (*least, "generic"):
                least[space] = min(least[space], max(0, site.size.bit_length() - 1))
    return least
