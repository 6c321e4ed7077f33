"""Memory of the checker for one launch: workers' states, shadow memory of what threads share, findings.

The words of lines (layout.py) are allocated whole and empty; the operating system makes only those pages of
them that are used. Memory for the stamps of lines that have more than one comes in slabs, when it is needed.

Workers that take turns on one thread share the shadow memory of what blocks share. Those of a rehearsal, on
several threads, have theirs each (races/meetings.py compares them).
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping

import numpy as np

from ...codegen.context import GLOBAL_BASE, MODULE_BASE, SHARED_WINDOW, SLOT
from ...engine.cpu.backend import Begun
from ...engine.cpu.worker import Worker
from . import layout
from .arena import Arena

_HEAP_SPAN = 1 << 30
_SLAB = 1 << 20  # bytes
_PAGE = 4096
_SHADOWS = (
    layout.WRITES,
    layout.EARLIER_WRITES,
    layout.READS,
    layout.LANE_READS,
    layout.OTHER_READS,
    layout.FAR_READS,
    layout.SETS,
)


class ShadowMemory:
    """All that the native functions work on; `states` are the workers', in order."""

    def __init__(self, begun: Begun, fresh: Mapping[int, np.ndarray | None]):
        """`fresh` are the allocations of which nobody has written all, with a bit for each byte that is."""
        scene = begun.scene
        granule = _granules(begun)
        self._granule = granule["shared"]
        self._shared = begun.shared
        self._arena = Arena()
        self._kept: list[np.ndarray] = []
        self._words: dict[int, np.ndarray] = {}  # of lines, by address
        self._slabs: list[np.ndarray] = []  # bytes, for palettes and stamps of lines
        self._fetch = ctypes.CFUNCTYPE(*[ctypes.c_int64] * 4)(self._add_slab)
        self.findings = self._arena.zeros((layout.FINDING_SLOTS, layout.FINDING_WORDS))
        blocks = scene.launch.grid[0] * scene.launch.grid[1] * scene.launch.grid[2]
        self.block_bits = max(1, (blocks + 1).bit_length())
        self.block_shift = layout.STAMP_BITS - self.block_bits
        shape = scene.executable.shape
        self.divided = begun.threads > 1
        self._fresh = fresh
        count = len(begun.workers)
        owned = [self._rows(begun, granule) for _ in range(count if self.divided else 1)]
        self.arrays = owned[0][2 : 2 + len(scene.laid.placed)]
        self._owners = [rows[2 : 2 + len(self.arrays)] for rows in owned]
        self.states: list[np.ndarray] = []
        self.tables: list[np.ndarray] = []
        for worker, rows in zip(begun.workers, owned if self.divided else owned * count, strict=True):
            shared = self._row(0, begun.shared, _shared_address(worker), granule["shared"])
            shared[layout.START], shared[layout.FRESH] = SHARED_WINDOW, 1
            table = np.array([shared, *rows], np.int64)
            if count > 1 and not self.divided:  # what one notes in its table, others do not see
                table[:, layout.MORE_READS] = layout.SOME | layout.FAR
            state = self._arena.zeros(layout.STATE_WORDS)
            state[layout.BLOCK_SHIFT] = self.block_shift
            time_bits = self.block_shift - layout.TIME_SHIFT
            state[layout.LAST_TIME] = (1 << time_bits) - 2
            state[layout.STEPS] = (1 << min(16, time_bits // 2)) - 1
            threads = ((1 << self.block_bits) - 1) << self.block_shift
            # Words of lines that are no stamps have the highest bit, and so nobody's identity.
            state[layout.IDENTITY] = (threads | 1023 << layout.LANE_SHIFT) - (1 << 63)
            state[layout.FETCH] = ctypes.cast(self._fetch, ctypes.c_void_p).value or 0
            state[layout.REGIONS] = table.ctypes.data
            state[layout.REGION_COUNT] = layout.FIRST_ARRAY + len(self.arrays)
            state[layout.FINDINGS] = self.findings.ctypes.data
            state[layout.WARP_COUNT] = shape.warps
            state[layout.BLOCK] = -1
            self.states.append(state)
            self.tables.append(table)

    def _rows(self, begun: Begun, granule: Mapping[str, int]) -> list[np.ndarray]:
        """The regions of what blocks share: module variables, the heap, allocations, a cluster's memory."""
        rows = [self._module_row(begun, granule["global"]), self._heap_row(begun, granule["global"])]
        for number, one in enumerate(begun.scene.laid.placed):
            delta = one.allocation.address - one.base
            row = self._row(one.base, one.allocation.nbytes, delta, granule["global"])
            row[layout.FRESH] = int(number in self._fresh)
            defined = self._fresh.get(number)
            if defined is not None:
                self._kept.append(defined)
                row[layout.DEFINED] = defined.ctypes.data
            rows.append(row)
        return rows + self._cluster_rows(begun, granule["shared"])

    def take(self, shape: int | tuple[int, ...], type_: type = np.int64) -> int:
        """The address of zeroed memory for the launch."""
        array = self._arena.zeros(shape, type_)
        self._kept.append(array)
        return array.ctypes.data

    def add_journal(self, state: np.ndarray) -> None:
        """Room for the journal of a worker's shared memory; most of it is never touched."""
        ends = layout.LANES * layout.WIDEST // 8  # lanes that do not act may be beyond either end
        state[layout.JOURNAL_SIZE] = self._shared
        state[layout.WRITTEN] = self.take(2 * ends + self._shared // 8 + 16, np.uint8) + ends
        state[layout.MARKS] = self.take((self._shared >> self._granule) + 1)
        for one in (layout.READ_LIST, layout.WRITE_LIST):
            for word in (layout.LIST_LOWS, layout.LIST_HIGHS):
                state[one + word] = self.take(layout.LIST_SLOTS, np.int32)
            state[one + layout.LIST_ENTRIES] = self.take((layout.LIST_SLOTS, layout.ENTRY_WORDS))
            state[one + layout.LIST_ROOM] = self.take((layout.LIST_SLOTS, layout.LANES), np.int32)

    def touched(self, allocation: int, which: int) -> np.ndarray:
        """Of which places of an allocation, a granule each, stamps of a kind were ever set."""
        owners = self._lines(allocation, which)
        return np.logical_or.reduce([self._places(words) for words in owners]).ravel()

    def touched_bytes(self, allocation: int, which: int) -> tuple[np.ndarray, np.ndarray]:
        """Likewise, for lines in which some are: their numbers, and of each a bit for each of its bytes."""
        owners = self._lines(allocation, which)
        numbers = np.flatnonzero(np.logical_or.reduce([words != 0 for words in owners]))
        granule = 1 << int(self.arrays[allocation][layout.SHIFT])
        places = np.logical_or.reduce([self._places(words[numbers]) for words in owners])
        return numbers, np.packbits(np.repeat(places, granule, axis=1), axis=1, bitorder="little")

    def _lines(self, allocation: int, which: int) -> list[np.ndarray]:
        """The words of an allocation's lines, of each who has some."""
        return [self._words[int(rows[allocation][which])] for rows in self._owners]

    def _places(self, words: np.ndarray) -> np.ndarray:
        """Which places of lines have stamps, by their words."""
        found = np.repeat((words > 0)[:, None], layout.LINE, axis=1)
        mixed = words & layout.PALETTE != 0
        for slab in self._slabs:
            first = (words & layout.ADDRESS_MASK) - slab.ctypes.data
            inside = (words < 0) & (first >= 0) & (first < slab.nbytes)
            for chosen, start, itemsize in ((mixed, layout.ENTRY_BYTES, 1), (~mixed, 0, 8)):
                lines = inside & chosen
                at = first[lines, None] + (start + np.arange(layout.LINE * itemsize))
                found[lines] = slab[at].reshape(-1, layout.LINE, itemsize).any(axis=2)
        return found

    @property
    def shadow_bytes(self) -> int:
        """Shadow memory that was used: pages of lines' words, and the stamps of lines that have several."""
        pages = sum(min(one.nbytes, _PAGE * _used_pages(one)) for one in self._words.values())
        unused = sum(int(state[layout.ROOM_END] - state[layout.ROOM]) for state in self.states)
        return pages + sum(slab.nbytes for slab in self._slabs) - unused

    def _add_slab(self, address: int, _: int, __: int) -> int:
        """Bring memory for stamps to the worker whose state is at an address."""
        slab = np.empty(_SLAB, np.uint8)
        self._slabs.append(slab)
        state = next(one for one in self.states if one.ctypes.data == address)
        state[layout.ROOM] = slab.ctypes.data
        state[layout.ROOM_END] = slab.ctypes.data + slab.nbytes
        return 0

    def _module_row(self, begun: Begun, granule: int) -> np.ndarray:
        """One region for all module variables."""
        words = begun.scene.prepared.module.words
        ends = [base + size for base, size in zip(words[::4], words[1::4], strict=True)]
        size = max(ends, default=MODULE_BASE) - MODULE_BASE
        assert size < GLOBAL_BASE - MODULE_BASE
        return self._row(MODULE_BASE, size, 0, granule)

    def _cluster_rows(self, begun: Begun, granule: int) -> list[np.ndarray]:
        """Regions for the shared memory of a cluster's blocks, by rank, in kernels that name other blocks."""
        rows: list[np.ndarray] = []
        if begun.scene.prepared.facts.clustered:
            for rank, worker in enumerate(begun.workers):
                base = SHARED_WINDOW + (rank + 1 << layout.RANK_SHIFT)
                row = self._row(base, begun.shared, _shared_address(worker) - base, granule)
                row[layout.FRESH] = 1
                rows.append(row)
        return rows

    def _heap_row(self, begun: Begun, granule: int) -> np.ndarray:
        """The addresses that malloc gives first in this launch, unwritten; later ones are not watched."""
        scene = begun.scene
        row = self._row(scene.heap.next, _HEAP_SPAN if scene.prepared.allocates else 0, 0, granule)
        row[layout.FRESH] = 1
        return row

    def _row(self, base: int, size: int, delta: int, granule: int) -> np.ndarray:
        row = np.zeros(layout.REGION_WORDS, np.int64)
        row[[layout.BASE, layout.SIZE, layout.DELTA, layout.SHIFT]] = base, size, delta, granule
        row[layout.START] = base
        for which in _SHADOWS:
            words = self._arena.zeros((size >> granule >> layout.LINE_SHIFT) + 1)
            row[which] = words.ctypes.data
            self._words[words.ctypes.data] = words
        return row


def _shared_address(worker: Worker) -> int:
    return int(worker.context[SLOT["shared"]])


def _used_pages(words: np.ndarray) -> int:
    per_page = _PAGE // words.itemsize
    return int(np.count_nonzero(np.add.reduceat(words != 0, np.arange(0, words.size, per_page))))


def _granules(begun: Begun) -> dict[str, int]:
    """The bytes (log2) that all accesses to a state space are multiples of, up to 8."""
    least = {"shared": 3, "global": 3}
    for site in begun.scene.executable.code.sites:
        for space in (site.space,) if site.space in least else tuple(least):
            if site.space in (*least, "generic"):
                least[space] = min(least[space], max(0, site.size.bit_length() - 1))
    return least
