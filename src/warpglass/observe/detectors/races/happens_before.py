"""Happens-before: whether barriers, or fences and what they publish, order two accesses.

What barriers order is in the clocks of warps and lanes (sync/clocks.py); what threads learn from values that
others release is in events (events.py).
"""

from __future__ import annotations

from .. import layout
from ..native import native
from ..recorder import word
from .copies import under_way
from .known import knows

ONE_WARP, ONE_BLOCK, GRID = 1, 2, 3  # the threads that are not ordered belong to one of these


@native
def unordered(S, other, stamp):
    """0 if barriers order an earlier access before one now; else whose threads they leave unordered."""
    if under_way(S, other):
        return ONE_BLOCK
    if (other ^ stamp) & word(S, layout.IDENTITY) == 0:
        return 0
    shift = word(S, layout.BLOCK_SHIFT)
    if other >> shift != stamp >> shift:
        return GRID
    time = (other & ((1 << shift) - 1)) >> layout.TIME_SHIFT
    warp, other_warp = (stamp >> layout.WARP_SHIFT) & 31, (other >> layout.WARP_SHIFT) & 31
    if warp != other_warp:
        known = word(S, layout.KNOWN + warp * layout.WARPS + other_warp)
        return 0 if max(known, word(S, layout.ALL_KNOWN + warp)) >= time else ONE_BLOCK
    if word(S, layout.LANES_KNOWN + warp) >= time:
        return 0
    if word(S, layout.PARTIAL + warp) != 0:
        lane, other_lane = (stamp >> layout.LANE_SHIFT) & 31, (other >> layout.LANE_SHIFT) & 31
        clock = layout.LANE_CLOCKS + (warp * layout.LANES + lane) * layout.LANES + other_lane
        if word(S, clock) >= time:
            return 0
    return ONE_WARP


@native
def is_released(S, other, stamp):
    """Whether fences and what they publish order an earlier access before one now."""
    return word(S, layout.CAUSES) != 0 and knows(S, stamp, other)
