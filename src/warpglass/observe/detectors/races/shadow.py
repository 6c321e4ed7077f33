"""Shadow memory: who wrote and who read every place last, and the test whether an access races with them.

Each place (`SHIFT` bytes, log2) of a region has six stamps: the last writer, one before it that a strong
write did not wait for, the last reader, another lane of that reader's warp, the last reader of another warp
or block, and one of another block than that; shadow_lines.py has them by lines. Stamps are never cleared:
those of earlier blocks count as none in shared memory, and in global memory a read that was ordered before a
write is ordered before what the write is ordered before.
"""

from __future__ import annotations

from .. import layout
from ..intrinsics import load, store
from ..native import inlined, native
from ..recorder import code_of, record, row_of, word
from ..undefined.unwritten import find_undefined
from .copies import note_copy, under_way
from .forgotten_atomics import drop_forgotten, may_forget, note_forgotten
from .happens_before import ONE_BLOCK, ONE_WARP, is_released, unordered
from .shadow_lines import put, stamp_at, where

SHARED_RACE, WARP_RACE, GLOBAL_RACE = map(code_of, ("shared-race", "warp-race", "global-race"))
READ_AFTER_WRITE, WRITE_AFTER_WRITE, WRITE_AFTER_READ = range(3)


@native
def _same_value(S, info, row, offset, other, stamp, mask, addresses, values):
    """Whether two unordered writes write the same: lanes of one instruction, or a lane and what is there."""
    size = info & 255
    if values == 0 or size > 8:
        return 0
    lane, other_lane = (stamp >> layout.LANE_SHIFT) & 31, (other >> layout.LANE_SHIFT) & 31
    bits = -1 if size == 8 else (1 << (8 * size)) - 1
    new = load(values + 8 * lane) & bits
    together = (other ^ stamp) & ~layout.LANE_MASK == 0 and (mask >> other_lane) & 1 != 0
    if together and load(addresses + 8 * other_lane) == load(addresses + 8 * lane):
        return 1 if load(values + 8 * other_lane) & bits == new else 0
    if load(row + 8 * layout.DELTA) == 0:
        return 0
    host = load(row + 8 * layout.DELTA) + load(row + 8 * layout.BASE) + (offset & ~(size - 1))
    return 1 if load(host) & bits == new else 0


@native
def _conflict(S, info, number, offset, other, stamp, access, mask, addresses, values):
    """Record a race if an earlier access is unordered with the one now and not both are strong.

    Volatile accesses are strong, but a lane that reads what another of its warp stores relies on their steps.
    """
    scope = unordered(S, other, stamp)
    if scope == 0:
        return
    mine, theirs = stamp & layout.STRENGTHS, other & layout.STRENGTHS
    if mine != 0 and theirs != 0:
        if scope == ONE_WARP:
            volatile = mine == layout.VOLATILE and theirs == layout.VOLATILE
            if not volatile or access == WRITE_AFTER_WRITE:
                return
        elif scope == ONE_BLOCK or (mine != layout.BLOCK_ATOMIC and theirs != layout.BLOCK_ATOMIC):
            return
    if is_released(S, other, stamp):
        return
    same = 0
    if access == WRITE_AFTER_WRITE:
        same = _same_value(S, info, row_of(S, number), offset, other, stamp, mask, addresses, values)
    code = WARP_RACE if scope == ONE_WARP else SHARED_RACE if number == layout.SHARED_REGION else GLOBAL_RACE
    record(S, code | scope, stamp, other, number, offset, same, access, info & 255)


@inlined
def _fine(S, other, stamp, low, floor):
    """Whether an earlier access is none, is ordered before everything now, or is the same thread's."""
    before = other >= word(S, layout.TAG) and other < floor
    return other < low or before or ((other ^ stamp) & word(S, layout.IDENTITY)) == 0


@inlined
def _note_more(row, what):
    """Note in a region's row that READS are not all."""
    store(row + 8 * layout.MORE_READS, load(row + 8 * layout.MORE_READS) | what)


@native
def _note_read(S, row, place, stamp, low, floor):
    """Keep a reader, beside others that are to be remembered."""
    reader = stamp_at(row, layout.READS, place)
    apart = (reader ^ stamp) & word(S, layout.IDENTITY)
    if reader < low or apart == 0:
        put(S, row, layout.READS, place, stamp)
    elif apart & ~layout.LANE_MASK == 0:
        # Another lane of the same warp: it stands beside the first, unless that is from before.
        if reader >> layout.TIME_SHIFT == stamp >> layout.TIME_SHIFT:
            put(S, row, layout.LANE_READS, place, stamp)
            _note_more(row, layout.SOME)
        else:
            put(S, row, layout.READS, place, stamp)
    else:
        if reader < word(S, layout.TAG) or reader >= floor:  # else who comes after this read comes after that
            other = stamp_at(row, layout.OTHER_READS, place)
            more = layout.SOME
            if reader >= word(S, layout.TAG) and low <= other < word(S, layout.TAG):
                put(S, row, layout.FAR_READS, place, other)  # no barrier of this block orders it
                more = layout.SOME | layout.FAR
            put(S, row, layout.OTHER_READS, place, reader)
            _note_more(row, more)
        put(S, row, layout.READS, place, stamp)


@native
def _check_readers(S, info, number, at, place, stamp, low, floor, mask, addresses, values):
    """A write against those who have read a place."""
    for which in (layout.READS, layout.LANE_READS, layout.OTHER_READS, layout.FAR_READS):
        reader = stamp_at(row_of(S, number), which, place)
        if not _fine(S, reader, stamp, low, floor):
            _conflict(S, info, number, at, reader, stamp, WRITE_AFTER_READ, mask, addresses, values)


@native
def _check_earlier_writer(S, info, number, at, place, stamp, low, floor, mask, addresses, values):
    """An access against the write before the last, where one of the three is strong.

    Strong writes of two threads do not race, so the last is not all that a plain access may race with.
    Of several before it a plain one is kept, else the first; no strong one that a thread has met.
    """
    row, write = row_of(S, number), (info >> layout.WRITE_FIELD) & 1
    earlier = stamp_at(row, layout.EARLIER_WRITES, place)
    if not _fine(S, earlier, stamp, low, floor):
        access = WRITE_AFTER_WRITE if write != 0 else READ_AFTER_WRITE
        _conflict(S, info, number, at, earlier, stamp, access, mask, addresses, values)
    if write == 0:
        return
    writer = stamp_at(row, layout.WRITES, place)
    if writer >= low and writer & layout.STRENGTHS == 0 and not (word(S, layout.TAG) <= writer < floor):
        put(S, row, layout.EARLIER_WRITES, place, writer)
    elif earlier & layout.STRENGTHS != 0 or earlier < low or word(S, layout.TAG) <= earlier < floor:
        if (info >> layout.MET_FIELD) & 1 != 0:
            put(S, row, layout.EARLIER_WRITES, place, 0)
        elif earlier < low or unordered(S, earlier, stamp) == 0 or is_released(S, earlier, stamp):
            put(S, row, layout.EARLIER_WRITES, place, writer)


@native
def touch(S, info, number, offset, stamp, mask, addresses, values):
    """One lane's access, place by place."""
    size = info & 255
    write, update = (info >> layout.WRITE_FIELD) & 1, (info >> layout.UPDATE_FIELD) & 1
    row = row_of(S, number)
    base, shift = load(row + 8 * layout.BASE), load(row + 8 * layout.SHIFT)
    low = 1 if number != layout.SHARED_REGION else word(S, layout.TAG)
    floor = word(S, layout.FLOORS + ((stamp >> layout.WARP_SHIFT) & 31))
    agreed = 0
    # Only where nothing but barriers for all of a block order threads.
    forgets = word(S, layout.ASK) == 0 and word(S, layout.COUNTED) == 0
    forgets = forgets and write != 0 and stamp & 3 >= layout.ATOMIC and (info >> layout.MET_FIELD) & 1 == 0
    for step in range(((offset + size - 1) >> shift) - (offset >> shift) + 1):
        at = offset + (step << shift)
        place = at >> shift
        until = may_forget(S, row, place, stamp, low, floor) if forgets else 0
        agreed = until if step == 0 or agreed == until else 0
        if until != 0:
            continue
        drop_forgotten(S, base + (place << shift))
        writer = stamp_at(row, layout.WRITES, place)
        if writer < low:
            if load(row + 8 * layout.FRESH) & (1 - write | update) != 0:
                find_undefined(S, info, number, offset, at, shift, stamp)
        elif not _fine(S, writer, stamp, low, floor) or (writer != stamp and under_way(S, writer)):
            access = WRITE_AFTER_WRITE if write != 0 else READ_AFTER_WRITE
            _conflict(S, info, number, at, writer, stamp, access, mask, addresses, values)
        if (stamp | writer) & layout.STRENGTHS != 0:
            _check_earlier_writer(S, info, number, at, place, stamp, low, floor, mask, addresses, values)
        if write == 0:
            _note_read(S, row, place, stamp, low, floor)
            continue
        if stamp_at(row, layout.READS, place) >= low:
            _check_readers(S, info, number, at, place, stamp, low, floor, mask, addresses, values)
        put(S, row, layout.WRITES, place, stamp)
        if (info >> layout.COPY_FIELD) & 1 != 0:
            note_copy(S, where(S, row, layout.WRITES, place), stamp)
    if agreed != 0 and size <= 8 and number != layout.HEAP_REGION:  # whose addresses are reused
        note_forgotten(S, base + offset, agreed)
