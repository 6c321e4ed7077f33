"""What all native functions share: words of a worker's state, stamps, and the table of findings.

A row of the table is a cause: a kind and its variant with the two places in the program, the region and the
order of the accesses. The first finding of a cause is kept whole, further ones are counted.
"""

from __future__ import annotations

from ...records.check import KINDS
from . import layout
from .intrinsics import load, store
from .native import inlined, native

VARIANT_BITS = 4


def code_of(kind: str, variant: int = 0) -> int:
    """A kind of finding as a number: its place among the kinds, above what of it is to be told apart."""
    return KINDS.index(kind) << VARIANT_BITS | variant


@inlined
def word(S, index):
    """A word of a worker's state."""
    return load(S + 8 * index)


@inlined
def set_word(S, index, value):
    """Set a word of a worker's state."""
    store(S + 8 * index, value)


@inlined
def row_of(S, number):
    """The address of a region's row."""
    return word(S, layout.REGIONS) + number * (8 * layout.REGION_WORDS)


@native
def stamp_of(S, warp, lane, place):
    """The stamp of a thread at a place now."""
    who = warp << layout.WARP_SHIFT | lane << layout.LANE_SHIFT | place << layout.PLACE_SHIFT
    return word(S, layout.TAG) | word(S, layout.TIMES + warp) << layout.TIME_SHIFT | who


@native
def note(S, info, lane, byte):
    """A byte of what a lane loads is undefined; whether it is used shows later."""
    if (info >> layout.NOTE_FIELD) & 1 != 0:
        at = word(S, layout.NOTES) + 8 * lane
        store(at, load(at) | 1 << byte)


@native
def was_refused(S, stamp):
    """Whether the thread of a stamp goes on with a value that it was refused."""
    table = word(S, layout.REFUSED)
    if table == 0 or word(S, layout.REFUSALS) == 0:
        return False
    block = (stamp >> word(S, layout.BLOCK_SHIFT)) - 1
    warp = block * word(S, layout.WARP_COUNT) + ((stamp >> layout.WARP_SHIFT) & (layout.WARPS - 1))
    return (load(table + 8 * warp) >> ((stamp >> layout.LANE_SHIFT) & (layout.LANES - 1))) & 1 != 0


@native
def record(S, code, stamp, other, region, offset, same, access, extra):
    """Count a finding; the first of its cause is kept whole."""
    here = (stamp >> layout.PLACE_SHIFT) & (layout.PLACES - 1)
    there = (other >> layout.PLACE_SHIFT) & (layout.PLACES - 1)
    variant, kind = code & ((1 << VARIANT_BITS) - 1), code >> VARIANT_BITS
    if other != 0 and (was_refused(S, stamp) or was_refused(S, other)):
        return
    key = 1 | variant << 1 | here << 5 | there << 16 | (region & 0xFFFF) << 27 | same << 43 | access << 44
    key |= kind << 46
    if other != 0 and (stamp ^ other) >> word(S, layout.BLOCK_SHIFT) != 0:
        key |= 1 << 52  # what orders threads of a block orders no blocks
    table = word(S, layout.FINDINGS)
    slot = (key * 40503) & (layout.FINDING_SLOTS - 1)
    for _ in range(layout.FINDING_SLOTS):
        row = table + slot * (8 * layout.FINDING_WORDS)
        found = load(row + 8 * layout.KEY)
        if found == key:
            store(row + 8 * layout.COUNT, load(row + 8 * layout.COUNT) + 1)
            return
        if found == 0:
            store(row + 8 * layout.KEY, key)
            store(row + 8 * layout.COUNT, 1)
            store(row + 8 * layout.CODE, code)
            store(row + 8 * layout.STAMP, stamp)
            store(row + 8 * layout.OTHER, other)
            store(row + 8 * layout.REGION, region)
            store(row + 8 * layout.OFFSET, offset)
            store(row + 8 * layout.SAME_VALUE, same)
            store(row + 8 * layout.ACCESS, access)
            store(row + 8 * layout.EXTRA, extra)
            if word(S, layout.HALT) != 0:
                store(word(S, layout.HALT), 1)
            return
        slot = (slot + 1) & (layout.FINDING_SLOTS - 1)
    set_word(S, layout.FINDINGS_FULL, word(S, layout.FINDINGS_FULL) + 1)
