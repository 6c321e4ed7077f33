"""Accesses that the compiled detectors look at: into the journal or, place by place, by stamps.

Compiled by numba. Here the two ways of knowing what a block did in shared memory (journal.py, shadow.py)
meet: what is in the journal can be turned into stamps, in the order in which it came, and what stamps say of
written bytes into the journal's bits.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from . import journal
from .layout import (
    BASE,
    EACH_LANE,
    ENTRY_INFO,
    ENTRY_MASK,
    ENTRY_STAMP,
    FRESH,
    JOURNAL_LIMIT,
    JOURNAL_SIZE,
    LANE_SHIFT,
    LANES,
    LINE,
    LIST_COUNT,
    LIST_SLOTS,
    NOWHERE,
    ONLY_READ,
    PLACE_FIELD,
    PLACE_SHIFT,
    PLACES,
    READ_LIST,
    REGION_WORDS,
    REGIONS,
    SHARED_REGION,
    SHIFT,
    SIZE,
    SPACE_FIELD,
    STRENGTH_FIELD,
    STRENGTHS,
    TAG,
    TIME_SHIFT,
    TIMES,
    VALUE_FIELD,
    WARP_SHIFT,
    WITHIN_WINDOW,
    WRITE_FIELD,
    WRITE_LIST,
    WRITES,
)
from .lines import line_of, put, stamp_at
from .machine import load, store
from .recorder import word
from .shadow import find_undefined, region_of, remember, touch


@njit(cache=True)
def access(S: Any, info: Any, mask: Any, warp: Any, addresses: Any, values: Any) -> None:
    """The lanes of a mask are about to access memory."""
    size, space = info & 255, (info >> SPACE_FIELD) & 3
    if (info >> VALUE_FIELD) & 1 == 0:
        values = 0
    first = _stamp(S, info, warp)
    for lane in range(LANES):
        if (mask >> lane) & 1 == 0:
            continue
        address = load(addresses + 8 * lane)
        number = region_of(S, space, address)
        if number < 0:
            continue
        if number == SHARED_REGION:
            address &= WITHIN_WINDOW
            if journal.is_open(S):
                close(S)
        region = word(S, REGIONS) + number * (8 * REGION_WORDS)
        offset = address - load(region + 8 * BASE)
        if offset < 0 or offset + size > load(region + 8 * SIZE):
            continue
        if load(region + 8 * ONLY_READ) != 0:
            if (info >> WRITE_FIELD) & 1 == 0:
                continue
            remember(S, region)
        touch(S, info, number, offset, first | lane << LANE_SHIFT, mask, addresses, values)


@njit(cache=True)
def _stamp(S: Any, info: Any, warp: Any) -> Any:
    """The stamp of an access without the lane."""
    place, strength = (info >> PLACE_FIELD) & (PLACES - 1), (info >> STRENGTH_FIELD) & STRENGTHS
    time = word(S, TIMES + warp)
    return word(S, TAG) | time << TIME_SHIFT | warp << WARP_SHIFT | place << PLACE_SHIFT | strength


# ---------------------------------------------------------------------------------------- into the journal
@njit(cache=True)
def defer(S: Any, info: Any, mask: Any, warp: Any, addresses: Any, values: Any) -> None:
    """A plain access of shared memory goes into the journal if it meets nothing there."""
    if not _entered(S, info, mask, warp, addresses):
        access(S, info, mask, warp, addresses, values)


@njit(cache=True)
def _entered(S: Any, info: Any, mask: Any, warp: Any, addresses: Any) -> Any:
    size, space, write = info & 255, (info >> SPACE_FIELD) & 3, (info >> WRITE_FIELD) & 1
    one = READ_LIST if write == 0 else WRITE_LIST
    if not journal.is_open(S) or word(S, one + LIST_COUNT) == LIST_SLOTS:
        return False
    low, high = _hull(S, size, space, mask, addresses)
    if high > word(S, JOURNAL_SIZE):
        return False
    stamp = _stamp(S, info, warp)
    apart = journal.mark(S, size, mask, addresses)
    if journal.meets(S, WRITE_LIST, warp, low, high):
        return False
    if write != 0 and (not apart or journal.meets(S, READ_LIST, warp, low, high)):
        return False
    for lane in range(LANES):
        if (mask >> lane) & 1 != 0:
            offset = load(addresses + 8 * lane) & WITHIN_WINDOW
            if write != 0:
                journal.set_written(S, offset, size)
            elif not journal.is_written(S, offset, size):
                _find_unwritten(S, info, offset, stamp | lane << LANE_SHIFT)
    journal.enter(S, one, info, stamp, mask, addresses, low, high)
    return True


@njit(cache=True)
def _hull(S: Any, size: Any, space: Any, mask: Any, addresses: Any) -> Any:
    """The lowest byte of an access of shared memory and the end of its highest; NOWHERE for others."""
    low, high = word(S, JOURNAL_SIZE), 0
    for lane in range(LANES):
        if (mask >> lane) & 1 != 0:
            address = load(addresses + 8 * lane)
            offset = address & WITHIN_WINDOW
            if region_of(S, space, address) != SHARED_REGION or offset & (size - 1) != 0:
                return 0, NOWHERE
            low, high = min(low, offset), max(high, offset + size)
    return low, high


@njit(cache=True)
def _find_unwritten(S: Any, info: Any, offset: Any, stamp: Any) -> None:
    """A lane reads places some of which the block has not written."""
    shift = load(word(S, REGIONS) + SHARED_REGION * (8 * REGION_WORDS) + 8 * SHIFT)
    for at in range(offset, offset + (info & 255), 1 << shift):
        if not journal.is_written(S, at, 1):
            find_undefined(S, info, SHARED_REGION, offset, at, shift, stamp)


# ---------------------------------------------------------------------------------------- into stamps
@njit(cache=True)
def close(S: Any) -> None:
    """From now to the next barrier stamps say what is in shared memory: those of the journal's entries."""
    store(S + 8 * JOURNAL_LIMIT, 0)
    region = word(S, REGIONS) + SHARED_REGION * (8 * REGION_WORDS)
    if not journal.is_first(S):
        _stamp_written(S, region)
    fresh = load(region + 8 * FRESH)
    store(region + 8 * FRESH, 0)  # what was not written has been found
    reads, writes = 0, 0
    while reads + writes < word(S, READ_LIST + LIST_COUNT) + word(S, WRITE_LIST + LIST_COUNT):
        one = journal.earlier(S, reads, writes)
        if one == READ_LIST:
            _replay(S, journal.entry_at(S, one, reads))
            reads += 1
        else:
            _replay(S, journal.entry_at(S, one, writes))
            writes += 1
    store(region + 8 * FRESH, fresh)


@njit(cache=True)
def _replay(S: Any, entry: Any) -> None:
    info, mask = load(entry + 8 * ENTRY_INFO), load(entry + 8 * ENTRY_MASK)
    for lane in range(LANES):
        if (mask >> lane) & 1 != 0:
            stamp = load(entry + 8 * ENTRY_STAMP) | lane << LANE_SHIFT
            touch(S, info, SHARED_REGION, journal.lane_offset(entry, lane), stamp, mask, 0, 0)


@njit(cache=True)
def _stamp_written(S: Any, region: Any) -> None:
    """Give what earlier intervals have written, and nothing says so, the time when the block began."""
    shift, tag = load(region + 8 * SHIFT), word(S, TAG)
    places = word(S, JOURNAL_SIZE) >> shift
    for first in range(0, places, LINE):
        count = min(LINE, places - first)
        at = line_of(region, WRITES, first)
        if 0 <= load(at) < tag and journal.is_written(S, first << shift, count << shift):
            store(at, tag | EACH_LANE << LANE_SHIFT)
            continue
        for place in range(first, first + count):
            if stamp_at(region, WRITES, place) < tag and journal.is_written(S, place << shift, 1):
                put(S, region, WRITES, place, tag)


@njit(cache=True)
def reopen(S: Any, time: Any) -> None:
    """A new interval begins behind one that had stamps: its journal knows what was written."""
    region = word(S, REGIONS) + SHARED_REGION * (8 * REGION_WORDS)
    shift, tag = load(region + 8 * SHIFT), word(S, TAG)
    for place in range(word(S, JOURNAL_SIZE) >> shift):
        if stamp_at(region, WRITES, place) >= tag:
            journal.set_written(S, place << shift, 1 << shift)
    journal.open_interval(S, time)
