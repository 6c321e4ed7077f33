"""Whether blocks on several threads have met: in a rehearsal each thread has shadow memory of its own.

Blocks of one thread are tested against each other as they run. Those of two threads meet in a place that one
of them has written and the other has accessed, unless all accesses of both are atomic or volatile ones that
the whole grid sees. In kernels where nothing but barriers orders threads, two blocks that meet race; the
launch is then run again on one thread, which says who did (engine/cpu/rehearsal.py).
"""

from __future__ import annotations

import numpy as np

from ....codegen.context import OK, RANGE_WORDS
from ....engine.cpu.crew import LONGEST
from ....engine.cpu.reached import changed_in_place
from ....engine.cpu.thread_pool import POOL
from .. import layout
from ..detector import Watched
from ..intrinsics import load, store
from ..native import exported, inlined, native, run
from .access_sets import set_of
from .shadow_lines import places_in, stamp_at

_AT_ONCE = 64  # lines of which one word says something
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
    return set_of(row, place) == 0


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
def _lines_of_several(rows, count, first, lines, reads):
    """A bit for each of some lines that one thread has written and another has accessed."""
    accessed, written, met = 0, 0, 0
    for number in range(count):
        wrote = _lines_with_some(_words(rows, number, layout.WRITES, first), lines)
        touched = wrote
        if reads:
            touched |= _lines_with_some(_words(rows, number, layout.READS, first), lines)
        met |= (accessed & wrote) | (written & touched)
        accessed, written = accessed | touched, written | wrote
    return met


@exported
def find_meeting(found, rows, count, first, last, reads):
    """Put 1 where `found` says if blocks meet in some lines of a region; `reads`: that loads may lead there."""
    for start in range(first, last, _AT_ONCE):
        lines = min(_AT_ONCE, last - start)
        several = _lines_of_several(rows, count, start, lines, reads)
        for line in range(lines if several != 0 else 0):
            if (several >> line) & 1 != 0 and _meet_in_line(rows, count, start + line):
                store(found, 1)
                return


def have_met(watched: Watched) -> bool:
    """Whether blocks of different threads meet anywhere; the pool's lock is held."""
    tables, scene = watched.memory.tables, watched.begun.scene
    found = np.zeros(len(tables) * _APART, np.int64)
    in_place = changed_in_place(scene)
    read = None if in_place is None else {scene.ranges[row * RANGE_WORDS] for row in in_place}
    for number in range(layout.MODULE_REGION, len(tables[0])):
        row = tables[0][number]
        if not row[layout.SIZE] or row[layout.ONLY_READ]:
            continue
        rows = np.array([table[number].ctypes.data for table in tables])
        lines = (int(row[layout.SIZE]) >> int(row[layout.SHIFT]) >> layout.LINE_SHIFT) + 1
        # Words that nobody can have set are not looked at: their pages would have to be made for that.
        reads = read is None or number < layout.FIRST_ARRAY or int(row[layout.BASE]) in read
        parts = min(len(tables), 1 + lines // _PART)

        def look(
            part: int, rows: np.ndarray = rows, lines: int = lines, parts: int = parts, reads: bool = reads
        ) -> int:
            first, last = lines * part // parts, lines * (part + 1) // parts
            place = found.ctypes.data + 8 * _APART * part
            run(find_meeting, place, rows.ctypes.data, rows.size, first, last, int(reads))
            return OK

        if parts == 1:
            look(0)
        else:
            POOL.run(look, parts, lambda: None, LONGEST)
    return bool(found.any())
