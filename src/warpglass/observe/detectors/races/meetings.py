"""Whether blocks on several threads have met: in a rehearsal each thread has shadow memory of its own.

Blocks of one thread are tested against each other as they run. Those of two threads meet in a place that one
of them has written and the other has accessed, unless all accesses of both are atomic or volatile ones that
the whole grid sees. In kernels without fences, which order blocks by values, two blocks that meet race; the
launch is then run again on one thread, which says who did (engine/cpu/rehearsal.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....codegen.context import OK, RANGE_WORDS
from ....engine.cpu.crew import LONGEST
from ....engine.cpu.reached import changed_in_place
from ....engine.cpu.thread_pool import POOL
from .. import layout
from ..arena import PAGE
from ..detector import Watched
from ..intrinsics import load, load_byte, store
from ..native import exported, inlined, native, run
from ..region_rows import line_count
from .access_sets import set_of
from .shadow_lines import places_in, stamp_at

_AT_ONCE = 64  # lines of which one word says something, all in one page
_APART = 8  # words between the answers of two threads: a line of the processor's cache
_PART = 1 << 12  # lines that are worth another thread


@inlined
def _words(rows, number, which, line):
    """The address of a thread's words from a line on; `rows` has those of each one's row of the region."""
    return load(load(rows + 8 * number) + 8 * which) + 8 * line


@native
def _lines_with_some(words, count):
    """A bit for each of some lines that have stamps, by their words."""
    found = 0
    for line in range(count):
        found |= (load(words + 8 * line) != 0) << line
    return found


@native
def _is_for_all(row, place):
    """Whether all accesses of a place that a thread remembers are atomic or volatile, for the whole grid."""
    for which in (layout.WRITES, layout.EARLIER_WRITES, layout.READS):
        stamp = stamp_at(row, which, place)
        if stamp != 0 and stamp & layout.STRENGTHS in (layout.PLAIN, layout.BLOCK_ATOMIC):
            return False
    for which in (layout.LANE_READS, layout.OTHER_READS, layout.FAR_READS):
        stamp = stamp_at(row, which, place)
        if stamp != 0 and stamp & layout.STRENGTHS in (layout.PLAIN, layout.BLOCK_ATOMIC):
            return False
    here = set_of(row, place)
    return here == 0 or load(here + layout.SET_OTHERS) == 0


@native
def _meet_in_line(rows, count, line):
    """Whether blocks of two threads meet in a line."""
    accessed, written, met = 0, 0, 0
    for number in range(count):
        wrote = places_in(load(_words(rows, number, layout.WRITES, line)))
        touched = wrote | places_in(load(_words(rows, number, layout.READS, line)))
        met |= (accessed & wrote) | (written & touched)
        accessed, written = accessed | touched, written | wrote
    for place in range(layout.LINE if met != 0 else 0):
        if (met >> place) & 1 != 0:
            for number in range(count):
                if not _is_for_all(load(rows + 8 * number), (line << layout.LINE_SHIFT) + place):
                    return True
    return False


@native
def _lines_of_several(rows, count, first, lines, pages):
    """A bit for each of some lines that one thread has written and another has accessed."""
    accessed, written, met = 0, 0, 0
    for number in range(count):
        wrote = _lines_of_one(rows, number, layout.WRITES, first, lines, load(pages + 16 * number))
        touched = wrote | _lines_of_one(
            rows, number, layout.READS, first, lines, load(pages + 16 * number + 8)
        )
        met |= (accessed & wrote) | (written & touched)
        accessed, written = accessed | touched, written | wrote
    return met


@native
def _lines_of_one(rows, number, which, first, lines, used):
    """A bit for each of some lines of which a thread has stamps of a kind; `used` says of which pages."""
    if load_byte(used + first // PAGE) == 0:
        return 0
    return _lines_with_some(_words(rows, number, which, first), lines)


@exported
def find_meeting(found, rows, count, first, last, pages):
    """Put 1 where `found` says if blocks meet in one of some lines of a region.

    `pages` has by thread the addresses of a byte for each page of WRITES and of READS, 0 if it is not used.
    """
    for start in range(first, last, _AT_ONCE):
        lines = min(_AT_ONCE, last - start)
        several = _lines_of_several(rows, count, start, lines, pages)
        for line in range(lines if several != 0 else 0):
            if (several >> line) & 1 != 0 and _meet_in_line(rows, count, start + line):
                store(found, 1)
                return


@dataclass(frozen=True, slots=True)
class _Region:
    """A region as its threads have it."""

    rows: np.ndarray  # addresses of their rows
    pages: np.ndarray  # addresses of what `find_meeting` wants to know of their pages
    lines: int
    kept: object  # what the addresses lead to

    def meets(self) -> bool:
        """Whether blocks of two threads meet in it."""
        groups = -(-self.lines // _AT_ONCE)
        parts = min(self.rows.size, 1 + self.lines // _PART)
        found = np.zeros(parts * _APART, np.int64)

        def look(part: int) -> int:
            first, last = groups * part // parts * _AT_ONCE, groups * (part + 1) // parts * _AT_ONCE
            given = (
                self.rows.ctypes.data,
                self.rows.size,
                first,
                min(last, self.lines),
                self.pages.ctypes.data,
            )
            run(find_meeting, found.ctypes.data + 8 * _APART * part, *given)
            return OK

        if parts == 1:
            look(0)
        else:
            POOL.run(look, parts, lambda: None, LONGEST)
        return bool(found.any())


def have_met(watched: Watched) -> bool:
    """Whether blocks of different threads meet anywhere; the pool's lock is held."""
    memory, scene = watched.memory, watched.begun.scene
    in_place = changed_in_place(scene)
    read = None if in_place is None else {scene.ranges[row * RANGE_WORDS] for row in in_place}
    for number in range(layout.MODULE_REGION, len(memory.tables[0])):
        rows = [table[number] for table in memory.tables]
        base = int(rows[0][layout.BASE])
        if not rows[0][layout.SIZE] or rows[0][layout.ONLY_READ]:
            continue
        used = [[memory.used_pages(row, which) for which in (layout.WRITES, layout.READS)] for row in rows]
        if read is not None and number >= layout.FIRST_ARRAY and base not in read:  # where loads do not lead
            used = [[wrote, np.zeros_like(wrote)] for wrote, _ in used]
        pages = np.array([[one.ctypes.data for one in pair] for pair in used], np.int64)
        addresses = np.array([row.ctypes.data for row in rows], np.int64)
        if _Region(addresses, pages, line_count(rows[0]), (rows, used)).meets():
            return True
    return False
