"""Accesses that the compiled detectors look at: into the journal or, place by place, by stamps.

Here the two ways of knowing what a block did in shared memory (journal.py, shadow.py)
meet: what is in the journal can be turned into stamps, in the order in which it came, and what stamps say of
written bytes into the journal's bits.
"""

from __future__ import annotations

from .. import layout
from ..intrinsics import load, store
from ..native import exported, native
from ..recorder import row_of, set_word, word
from ..regions import region_of
from ..undefined.unwritten import find_undefined
from . import journal
from .shadow import touch
from .shadow_lines import line_of, put, stamp_at


@exported
def access(S, info, mask, warp, addresses, values):
    """The lanes of a mask are about to access memory."""
    size, space = info & 255, (info >> layout.SPACE_FIELD) & 3
    if (info >> layout.VALUE_FIELD) & 1 == 0:
        values = 0
    first = _stamp(S, info, warp)
    for lane in range(layout.LANES):
        if (mask >> lane) & 1 == 0:
            continue
        address = load(addresses + 8 * lane)
        number = region_of(S, space, address)
        if number < 0:
            continue
        if number == layout.SHARED_REGION:
            address &= layout.WITHIN_WINDOW
            if journal.is_open(S):
                close(S)
        region = row_of(S, number)
        offset = address - load(region + 8 * layout.BASE)
        if offset < 0 or offset + size > load(region + 8 * layout.SIZE):
            continue
        if load(region + 8 * layout.ONLY_READ) != 0:
            if (info >> layout.WRITE_FIELD) & 1 == 0:
                continue
            _remember(S, region)
        touch(S, info, number, offset, first | lane << layout.LANE_SHIFT, mask, addresses, values)


@native
def _stamp(S, info, warp):
    """The stamp of an access without the lane."""
    place, strength = (
        (info >> layout.PLACE_FIELD) & (layout.PLACES - 1),
        (info >> layout.STRENGTH_FIELD) & layout.STRENGTHS,
    )
    time = word(S, layout.TIMES + warp)
    return (
        word(S, layout.TAG)
        | time << layout.TIME_SHIFT
        | warp << layout.WARP_SHIFT
        | place << layout.PLACE_SHIFT
        | strength
    )


@native
def _remember(S, row):
    """A store has led to what was thought to be only read: look at all that comes."""
    store(row + 8 * layout.ONLY_READ, 0)
    set_word(S, layout.SURPRISED, 1)
    for kind in range(layout.PASS_WORDS):
        store(word(S, layout.PASSES) + 8 * kind, 0)


# ---------------------------------------------------------------------------------------- into the journal
@exported
def defer(S, info, mask, warp, addresses, values):
    """A plain access of shared memory goes into the journal if it meets nothing there."""
    if not _entered(S, info, mask, warp, addresses):
        access(S, info, mask, warp, addresses, values)


@native
def _entered(S, info, mask, warp, addresses):
    size, space, write = info & 255, (info >> layout.SPACE_FIELD) & 3, (info >> layout.WRITE_FIELD) & 1
    one = layout.READ_LIST if write == 0 else layout.WRITE_LIST
    if not journal.is_open(S) or word(S, one + layout.LIST_COUNT) == layout.LIST_SLOTS:
        return False
    low, high = _hull(S, size, space, mask, addresses)
    if high > word(S, layout.JOURNAL_SIZE):
        return False
    stamp = _stamp(S, info, warp)
    apart = journal.mark(S, size, mask, addresses)
    if journal.meets(S, layout.WRITE_LIST, warp, low, high):
        return False
    if write != 0 and (not apart or journal.meets(S, layout.READ_LIST, warp, low, high)):
        return False
    for lane in range(layout.LANES):
        if (mask >> lane) & 1 != 0:
            offset = load(addresses + 8 * lane) & layout.WITHIN_WINDOW
            if write != 0:
                journal.set_written(S, offset, size)
            elif not journal.is_written(S, offset, size):
                _find_unwritten(S, info, offset, stamp | lane << layout.LANE_SHIFT)
    journal.enter(S, one, info, stamp, mask, addresses, low, high)
    return True


@native
def _hull(S, size, space, mask, addresses):
    """The lowest byte of an access of shared memory and the end of its highest; NOWHERE for others."""
    low, high = word(S, layout.JOURNAL_SIZE), 0
    for lane in range(layout.LANES):
        if (mask >> lane) & 1 != 0:
            address = load(addresses + 8 * lane)
            offset = address & layout.WITHIN_WINDOW
            if region_of(S, space, address) != layout.SHARED_REGION or offset & (size - 1) != 0:
                return 0, layout.NOWHERE
            low, high = min(low, offset), max(high, offset + size)
    return low, high


@native
def _find_unwritten(S, info, offset, stamp):
    """A lane reads places some of which the block has not written."""
    shift = load(row_of(S, layout.SHARED_REGION) + 8 * layout.SHIFT)
    for at in range(offset, offset + (info & 255), 1 << shift):
        if not journal.is_written(S, at, 1):
            find_undefined(S, info, layout.SHARED_REGION, offset, at, shift, stamp)


# ---------------------------------------------------------------------------------------- into stamps
@native
def close(S):
    """From now to the next barrier stamps say what is in shared memory: those of the journal's entries."""
    set_word(S, layout.JOURNAL_LIMIT, 0)
    region = row_of(S, layout.SHARED_REGION)
    if not journal.is_first(S):
        _stamp_written(S, region)
    fresh = load(region + 8 * layout.FRESH)
    store(region + 8 * layout.FRESH, 0)  # what was not written has been found
    reads, writes = 0, 0
    while reads + writes < word(S, layout.READ_LIST + layout.LIST_COUNT) + word(
        S, layout.WRITE_LIST + layout.LIST_COUNT
    ):
        one = journal.earlier(S, reads, writes)
        if one == layout.READ_LIST:
            _replay(S, journal.entry_at(S, one, reads))
            reads += 1
        else:
            _replay(S, journal.entry_at(S, one, writes))
            writes += 1
    store(region + 8 * layout.FRESH, fresh)


@native
def _replay(S, entry):
    info, mask = load(entry + 8 * layout.ENTRY_INFO), load(entry + 8 * layout.ENTRY_MASK)
    for lane in range(layout.LANES):
        if (mask >> lane) & 1 != 0:
            stamp = load(entry + 8 * layout.ENTRY_STAMP) | lane << layout.LANE_SHIFT
            touch(S, info, layout.SHARED_REGION, journal.lane_offset(entry, lane), stamp, mask, 0, 0)


@native
def _stamp_written(S, region):
    """Give what earlier intervals have written, and nothing says so, the time when the block began."""
    shift, tag = load(region + 8 * layout.SHIFT), word(S, layout.TAG)
    places = word(S, layout.JOURNAL_SIZE) >> shift
    for first in range(0, places, layout.LINE):
        count = min(layout.LINE, places - first)
        at = line_of(region, layout.WRITES, first)
        if 0 <= load(at) < tag and journal.is_written(S, first << shift, count << shift):
            store(at, tag | layout.EACH_LANE << layout.LANE_SHIFT)
            continue
        for place in range(first, first + count):
            if stamp_at(region, layout.WRITES, place) < tag and journal.is_written(S, place << shift, 1):
                put(S, region, layout.WRITES, place, tag)


@exported
def reopen(S, time):
    """A new interval begins behind one that had stamps: its journal knows what was written."""
    region = row_of(S, layout.SHARED_REGION)
    shift, tag = load(region + 8 * layout.SHIFT), word(S, layout.TAG)
    for place in range(word(S, layout.JOURNAL_SIZE) >> shift):
        if stamp_at(region, layout.WRITES, place) >= tag:
            journal.set_written(S, place << shift, 1 << shift)
    journal.open_interval(S, time)
