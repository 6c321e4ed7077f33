"""Masks of lanes, in native code."""

from __future__ import annotations

from ..native import native


@native
def first_lane(mask):
    """The lowest lane of a mask."""
    lane = 0
    while lane < 31 and (mask >> lane) & 1 == 0:
        lane += 1
    return lane
