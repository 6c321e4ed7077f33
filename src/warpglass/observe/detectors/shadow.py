"""Shadow memory: who wrote and who read every place last, and the test whether an access races with them.

Compiled by numba. Each place (`SHIFT` bytes, log2) of a region has six stamps: the last writer, one before
it that a strong write did not wait for, the last reader, another lane of that reader's warp, the last reader
of another warp or block, and one of another block than that; lines.py has them by lines. Stamps are never
cleared: those of earlier blocks count as none in shared memory, and in global memory a read that was ordered
before a write is ordered before what the write is ordered before.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from .copies import note_copy, under_way
from .layout import (
    ALL_KNOWN,
    ALWAYS,
    ASK,
    ATOMIC,
    BASE,
    BLOCK_ATOMIC,
    BLOCK_RACE,
    BLOCK_SHIFT,
    COPY_FIELD,
    COUNTED,
    DELTA,
    EARLIER_WRITES,
    ELEMENT_FIELD,
    FAR,
    FAR_READS,
    FIRST_ARRAY,
    FLOORS,
    FRESH,
    GRID_RACE,
    HEAP_REGION,
    IDENTITY,
    KNOWN,
    LANE_CLOCKS,
    LANE_READS,
    LANE_SHIFT,
    LANES,
    LANES_KNOWN,
    MET_FIELD,
    MODULE_REGION,
    MORE_READS,
    ONLY_READ,
    OTHER_READS,
    PARTIAL,
    PASS_WORDS,
    PASSES,
    READ_AFTER_WRITE,
    READS,
    REGION_COUNT,
    REGION_WORDS,
    REGIONS,
    SHARED_REGION,
    SHIFT,
    SIZE,
    SOME,
    STOOD_FOR,
    STOOD_SHIFT,
    STOOD_SLOTS,
    SURPRISED,
    TAG,
    TIME_SHIFT,
    UNDEFINED,
    UPDATE_FIELD,
    USED_FIELD,
    VOLATILE,
    WARP_RACE,
    WARP_SHIFT,
    WARPS,
    WRITE_AFTER_READ,
    WRITE_AFTER_WRITE,
    WRITE_FIELD,
    WRITES,
)
from .lines import put, stamp_at, where
from .machine import ask, load, store
from .recorder import note, record, word

_SHARED, _GENERIC = 0, 2  # layout.SPACES
_SHARED_WINDOW, _MODULE_WINDOW, _HEAP_WINDOWS = 1, 6, 4
_WINDOW_SHIFT = 48


@njit(cache=True)
def _apart(S: Any, other: Any, stamp: Any) -> Any:
    """0 if barriers order an earlier access before one now; else the kind of race that they would be."""
    if under_way(S, other):
        return BLOCK_RACE
    if (other ^ stamp) & word(S, IDENTITY) == 0:
        return 0
    shift = word(S, BLOCK_SHIFT)
    if other >> shift == stamp >> shift:
        time = (other & ((1 << shift) - 1)) >> TIME_SHIFT
        warp, other_warp = (stamp >> WARP_SHIFT) & 31, (other >> WARP_SHIFT) & 31
        kind = BLOCK_RACE
        if warp == other_warp:
            kind = WARP_RACE
            if word(S, LANES_KNOWN + warp) >= time:
                return 0
            if word(S, PARTIAL + warp) != 0:
                lane, other_lane = (stamp >> LANE_SHIFT) & 31, (other >> LANE_SHIFT) & 31
                if word(S, LANE_CLOCKS + (warp * LANES + lane) * LANES + other_lane) >= time:
                    return 0
        elif max(word(S, KNOWN + warp * WARPS + other_warp), word(S, ALL_KNOWN + warp)) >= time:
            return 0
    else:
        kind = GRID_RACE
    return kind


@njit(cache=True)
def _told(S: Any, other: Any, stamp: Any) -> Any:
    """Whether fences and what they publish order an earlier access before one now."""
    return word(S, ASK) != 0 and ask(word(S, ASK), S, stamp, other) != 0


@njit(cache=True)
def _same_value(
    S: Any,
    region: Any,
    offset: Any,
    other: Any,
    stamp: Any,
    mask: Any,
    addresses: Any,
    values: Any,
    size: Any,
) -> Any:
    """Whether two unordered writes write the same: lanes of one instruction, or a lane and what is there."""
    if values == 0 or size > 8:
        return 0
    lane, other_lane = (stamp >> LANE_SHIFT) & 31, (other >> LANE_SHIFT) & 31
    bits = -1 if size == 8 else (1 << (8 * size)) - 1
    new = load(values + 8 * lane) & bits
    together = (other ^ stamp) & ~(31 << LANE_SHIFT) == 0 and (mask >> other_lane) & 1 != 0
    if together and load(addresses + 8 * other_lane) == load(addresses + 8 * lane):
        return 1 if load(values + 8 * other_lane) & bits == new else 0
    if load(region + 8 * DELTA) == 0:
        return 0
    host = load(region + 8 * DELTA) + load(region + 8 * BASE) + (offset & ~(size - 1))
    return 1 if load(host) & bits == new else 0


@njit(cache=True)
def conflict(
    S: Any,
    number: Any,
    offset: Any,
    other: Any,
    stamp: Any,
    access: Any,
    mask: Any,
    addresses: Any,
    values: Any,
    size: Any,
) -> None:
    """Record a race if an earlier access is unordered with the one now and not both are strong."""
    kind = _apart(S, other, stamp)
    if kind == 0:
        return
    mine, theirs = stamp & 3, other & 3
    if mine != 0 and theirs != 0:
        if kind == WARP_RACE:
            if mine != VOLATILE or theirs != VOLATILE:
                return
        elif kind == BLOCK_RACE or (mine != BLOCK_ATOMIC and theirs != BLOCK_ATOMIC):
            return
    if _told(S, other, stamp):
        return
    region = word(S, REGIONS) + number * (8 * REGION_WORDS)
    same = 0
    if access == WRITE_AFTER_WRITE:
        same = _same_value(S, region, offset, other, stamp, mask, addresses, values, size)
    record(S, kind, stamp, other, number, offset, same, access, size)


@njit(cache=True, forceinline=True)
def _fine(S: Any, other: Any, stamp: Any, low: Any, floor: Any) -> Any:
    """Whether an earlier access is none, is ordered before everything now, or is the same thread's."""
    return (
        other < low or (other >= word(S, TAG) and other < floor) or ((other ^ stamp) & word(S, IDENTITY)) == 0
    )


@njit(cache=True)
def _note_read(S: Any, region: Any, place: Any, stamp: Any, low: Any, floor: Any) -> None:
    """Keep a reader, beside others that are to be remembered."""
    reader = stamp_at(region, READS, place)
    apart = (reader ^ stamp) & word(S, IDENTITY)
    if reader < low or apart == 0:
        put(S, region, READS, place, stamp)
    elif apart & ~(31 << LANE_SHIFT) == 0:
        # Another lane of the same warp: it stands beside the first, unless that is from before.
        if reader >> TIME_SHIFT == stamp >> TIME_SHIFT:
            put(S, region, LANE_READS, place, stamp)
            store(region + 8 * MORE_READS, load(region + 8 * MORE_READS) | SOME)
        else:
            put(S, region, READS, place, stamp)
    else:
        if reader < word(S, TAG) or reader >= floor:  # else who comes after this read comes after that
            other = stamp_at(region, OTHER_READS, place)
            more = SOME
            if reader >= word(S, TAG) and low <= other < word(S, TAG):
                put(S, region, FAR_READS, place, other)  # no barrier of this block orders it
                more = SOME | FAR
            put(S, region, OTHER_READS, place, reader)
            store(region + 8 * MORE_READS, load(region + 8 * MORE_READS) | more)
        put(S, region, READS, place, stamp)


@njit(cache=True)
def _check_readers(
    S: Any,
    number: Any,
    at: Any,
    place: Any,
    stamp: Any,
    floor: Any,
    mask: Any,
    addresses: Any,
    values: Any,
    size: Any,
) -> None:
    """A write against those who have read a place."""
    region = word(S, REGIONS) + number * (8 * REGION_WORDS)
    low = 1 if number != SHARED_REGION else word(S, TAG)
    for which in (READS, LANE_READS, OTHER_READS, FAR_READS):
        reader = stamp_at(region, which, place)
        if not _fine(S, reader, stamp, low, floor):
            conflict(S, number, at, reader, stamp, WRITE_AFTER_READ, mask, addresses, values, size)


@njit(cache=True)
def _check_earlier_writer(
    S: Any,
    number: Any,
    at: Any,
    place: Any,
    stamp: Any,
    floor: Any,
    write: Any,
    mask: Any,
    addresses: Any,
    values: Any,
    size: Any,
    met: Any,
) -> None:
    """An access against the write before the last, where one of the three is strong.

    Strong writes of two threads do not race, so the last is not all that a plain access may race with.
    Of several before it a plain one is kept, else the first; no strong one that a thread has `met`.
    """
    region = word(S, REGIONS) + number * (8 * REGION_WORDS)
    low = 1 if number != SHARED_REGION else word(S, TAG)
    earlier = stamp_at(region, EARLIER_WRITES, place)
    if not _fine(S, earlier, stamp, low, floor):
        kind = WRITE_AFTER_WRITE if write != 0 else READ_AFTER_WRITE
        conflict(S, number, at, earlier, stamp, kind, mask, addresses, values, size)
    if write == 0:
        return
    writer = stamp_at(region, WRITES, place)
    if writer >= low and writer & 3 == 0 and not (word(S, TAG) <= writer < floor):
        put(S, region, EARLIER_WRITES, place, writer)
    elif earlier & 3 != 0 or earlier < low or word(S, TAG) <= earlier < floor:
        if met != 0:
            put(S, region, EARLIER_WRITES, place, 0)
        elif earlier < low or _apart(S, earlier, stamp) == 0 or _told(S, earlier, stamp):
            put(S, region, EARLIER_WRITES, place, writer)


@njit(cache=True)
def _array_at(S: Any, address: Any) -> Any:
    """The region of the allocation that an address is in, -1 if there is none."""
    table = word(S, REGIONS)
    low, high = FIRST_ARRAY - 1, word(S, REGION_COUNT) - 1
    while low < high:  # the last that does not begin behind it
        middle = (low + high + 1) >> 1
        if load(table + middle * (8 * REGION_WORDS) + 8 * BASE) <= address:
            low = middle
        else:
            high = middle - 1
    region = table + low * (8 * REGION_WORDS)
    if low < FIRST_ARRAY or address - load(region + 8 * BASE) >= load(region + 8 * SIZE):
        return -1
    return low


@njit(cache=True)
def region_of(S: Any, space: Any, address: Any) -> Any:
    """The region that an address belongs to, -1 for those without shadow memory."""
    window = address >> _WINDOW_SHIFT
    if space == _SHARED or (space == _GENERIC and window == _SHARED_WINDOW):
        return SHARED_REGION
    if window == _MODULE_WINDOW:
        return MODULE_REGION
    if window >> 4 == _HEAP_WINDOWS:
        return HEAP_REGION
    return _array_at(S, address)


@njit(cache=True)
def find_region(S: Any, at: Any, address: Any) -> None:
    """Put the address of the row of a generic address's region into the word at `at`, or of any other row."""
    number = region_of(S, _GENERIC, address)
    store(at, word(S, REGIONS) + max(number, 0) * (8 * REGION_WORDS))


@njit(cache=True)
def remember(S: Any, region: Any) -> None:
    """A store has led to what was thought to be only read: look at all that comes."""
    store(region + 8 * ONLY_READ, 0)
    store(S + 8 * SURPRISED, 1)
    for kind in range(PASS_WORDS):
        store(word(S, PASSES) + 8 * kind, 0)


@njit(cache=True)
def _stood_for(S: Any, region: Any, place: Any, stamp: Any, low: Any, floor: Any) -> Any:
    """Whether an atomic operation may be forgotten: whatever races with it races with one of two before it.

    They are those that the place remembers, as strong as it is. Two blocks are never ordered with the same
    later access, nor are two warps before a barrier for all, nor two lanes before a warp barrier for all.
    Returns 0 if not, else until when likewise operations may: ALWAYS, or the floor, or, marked by a 1, the
    time of the warp.
    """
    writer, earlier = stamp_at(region, WRITES, place), stamp_at(region, EARLIER_WRITES, place)
    strength = stamp & 3
    if writer & 3 != strength or earlier & 3 != strength or min(writer, earlier) < low:
        return 0
    if stamp_at(region, READS, place) >= low:
        return 0
    shift = word(S, BLOCK_SHIFT)
    if (writer ^ earlier) >> shift != 0:
        return ALWAYS if strength == ATOMIC else 0
    if (writer ^ stamp) >> shift != 0 or min(writer, earlier) < floor:
        return 0
    if (writer ^ earlier) & (WARPS - 1 << WARP_SHIFT) != 0:
        return floor
    alike = ((writer ^ stamp) | (earlier ^ stamp)) >> WARP_SHIFT == 0
    lanes = (writer ^ earlier) & (LANES - 1 << LANE_SHIFT)
    if alike and lanes != 0 and word(S, PARTIAL + ((stamp >> WARP_SHIFT) & 31)) == 0:
        return (stamp >> WARP_SHIFT) << WARP_SHIFT | 1
    return 0


@njit(cache=True)
def _entry_for(S: Any, address: Any) -> Any:
    return word(S, STOOD_FOR) + (((address >> STOOD_SHIFT) & (STOOD_SLOTS - 1)) << 4)


@njit(cache=True)
def _drop_stood_for(S: Any, address: Any) -> None:
    """Operations at a place, which may be a part of what they change, are to be looked at again."""
    for start in (address, address & ~7):  # what is changed has 2, 4 or 8 bytes
        at = _entry_for(S, start)
        if (load(at) ^ start) >> STOOD_SHIFT == 0:
            store(at + 8, 0)


@njit(cache=True, forceinline=True)
def used_element(info: Any, distance: Any) -> Any:
    """1 if the element at a distance from the start of an access is used, else 0."""
    return (info >> (USED_FIELD + (distance >> ((info >> ELEMENT_FIELD) & 63)))) & 1


@njit(cache=True)
def find_undefined(S: Any, info: Any, number: Any, offset: Any, at: Any, shift: Any, stamp: Any) -> None:
    """A place that nobody has written is read by an access that begins at an offset."""
    if used_element(info, at - offset) != 0:
        record(S, UNDEFINED, stamp, 0, number, at, 0, 0, info & 255)
    else:
        for byte in range(at - offset, min(at - offset + (1 << shift), info & 255)):
            note(S, info, (stamp >> LANE_SHIFT) & 31, byte)


@njit(cache=True)
def touch(
    S: Any, info: Any, number: Any, offset: Any, stamp: Any, mask: Any, addresses: Any, values: Any
) -> None:
    """One lane's access, place by place."""
    size = info & 255
    write, update = (info >> WRITE_FIELD) & 1, (info >> UPDATE_FIELD) & 1
    region = word(S, REGIONS) + number * (8 * REGION_WORDS)
    low = 1 if number != SHARED_REGION else word(S, TAG)
    floor = word(S, FLOORS + ((stamp >> WARP_SHIFT) & 31))
    shift = load(region + 8 * SHIFT)
    only_barriers = word(S, ASK) == 0 and word(S, COUNTED) == 0  # order threads, and all threads of a block
    agreed = 0
    forgets = only_barriers and write != 0 and stamp & 3 >= ATOMIC and (info >> MET_FIELD) & 1 == 0
    for step in range(((offset + size - 1) >> shift) - (offset >> shift) + 1):
        at = offset + (step << shift)
        place = at >> shift
        until = _stood_for(S, region, place, stamp, low, floor) if forgets else 0
        agreed = until if step == 0 or agreed == until else 0
        if until != 0:
            continue
        _drop_stood_for(S, load(region + 8 * BASE) + (place << shift))
        writer = stamp_at(region, WRITES, place)
        if writer < low:
            if load(region + 8 * FRESH) & (1 - write | update) != 0:
                find_undefined(S, info, number, offset, at, shift, stamp)
        elif not _fine(S, writer, stamp, low, floor) or (writer != stamp and under_way(S, writer)):
            kind = WRITE_AFTER_WRITE if write != 0 else READ_AFTER_WRITE
            conflict(S, number, at, writer, stamp, kind, mask, addresses, values, size)
        if (stamp | writer) & 3 != 0:
            met = (info >> MET_FIELD) & 1
            _check_earlier_writer(
                S, number, at, place, stamp, floor, write, mask, addresses, values, size, met
            )
        if write == 0:
            _note_read(S, region, place, stamp, low, floor)
        else:
            if stamp_at(region, READS, place) >= low:
                _check_readers(S, number, at, place, stamp, floor, mask, addresses, values, size)
            put(S, region, WRITES, place, stamp)
            if (info >> COPY_FIELD) & 1 != 0:
                copied = where(S, region, WRITES, place)
                note_copy(S, (stamp >> WARP_SHIFT) & 31, (stamp >> LANE_SHIFT) & 31, copied, stamp)
    if agreed != 0 and size <= 8 and number != HEAP_REGION:  # where addresses come to mean other places
        entry = _entry_for(S, load(region + 8 * BASE) + offset)
        store(entry, load(region + 8 * BASE) + offset)
        store(entry + 8, agreed)
