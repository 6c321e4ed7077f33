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
from ..regions import is_of_rank
from ..undefined.unwritten import find_undefined
from .access_sets import drop_set, empty, forget, remember, set_of, stands_for
from .chained_updates import note_updates, settle_updates
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
    code = WARP_RACE
    if scope != ONE_WARP:
        shared = number == layout.SHARED_REGION or is_of_rank(S, number)
        code = SHARED_RACE if shared else GLOBAL_RACE
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
def _replace(S, number, which, place, stamp):
    """Put a reader where another was, which is kept elsewhere if it is weaker."""
    row = row_of(S, number)
    before = stamp_at(row, which, place)
    low = 1 if number != layout.SHARED_REGION else word(S, layout.TAG)
    if before >= low and stamp & layout.STRENGTHS not in (layout.PLAIN, before & layout.STRENGTHS):
        remember(S, row, place, before, 0, number == layout.SHARED_REGION)
    put(S, row, which, place, stamp)


@native
def _note_read(S, number, place, stamp, low, floor):
    """Keep a reader, beside others that are to be remembered where only barriers order threads.

    Whatever races with one that is dropped races with one of those that are kept.
    """
    row = row_of(S, number)
    reader = stamp_at(row, layout.READS, place)
    apart = (reader ^ stamp) & word(S, layout.IDENTITY)
    if reader < low or apart == 0:
        _replace(S, number, layout.READS, place, stamp)
    elif apart & ~layout.LANE_MASK == 0:
        # Another lane of the same warp: it stands beside the first, unless that is from before.
        if reader >> layout.TIME_SHIFT == stamp >> layout.TIME_SHIFT:
            _replace(S, number, layout.LANE_READS, place, stamp)
            _note_more(row, layout.SOME)
        else:
            _replace(S, number, layout.READS, place, stamp)
    else:
        if reader < word(S, layout.TAG) or reader >= floor:  # else who comes after this read comes after that
            other = stamp_at(row, layout.OTHER_READS, place)
            more = layout.SOME
            if reader >= word(S, layout.TAG) and low <= other < word(S, layout.TAG):
                _replace(S, number, layout.FAR_READS, place, other)  # no barrier of this block orders it
                more = layout.SOME | layout.FAR
            _replace(S, number, layout.OTHER_READS, place, reader)
            _note_more(row, more)
        _replace(S, number, layout.READS, place, stamp)


@native
def _check_readers(S, info, number, at, place, stamp, low, floor, mask, addresses, values):
    """A write against those who have read a place."""
    for which in (layout.READS, layout.LANE_READS, layout.OTHER_READS, layout.FAR_READS):
        reader = stamp_at(row_of(S, number), which, place)
        if not _fine(S, reader, stamp, low, floor):
            _conflict(S, info, number, at, reader, stamp, WRITE_AFTER_READ, mask, addresses, values)


@native
def _check_earlier_writer(S, info, number, at, place, stamp, low, floor, mask, addresses, values):
    """An access against the strong write before the last, where only barriers order threads.

    Strong writes of two threads do not race, so the last is not all that a plain access may race with. Of
    several before it the first is kept, none that a thread has met.
    """
    row, write = row_of(S, number), (info >> layout.WRITE_FIELD) & 1
    earlier = stamp_at(row, layout.EARLIER_WRITES, place)
    if not _fine(S, earlier, stamp, low, floor):
        access = WRITE_AFTER_WRITE if write != 0 else READ_AFTER_WRITE
        _conflict(S, info, number, at, earlier, stamp, access, mask, addresses, values)
    writer = stamp_at(row, layout.WRITES, place)
    if write == 0 or writer & layout.STRENGTHS == 0:
        return
    if (info >> layout.MET_FIELD) & 1 != 0:
        put(S, row, layout.EARLIER_WRITES, place, 0)
    elif earlier < low or unordered(S, earlier, stamp) == 0:
        put(S, row, layout.EARLIER_WRITES, place, writer)


@native
def _check_set(S, info, number, at, place, stamp, here, mask, addresses, values):
    """An access against those in its line's set that it may race with."""
    write, atomic = (info >> layout.WRITE_FIELD) & 1, stamp & layout.STRENGTHS == layout.ATOMIC
    for field in (layout.SET_OTHERS, layout.SET_ATOMIC):
        if field == layout.SET_ATOMIC and atomic:
            continue
        one = load(here + field)
        while one != 0:
            other, what = load(one + layout.MEMBER_STAMP), load(one + layout.MEMBER_PLACE)
            wrote = what & layout.SET_WRITE
            if what & (layout.LINE - 1) == place & (layout.LINE - 1) and wrote | write != 0:
                access = (
                    WRITE_AFTER_READ if wrote == 0 else READ_AFTER_WRITE if write == 0 else WRITE_AFTER_WRITE
                )
                _conflict(S, info, number, at, other, stamp, access, mask, addresses, values)
            one = load(one)


@native
def _keep_displaced(S, info, number, place, stamp, which):
    """Before an access takes the place of one of its kind: that goes to the set if it is still needed."""
    row, is_shared = row_of(S, number), number == layout.SHARED_REGION
    low = 1 if not is_shared else word(S, layout.TAG)
    before = stamp_at(row, which, place)
    met = which == layout.WRITES and (info >> layout.MET_FIELD) & 1 != 0 and before & layout.STRENGTHS != 0
    if before >= low and not met and not stands_for(S, stamp, before):
        remember(S, row, place, before, 1 if which == layout.WRITES else 0, is_shared)


@native
def _note_write(S, info, number, place, stamp, low):
    """Before a write takes the place of another: what of the line's set and of that is still needed."""
    row = row_of(S, number)
    here = set_of(row, place)
    strength = stamp & layout.STRENGTHS
    if strength == layout.PLAIN:  # all before it is ordered, or has been reported
        if here != 0:
            forget(S, here, place, False)
            if load(here + layout.SET_COUNT) == 0:
                drop_set(S, row, place)
        return
    if here != 0 and (info >> layout.MET_FIELD) & 1 != 0:
        forget(S, here, place, True)
    writer = stamp_at(row, layout.WRITES, place)
    if word(S, layout.EXACT) != 0:
        _keep_displaced(S, info, number, place, stamp, layout.WRITES)
    elif (
        writer >= low
        and writer & layout.STRENGTHS == layout.PLAIN
        and not (
            number == layout.SHARED_REGION
            and writer < word(S, layout.FLOORS + ((stamp >> layout.WARP_SHIFT) & 31))
        )
    ):
        remember(S, row, place, writer, 1, number == layout.SHARED_REGION)


@native
def _check_writer(S, info, number, at, writer, stamp, low, floor, mask, addresses, values):
    """An access against the last writer."""
    if not _fine(S, writer, stamp, low, floor) or (writer != stamp and under_way(S, writer)):
        access = WRITE_AFTER_WRITE if (info >> layout.WRITE_FIELD) & 1 != 0 else READ_AFTER_WRITE
        _conflict(S, info, number, at, writer, stamp, access, mask, addresses, values)


@native
def touch(S, info, number, offset, stamp, mask, addresses, values):
    """One lane's access, place by place."""
    size = info & 255
    write, update = (info >> layout.WRITE_FIELD) & 1, (info >> layout.UPDATE_FIELD) & 1
    row = row_of(S, number)
    base, shift = load(row + 8 * layout.BASE), load(row + 8 * layout.SHIFT)
    low = 1 if number != layout.SHARED_REGION else word(S, layout.TAG)
    floor = word(S, layout.FLOORS + ((stamp >> layout.WARP_SHIFT) & 31))
    if number == layout.SHARED_REGION and stamp & layout.STRENGTHS == layout.BLOCK_ATOMIC:
        stamp ^= layout.BLOCK_ATOMIC ^ layout.ATOMIC  # where the block is all there is
    exact, agreed = word(S, layout.EXACT), 0
    # Only where nothing but barriers for all of a block order threads.
    forgets = exact == 0 and write != 0 and stamp & 3 >= layout.ATOMIC and (info >> layout.MET_FIELD) & 1 == 0
    for step in range(((offset + size - 1) >> shift) - (offset >> shift) + 1):
        at = offset + (step << shift)
        place = at >> shift
        until = may_forget(S, row, place, stamp, low, floor) if forgets else 0
        agreed = until if step == 0 or agreed == until else 0
        if until != 0:
            continue
        if exact == 0:
            drop_forgotten(S, base + (place << shift))
        elif word(S, layout.CAUSES) != 0:
            settle_updates(S, base + (place << shift))
        writer = stamp_at(row, layout.WRITES, place)
        if writer < low:
            if load(row + 8 * layout.FRESH) & (1 - write | update) != 0:
                find_undefined(S, info, number, offset, at, shift, stamp)
        else:
            _check_writer(S, info, number, at, writer, stamp, low, floor, mask, addresses, values)
        _touch_others(S, info, number, at, place, stamp, low, floor, mask, addresses, values)
        if write == 0:
            continue
        put(S, row, layout.WRITES, place, stamp)
        if (info >> layout.COPY_FIELD) & 1 != 0:
            note_copy(S, where(S, row, layout.WRITES, place), stamp)
    if (info >> layout.CHAINED_FIELD) & 1 != 0 and exact != 0 and offset & (size - 1) == 0:
        note_updates(S, number, offset, size)
    if agreed != 0 and size <= 8 and number != layout.HEAP_REGION:  # whose addresses are reused
        note_forgotten(S, base + offset, agreed)


@native
def _touch_others(S, info, number, at, place, stamp, low, floor, mask, addresses, values):
    """An access against all but the last writer, and what of them stays."""
    row, write, exact = row_of(S, number), (info >> layout.WRITE_FIELD) & 1, word(S, layout.EXACT)
    here = set_of(row, place)
    if here != 0:
        if number == layout.SHARED_REGION and load(here + layout.SET_TAG) != low:
            empty(S, here)  # of an earlier block
        _check_set(S, info, number, at, place, stamp, here, mask, addresses, values)
    if exact == 0 and (stamp | stamp_at(row, layout.WRITES, place)) & layout.STRENGTHS != 0:
        _check_earlier_writer(S, info, number, at, place, stamp, low, floor, mask, addresses, values)
    if write != 0:
        if stamp_at(row, layout.READS, place) >= low:
            _check_readers(S, info, number, at, place, stamp, low, floor, mask, addresses, values)
        _note_write(S, info, number, place, stamp, low)
    elif exact != 0:
        _keep_displaced(S, info, number, place, stamp, layout.READS)
        put(S, row, layout.READS, place, stamp)
    else:
        _note_read(S, number, place, stamp, low, floor)
