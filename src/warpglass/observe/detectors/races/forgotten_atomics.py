"""Atomic operations that are forgotten: what races with them races with others that are remembered, too.

A table by address says of which places that is known, for generated code (fast_path/atomics.py).
"""

from __future__ import annotations

from .. import layout
from ..intrinsics import load, store
from ..native import native
from ..recorder import word
from .shadow_lines import stamp_at


@native
def may_forget(S, row, place, stamp, low, floor):
    """Whether an atomic operation may be forgotten: whatever races with it races with one of two before it.

    They are those that the place remembers, as strong as it is. Two blocks are never ordered with the same
    later access, nor are two warps before a barrier for all, nor two lanes before a warp barrier for all.
    Returns 0 if not, else until when likewise operations may: ALWAYS, or the floor, or, marked by a 1, the
    time of the warp.
    """
    writer, earlier = stamp_at(row, layout.WRITES, place), stamp_at(row, layout.EARLIER_WRITES, place)
    strength = stamp & 3
    if writer & 3 != strength or earlier & 3 != strength or min(writer, earlier) < low:
        return 0
    if stamp_at(row, layout.READS, place) >= low:
        return 0
    shift = word(S, layout.BLOCK_SHIFT)
    if (writer ^ earlier) >> shift != 0:
        return layout.ALWAYS if strength == layout.ATOMIC else 0
    if (writer ^ stamp) >> shift != 0 or min(writer, earlier) < floor:
        return 0
    if (writer ^ earlier) & (layout.WARPS - 1 << layout.WARP_SHIFT) != 0:
        return floor
    alike = ((writer ^ stamp) | (earlier ^ stamp)) >> layout.WARP_SHIFT == 0
    lanes = (writer ^ earlier) & (layout.LANES - 1 << layout.LANE_SHIFT)
    if alike and lanes != 0 and word(S, layout.PARTIAL + ((stamp >> layout.WARP_SHIFT) & 31)) == 0:
        return (stamp >> layout.WARP_SHIFT) << layout.WARP_SHIFT | 1
    return 0


@native
def _entry_of(S, address):
    return word(S, layout.STOOD_FOR) + (((address >> layout.STOOD_SHIFT) & (layout.STOOD_SLOTS - 1)) << 4)


@native
def drop_forgotten(S, address):
    """Operations at a place, which may be a part of what they change, are to be looked at again."""
    for start in (address, address & ~7):  # what is changed has 2, 4 or 8 bytes
        at = _entry_of(S, start)
        if (load(at) ^ start) >> layout.STOOD_SHIFT == 0:
            store(at + 8, 0)


@native
def note_forgotten(S, address, until):
    """Operations at a place may be forgotten until then."""
    at = _entry_of(S, address)
    store(at, address)
    store(at + 8, until)
