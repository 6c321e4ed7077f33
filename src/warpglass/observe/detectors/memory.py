"""Memory of the checker for one launch: states, shadow memory, findings.

The words of lines (layout.py) are allocated whole and empty; the operating system makes only those pages of
them that are used. Memory for the stamps of lines that have more than one comes in slabs, when it is needed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ...codegen.context import GLOBAL_BASE, MODULE_BASE, SHARED_WINDOW, SLOT
from ...engine.cpu.backend import Begun
from ...engine.cpu.worker import Worker
from . import layout

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
)


class Memory:
    """All that the compiled detectors work on; `states` are the workers', in order."""

    def __init__(
        self,
        begun: Begun,
        granule: Mapping[str, int],
        fresh: Sequence[int],
        copies: Collection[int],
        *,
        follows: bool,
        journals: bool,
    ):
        """`granule` is the log2 of the bytes of a stamp by state space; `fresh` are unwritten allocations.

        `copies` are the places of asynchronous copies; `follows` says whether undefined bytes are followed,
        `journals` whether accesses of shared memory go into a journal (journal.py).
        """
        scene = begun.scene
        self._keep: list[np.ndarray] = []
        self._words: list[np.ndarray] = []  # of lines
        self._slabs: list[np.ndarray] = []  # bytes, for palettes and stamps of lines
        self._fetch = ctypes.CFUNCTYPE(*[ctypes.c_int64] * 4)(self._add_slab)
        self.findings = np.zeros((layout.FINDING_SLOTS, layout.FINDING_WORDS), np.int64)
        blocks = scene.launch.grid[0] * scene.launch.grid[1] * scene.launch.grid[2]
        self.block_bits = max(1, (blocks + 1).bit_length())
        self.block_shift = layout.STAMP_BITS - self.block_bits
        shape = scene.executable.shape
        rows = [self._module_row(begun, granule["global"]), self._heap_row(begun, granule["global"])]
        for number, one in enumerate(scene.placed):
            delta = one.allocation.address - one.base
            row = self._row(one.base, one.allocation.nbytes, delta, granule["global"])
            row[layout.FRESH] = int(number in fresh)
            rows.append(row)
        self.arrays = rows[2:]
        self.states: list[np.ndarray] = []
        self.tables: list[np.ndarray] = []
        local = -(-scene.prepared.program.local.size // 8) * 8
        for worker in begun.workers:
            shared = self._row(0, begun.shared, _shared_address(worker), granule["shared"])
            shared[layout.START], shared[layout.FRESH] = SHARED_WINDOW, 1
            table = np.array([shared, *rows], np.int64)
            if len(begun.workers) > 1:  # what one notes in its table, others do not see
                table[:, layout.MORE_READS] = layout.SOME | layout.FAR
            state = np.zeros(layout.STATE_WORDS, np.int64)
            state[layout.BLOCK_SHIFT] = self.block_shift
            time_bits = self.block_shift - layout.TIME_SHIFT
            state[layout.LAST_TIME] = (1 << time_bits) - 2
            state[layout.STEPS] = (1 << min(16, time_bits // 2)) - 1
            threads = ((1 << self.block_bits) - 1) << self.block_shift
            # Words of lines that are no stamps have the highest bit, and so nobody's identity.
            state[layout.IDENTITY] = (threads | 1023 << layout.LANE_SHIFT) - (1 << 63)
            state[layout.FETCH] = ctypes.cast(self._fetch, ctypes.c_void_p).value or 0
            state[layout.REGIONS] = table.ctypes.data
            state[layout.REGION_COUNT] = len(table)
            state[layout.FINDINGS] = self.findings.ctypes.data
            state[layout.WARP_COUNT] = shape.warps
            state[layout.BLOCK] = -1
            written = np.zeros(32 * shape.warps * local + 8, np.uint8)  # read by words
            state[layout.LOCAL], state[layout.LOCAL_SIZE] = written.ctypes.data, local
            if follows:
                shared_bytes = np.zeros(begun.shared + 8, np.uint8)
                state[layout.SHARED_BYTES] = shared_bytes.ctypes.data
                state[layout.SHARED_SIZE] = begun.shared
                self._keep.append(shared_bytes)
            stood_for = np.zeros((layout.STOOD_SLOTS, 2), np.int64)
            state[layout.STOOD_FOR] = stood_for.ctypes.data
            self._keep.append(stood_for)
            if journals:
                self._add_journal(state, begun.shared, granule["shared"])
            if copies:
                table_of_copies = np.zeros((shape.warps * layout.COPY_SLOTS, layout.COPY_WORDS), np.int64)
                uncopied = np.zeros(layout.PLACES, np.uint8)
                uncopied[list(copies)] = 1
                state[layout.COPY_TABLE] = table_of_copies.ctypes.data
                state[layout.UNCOPIED] = uncopied.ctypes.data
                self._keep += [table_of_copies, uncopied]
            self.states.append(state)
            self.tables.append(table)
            self._keep.append(written)

    def only_read(self, regions: Collection[int]) -> None:
        """Remember no reads of some regions: the launch does not write them."""
        for table in self.tables:
            table[list(regions), layout.ONLY_READ] = 1

    def _add_journal(self, state: np.ndarray, size: int, granule: int) -> None:
        """Room for the journal of so many bytes of shared memory; most of it is never touched."""
        ends = layout.LANES * layout.WIDEST // 8  # lanes that do not act may be beyond either end
        bits = np.zeros(2 * ends + size // 8 + 16, np.uint8)
        marks = np.zeros((size >> granule) + 1, np.int64)
        state[layout.JOURNAL_SIZE] = size
        state[layout.WRITTEN] = bits.ctypes.data + ends
        state[layout.MARKS] = marks.ctypes.data
        self._keep += [bits, marks]
        for one in (layout.READ_LIST, layout.WRITE_LIST):
            shapes = {
                layout.LIST_LOWS: (1, np.int32),
                layout.LIST_HIGHS: (1, np.int32),
                layout.LIST_ENTRIES: (layout.ENTRY_WORDS, np.int64),
                layout.LIST_ROOM: (layout.LANES, np.int32),
            }
            for word, (width, type_) in shapes.items():
                rows = np.empty((layout.LIST_SLOTS, width), type_)
                state[one + word] = rows.ctypes.data
                self._keep.append(rows)

    def touched(self, allocation: int, which: int) -> np.ndarray:
        """Of which places of an allocation, a granule each, stamps of a kind were ever set."""
        address = int(self.arrays[allocation][which])
        words = next(one for one in self._words if one.ctypes.data == address)
        found = np.repeat((words > 0)[:, None], layout.LINE, axis=1)
        mixed = words & layout.PALETTE != 0
        for slab in self._slabs:
            first = (words & layout.ADDRESS_MASK) - slab.ctypes.data
            inside = (words < 0) & (first >= 0) & (first < slab.nbytes)
            for chosen, start, itemsize in ((mixed, layout.ENTRY_BYTES, 1), (~mixed, 0, 8)):
                lines = inside & chosen
                at = first[lines, None] + (start + np.arange(layout.LINE * itemsize))
                found[lines] = slab[at].reshape(-1, layout.LINE, itemsize).any(axis=2)
        return found.ravel()

    @property
    def shadow_bytes(self) -> int:
        """Shadow memory that was used: pages of lines' words, and the stamps of lines that have several."""
        pages = sum(min(one.nbytes, _PAGE * _used_pages(one)) for one in self._words)
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
            words = np.zeros((size >> granule >> layout.LINE_SHIFT) + 1, np.int64)
            row[which] = words.ctypes.data
            self._words.append(words)
        return row


def _shared_address(worker: Worker) -> int:
    return int(worker.context[SLOT["shared"]])


def _used_pages(words: np.ndarray) -> int:
    per_page = _PAGE // words.itemsize
    return int(np.count_nonzero(np.add.reduceat(words != 0, np.arange(0, words.size, per_page))))
