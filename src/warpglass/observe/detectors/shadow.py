"""Shadow memory: who wrote and who read every place last, and the test whether an access races with them.

Compiled by numba. Each place (`SHIFT` bytes, log2) of a region has four stamps: the last writer, the last
reader, another lane of that reader's warp, and the last reader of another warp or block. Stamps are never
cleared: those of earlier blocks count as none in shared memory, and in global memory a read that was ordered
before a write is ordered before what the write is ordered before.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from .layout import (
    ACCESS,
    ASK,
    BASE,
    BLOCK_ATOMIC,
    BLOCK_OF,
    BLOCK_RACE,
    BLOCK_SHIFT,
    COUNT,
    DELTA,
    ELEMENT_FIELD,
    EXTRA,
    FINDING_SLOTS,
    FINDING_WORDS,
    FINDINGS,
    FINDINGS_FULL,
    FIRST_ARRAY,
    FLOORS,
    FRESH,
    GRID_RACE,
    IDENTITY,
    KEY,
    KIND,
    KNOWN,
    LANE_CLOCKS,
    LANE_READS,
    LANE_SHIFT,
    LANES,
    LANES_KNOWN,
    MODULE_REGION,
    OFFSET,
    OLDEST,
    OTHER,
    OTHER_READS,
    PARTIAL,
    PENDING,
    PLACE_FIELD,
    PLACE_SHIFT,
    PLACES,
    READ_AFTER_WRITE,
    READS,
    REGION,
    REGION_COUNT,
    REGION_WORDS,
    REGIONS,
    SAME_VALUE,
    SHARED_REGION,
    SHIFT,
    SIZE,
    SPACE_FIELD,
    STAMP,
    STRENGTH_FIELD,
    TAG,
    TIME_SHIFT,
    TIMES,
    UNDEFINED,
    UPDATE_FIELD,
    USED_FIELD,
    VALUE_FIELD,
    VOLATILE,
    WARP_RACE,
    WARP_SHIFT,
    WARPS,
    WRITE_AFTER_READ,
    WRITE_AFTER_WRITE,
    WRITE_FIELD,
    WRITES,
)
from .machine import ask, load, store
from .orders import settle

_GLOBAL, _GENERIC, _LOCAL = 1, 2, 3
_MODULE_WINDOW, _ARRAY_WINDOW, _ARRAY_SHIFT = 6, 7, 37
_TIME_MASK_LOW = 1 << TIME_SHIFT


@njit(inline="always")
def word(S: Any, index: Any) -> Any:
    """A word of a worker's state."""
    return load(S + 8 * index)


@njit(cache=True)
def record(
    S: Any,
    kind: Any,
    stamp: Any,
    other: Any,
    region: Any,
    offset: Any,
    same: Any,
    access: Any,
    extra: Any,
) -> None:
    """Count a finding; the first of its cause is kept whole."""
    here = (stamp >> PLACE_SHIFT) & (PLACES - 1)
    there = (other >> PLACE_SHIFT) & (PLACES - 1)
    key = 1 | kind << 1 | here << 5 | there << 16 | (region & 0xFFFF) << 27 | same << 43 | access << 44
    table = word(S, FINDINGS)
    slot = (key * 40503) & (FINDING_SLOTS - 1)
    for _ in range(FINDING_SLOTS):
        row = table + slot * (8 * FINDING_WORDS)
        found = load(row + 8 * KEY)
        if found == key:
            store(row + 8 * COUNT, load(row + 8 * COUNT) + 1)
            return
        if found == 0:
            store(row + 8 * KEY, key)
            store(row + 8 * COUNT, 1)
            store(row + 8 * KIND, kind)
            store(row + 8 * STAMP, stamp)
            store(row + 8 * OTHER, other)
            store(row + 8 * REGION, region)
            store(row + 8 * OFFSET, offset)
            store(row + 8 * SAME_VALUE, same)
            store(row + 8 * ACCESS, access)
            store(row + 8 * EXTRA, extra)
            store(row + 8 * BLOCK_OF, word(S, TAG) >> word(S, BLOCK_SHIFT))
            return
        slot = (slot + 1) & (FINDING_SLOTS - 1)
    store(S + 8 * FINDINGS_FULL, word(S, FINDINGS_FULL) + 1)


@njit(cache=True)
def unordered(S: Any, other: Any, stamp: Any) -> Any:
    """0 if an earlier access is ordered before one now; else the kind of race that they would be."""
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
        elif word(S, KNOWN + warp * WARPS + other_warp) >= time:
            return 0
    else:
        kind = GRID_RACE
    if word(S, ASK) != 0 and ask(word(S, ASK), S, stamp, other) != 0:
        return 0
    return kind


@njit(cache=True)
def _same_value(
    S: Any, region: Any, offset: Any, other: Any, stamp: Any, mask: Any, addresses: Any, values: Any, size: Any
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
    kind = unordered(S, other, stamp)
    if kind == 0:
        return
    mine, theirs = stamp & 3, other & 3
    if mine != 0 and theirs != 0:
        if kind == WARP_RACE:
            if mine != VOLATILE or theirs != VOLATILE:
                return
        elif kind == BLOCK_RACE or (mine != BLOCK_ATOMIC and theirs != BLOCK_ATOMIC):
            return
    region = word(S, REGIONS) + number * (8 * REGION_WORDS)
    same = 0
    if access == WRITE_AFTER_WRITE:
        same = _same_value(S, region, offset, other, stamp, mask, addresses, values, size)
    record(S, kind, stamp, other, number, offset, same, access, 0)


@njit(inline="always")
def _fine(other: Any, stamp: Any, low: Any, tag: Any, floor: Any, identity: Any) -> Any:
    return other < low or (other >= tag and other < floor) or ((other ^ stamp) & identity) == 0


@njit(cache=True)
def access(S: Any, info: Any, mask: Any, warp: Any, addresses: Any, values: Any) -> None:
    """The lanes of a mask are about to access memory."""
    if word(S, PENDING + warp) != 0:
        settle(S, warp)
    size, space = info & 255, (info >> SPACE_FIELD) & 3
    write, update = (info >> WRITE_FIELD) & 1, (info >> UPDATE_FIELD) & 1
    used, element = (info >> USED_FIELD) & 255, (info >> ELEMENT_FIELD) & 63
    if (info >> VALUE_FIELD) & 1 == 0:
        values = 0
    tag, floor, identity = word(S, TAG), word(S, FLOORS + warp), word(S, IDENTITY)
    place = (info >> PLACE_FIELD) & (PLACES - 1)
    strength = (info >> STRENGTH_FIELD) & 3
    first = tag | word(S, TIMES + warp) << TIME_SHIFT | warp << WARP_SHIFT | place << PLACE_SHIFT | strength
    regions, count = word(S, REGIONS), word(S, REGION_COUNT)
    for lane in range(32):
        if (mask >> lane) & 1 == 0:
            continue
        address = load(addresses + 8 * lane)
        number = SHARED_REGION
        if space != 0:
            window = address >> 48
            if space == _GENERIC and window == 1:
                address &= (1 << 48) - 1
            elif window == _MODULE_WINDOW:
                number = MODULE_REGION
            elif window == _ARRAY_WINDOW:
                number = FIRST_ARRAY + ((address & ((1 << 48) - 1)) >> _ARRAY_SHIFT)
            else:
                continue
        if number >= count:
            continue
        region = regions + number * (8 * REGION_WORDS)
        offset = address - load(region + 8 * BASE)
        if offset < 0 or offset + size > load(region + 8 * SIZE):
            continue
        shift = load(region + 8 * SHIFT)
        stamp = first | lane << LANE_SHIFT
        low = 1 if number != SHARED_REGION else tag
        writes, reads = load(region + 8 * WRITES), load(region + 8 * READS)
        others, lane_reads = load(region + 8 * OTHER_READS), load(region + 8 * LANE_READS)
        fresh = load(region + 8 * FRESH)
        cell = (offset >> shift) << 3
        end = ((offset + size - 1) >> shift) << 3
        at = offset
        while cell <= end:
            writer = load(writes + cell)
            if writer < low:
                if fresh != 0 and (write == 0 or update != 0):
                    if (used >> ((at - offset) // element)) & 1 != 0:
                        record(S, UNDEFINED, stamp, 0, number, at, 0, 0, 0)
            elif not _fine(writer, stamp, low, tag, floor, identity):
                kind = WRITE_AFTER_WRITE if write != 0 else READ_AFTER_WRITE
                conflict(S, number, at, writer, stamp, kind, mask, addresses, values, size)
            reader = load(reads + cell)
            if write != 0:
                if reader >= low:
                    if not _fine(reader, stamp, low, tag, floor, identity):
                        conflict(S, number, at, reader, stamp, WRITE_AFTER_READ, mask, addresses, values, size)
                    near = load(lane_reads + cell)
                    if not _fine(near, stamp, low, tag, floor, identity):
                        conflict(S, number, at, near, stamp, WRITE_AFTER_READ, mask, addresses, values, size)
                    far = load(others + cell)
                    if not _fine(far, stamp, low, tag, floor, identity):
                        conflict(S, number, at, far, stamp, WRITE_AFTER_READ, mask, addresses, values, size)
                store(writes + cell, stamp)
            elif reader < low or ((reader ^ stamp) & identity) == 0:
                store(reads + cell, stamp)
            elif ((reader ^ stamp) & identity & ~(31 << LANE_SHIFT)) == 0:
                # Another lane of the same warp: it stands beside the first, unless that is from before.
                if reader >> TIME_SHIFT == stamp >> TIME_SHIFT:
                    store(lane_reads + cell, stamp)
                else:
                    store(reads + cell, stamp)
            else:
                store(others + cell, reader)
                store(reads + cell, stamp)
            cell += 8
            at += 1 << shift
