"""The journal of an interval: what a block has read and written in shared memory since its last barrier.

Compiled by numba. A barrier of the whole block orders all that came before it, so accesses of one
interval can only race with each other. As long as no two of them meet in a place they need no stamps: they
stand in two lists, one of reads and one of writes, and the barrier drops them. The first that meets an access
of another thread, or is anything but plain, has the journal turned into stamps (accesses.py), which then
stand for the rest of the interval. Which bytes the block has written stays in a bit each, `WRITTEN`.

Most accesses are entered by generated code (fast_journal.py); here is what looks at one lane after the other.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from .layout import (
    ENTRY_BASE,
    ENTRY_INFO,
    ENTRY_MASK,
    ENTRY_OFFSETS,
    ENTRY_STAMP,
    ENTRY_WORDS,
    JOURNAL_LIMIT,
    JOURNAL_SIZE,
    JOURNAL_TIME,
    LANES,
    LANES_KNOWN,
    LIST_COUNT,
    LIST_ENTRIES,
    LIST_HIGH,
    LIST_HIGHS,
    LIST_LOW,
    LIST_LOWS,
    LIST_ROOM,
    MARKED,
    MARKS,
    NOWHERE,
    NUMBER_SHIFT,
    OFFSETS_BYTES,
    READ_LIST,
    REGION_WORDS,
    REGIONS,
    SHARED_REGION,
    SHIFT,
    TAG,
    TIME_SHIFT,
    WARP_SHIFT,
    WITHIN_WINDOW,
    WRITE_LIST,
    WRITTEN,
)
from .machine import load, load_byte, load_half, store, store_byte, store_half
from .recorder import word

_LONG = 1024  # entries of a list that it is not worth looking through
_SEVERAL = LANES  # in a mark: more than one lane
_MARK_SHIFT = 6
_FIRST_TIME = 1


# ---------------------------------------------------------------------------------------- intervals
@njit(cache=True)
def open_block(S: Any) -> None:
    """A block begins: nothing is written, nothing in the journal, if there is one."""
    if word(S, JOURNAL_SIZE) == 0:
        return
    bits = word(S, WRITTEN)
    for at in range(bits, bits + (word(S, JOURNAL_SIZE) >> 3) + 1, 8):
        store(at, 0)
    open_interval(S, _FIRST_TIME)


@njit(cache=True)
def open_interval(S: Any, time: Any) -> None:
    """All accesses so far are ordered before all that follow."""
    for one in (READ_LIST, WRITE_LIST):
        store(S + 8 * (one + LIST_COUNT), 0)
        store(S + 8 * (one + LIST_LOW), NOWHERE)
        store(S + 8 * (one + LIST_HIGH), 0)
    store(S + 8 * JOURNAL_LIMIT, word(S, JOURNAL_SIZE))
    store(S + 8 * JOURNAL_TIME, time)


@njit(cache=True, forceinline=True)
def is_open(S: Any) -> Any:
    """Whether the interval has a journal, not stamps."""
    return word(S, JOURNAL_LIMIT) != 0


@njit(cache=True, forceinline=True)
def is_first(S: Any) -> Any:
    """Whether the block has passed no barrier."""
    return word(S, JOURNAL_TIME) == _FIRST_TIME


# ---------------------------------------------------------------------------------------- written bytes
@njit(cache=True)
def is_written(S: Any, offset: Any, size: Any) -> Any:
    """Whether the block has written all of some bytes of shared memory."""
    bits = word(S, WRITTEN)
    missing = 0
    for byte in range(offset, offset + size):
        missing |= ~(load_byte(bits + (byte >> 3)) >> (byte & 7)) & 1
    return missing == 0


@njit(cache=True)
def set_written(S: Any, offset: Any, size: Any) -> None:
    """Note that the block has written some bytes."""
    bits = word(S, WRITTEN)
    if size & 7 == 0:
        for at in range(offset >> 3, (offset + size) >> 3):
            store_byte(bits + at, 255)
    else:
        at = bits + (offset >> 3)
        store_byte(at, load_byte(at) | ((1 << size) - 1) << (offset & 7))


# ---------------------------------------------------------------------------------------- entries
@njit(cache=True, forceinline=True)
def entry_at(S: Any, one: Any, number: Any) -> Any:
    """The address of an entry of a list."""
    return word(S, one + LIST_ENTRIES) + number * (8 * ENTRY_WORDS)


@njit(cache=True)
def earlier(S: Any, reads: Any, writes: Any) -> Any:
    """Which list has the next entry, of so many that were taken from each."""
    if reads == word(S, READ_LIST + LIST_COUNT):
        return WRITE_LIST
    if writes == word(S, WRITE_LIST + LIST_COUNT):
        return READ_LIST
    read = load(entry_at(S, READ_LIST, reads) + 8 * ENTRY_MASK) >> NUMBER_SHIFT
    written = load(entry_at(S, WRITE_LIST, writes) + 8 * ENTRY_MASK) >> NUMBER_SHIFT
    return READ_LIST if read < written else WRITE_LIST


@njit(cache=True)
def lane_offset(entry: Any, lane: Any) -> Any:
    """Where a lane's access of an entry begins."""
    return load(entry + 8 * ENTRY_BASE) + load_half(load(entry + 8 * ENTRY_OFFSETS) + 4 * lane)


@njit(cache=True)
def enter(S: Any, one: Any, info: Any, stamp: Any, mask: Any, addresses: Any, low: Any, high: Any) -> None:
    """Add an entry to a list that has room."""
    number = word(S, one + LIST_COUNT)
    room = word(S, one + LIST_ROOM) + number * OFFSETS_BYTES
    for lane in range(LANES):
        store_half(room + 4 * lane, load(addresses + 8 * lane))
    entry = entry_at(S, one, number)
    together = word(S, READ_LIST + LIST_COUNT) + word(S, WRITE_LIST + LIST_COUNT)
    store(entry + 8 * ENTRY_INFO, info)
    store(entry + 8 * ENTRY_STAMP, stamp)
    store(entry + 8 * ENTRY_MASK, mask | together << NUMBER_SHIFT)
    store(entry + 8 * ENTRY_BASE, 0)
    store(entry + 8 * ENTRY_OFFSETS, room)
    store_half(word(S, one + LIST_LOWS) + 4 * number, low)
    store_half(word(S, one + LIST_HIGHS) + 4 * number, high)
    store(S + 8 * (one + LIST_LOW), min(low, word(S, one + LIST_LOW)))
    store(S + 8 * (one + LIST_HIGH), max(high, word(S, one + LIST_HIGH)))
    store(S + 8 * (one + LIST_COUNT), number + 1)


# ---------------------------------------------------------------------------------------- meetings
@njit(cache=True)
def _shift(S: Any) -> Any:
    return load(word(S, REGIONS) + SHARED_REGION * (8 * REGION_WORDS) + 8 * SHIFT)


@njit(cache=True)
def mark(S: Any, size: Any, mask: Any, addresses: Any) -> Any:
    """Mark the places of an access with their lanes; returns whether no two of these share one."""
    call, shift = word(S, MARKED) + 1, _shift(S)
    store(S + 8 * MARKED, call)
    apart = True
    for lane in range(LANES):
        if (mask >> lane) & 1 == 0:
            continue
        offset = load(addresses + 8 * lane) & WITHIN_WINDOW
        for place in range(offset >> shift, ((offset + size - 1) >> shift) + 1):
            at = word(S, MARKS) + 8 * place
            if load(at) >> _MARK_SHIFT == call:
                store(at, call << _MARK_SHIFT | _SEVERAL)
                apart = False
            else:
                store(at, call << _MARK_SHIFT | lane)
    return apart


@njit(cache=True)
def meets(S: Any, one: Any, warp: Any, low: Any, high: Any) -> Any:
    """Whether the access that was marked last meets one of another thread in a list, unless ordered."""
    count = word(S, one + LIST_COUNT)
    if low >= word(S, one + LIST_HIGH) or high <= word(S, one + LIST_LOW):
        return False
    if count > _LONG:
        return True
    lows, highs = word(S, one + LIST_LOWS), word(S, one + LIST_HIGHS)
    for number in range(count):
        apart = load_half(lows + 4 * number) >= high or load_half(highs + 4 * number) <= low
        if not apart and _entry_meets(S, entry_at(S, one, number), warp):
            return True
    return False


@njit(cache=True)
def _entry_meets(S: Any, entry: Any, warp: Any) -> Any:
    stamp, shift = load(entry + 8 * ENTRY_STAMP), _shift(S)
    mask, size = load(entry + 8 * ENTRY_MASK), load(entry + 8 * ENTRY_INFO) & 255
    same = (stamp >> WARP_SHIFT) & 31 == warp
    time = (stamp ^ word(S, TAG)) >> TIME_SHIFT
    if same and word(S, LANES_KNOWN + warp) >= time:
        return False
    call = word(S, MARKED)
    for lane in range(LANES):
        if (mask >> lane) & 1 == 0:
            continue
        offset = lane_offset(entry, lane)
        for place in range(offset >> shift, ((offset + size - 1) >> shift) + 1):
            found = load(word(S, MARKS) + 8 * place)
            if found >> _MARK_SHIFT == call and not (same and found & ((1 << _MARK_SHIFT) - 1) == lane):
                return True
    return False
