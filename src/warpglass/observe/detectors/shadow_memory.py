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

from ...codegen.context import SLOT
from ...engine.cpu.backend import Begun
from . import layout
from .arena import PAGE, Arena, used_pages
from .region_rows import granules, line_count, row_of_block, rows_of_grid, shared_address

_SLAB = 1 << 20  # bytes
_PAGE = 4096


class ShadowMemory:
    """All that the native functions work on; `states` are the workers', in order."""

    def __init__(self, begun: Begun, fresh: Mapping[int, np.ndarray | None]):
        """`fresh` are the allocations of which nobody has written all, with a bit for each byte that is."""
        scene, granule, count = begun.scene, granules(begun), len(begun.workers)
        self._granule = granule["shared"]
        self._shared = begun.shared
        self._arena = Arena()
        self._kept: list[object] = [fresh]
        self._slabs: list[np.ndarray] = []  # bytes, for palettes and stamps of lines
        self._fetch = ctypes.CFUNCTYPE(*[ctypes.c_int64] * 4)(self._add_slab)
        self.findings = self._arena.zeros((layout.FINDING_SLOTS, layout.FINDING_WORDS))
        blocks = scene.launch.grid[0] * scene.launch.grid[1] * scene.launch.grid[2]
        self.block_bits = max(1, (blocks + 1).bit_length())
        self.block_shift = layout.STAMP_BITS - self.block_bits
        shape = scene.executable.shape
        far = rows_of_grid(begun, granule["global"], granule["shared"], fresh)
        near = row_of_block(begun, granule["shared"])
        self.arrays = far.rows[2 : 2 + len(scene.laid.placed)]
        several = begun.threads > 1
        # The words of lines: of what blocks share, one for each thread, and of a block's own memory.
        self._far = [self._arena.zeros(far.room) for _ in range(count if several else 1)]
        self._near = [self._arena.zeros(near.room) for _ in range(count)]
        self.states: list[np.ndarray] = []
        self.tables: list[np.ndarray] = []
        for number, worker in enumerate(begun.workers):
            shared = near.at(self._near[number])
            shared[0, layout.DELTA] = shared_address(worker)
            table = np.concatenate([shared, far.at(self._far[number if several else 0])])
            if count > 1 and not several:  # what one notes in its table, others do not see
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
            state[layout.HALT] = worker.context[SLOT["stop"]] if several else 0
            self.states.append(state)
            self.tables.append(table)

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
        """The words of an allocation's lines, of each thread that has some."""
        row = self.arrays[allocation]
        first = int(row[which]) // 8
        return [words[first : first + line_count(row)] for words in self._far]

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

    def used_pages(self, row: np.ndarray, which: int) -> np.ndarray:
        """A byte for each page of a region's words, by its row in a table: 0 where there are no stamps."""
        words = line_count(row)
        if words < PAGE:  # they share theirs with others
            return np.ones(1, np.uint8)
        address = int(row[which])
        owner = next(one for one in self._far if 0 <= address - one.ctypes.data < one.nbytes)
        first = (address - owner.ctypes.data) // 8
        return used_pages(owner[first : first + words])

    @property
    def shadow_bytes(self) -> int:
        """Shadow memory that was used: pages of lines' words, and the stamps of lines that have several."""
        pages = sum(min(one.nbytes, _PAGE * _used_pages(one)) for one in (*self._far, *self._near))
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


def _used_pages(words: np.ndarray) -> int:
    per_page = _PAGE // words.itemsize
    return int(np.count_nonzero(np.add.reduceat(words != 0, np.arange(0, words.size, per_page))))
