"""Threads that miss a barrier which others of their block come to.

Belongs here: the native functions that follow who waits at which barrier and who will come to none any more.
Lanes of a warp may come to a barrier one after the other: they have come to it together if it is the same
barrier in the same turn of the loops around it (its context), which shows when the last of them has come.
Lanes that take a departure (departures.py) miss each barrier that others of their warp come to from then on,
or wait at already, and every one that opens for the other warps without them.
"""

from __future__ import annotations

from .. import layout
from ..intrinsics import load
from ..native import exported, native
from ..recorder import code_of, record, set_word, stamp_of, word
from .lanes import first_lane

PARTED, OTHER_BARRIER, PASSED_BY, PASSED_BY_WARP = range(4)  # variants
_PARTED, _OTHER_BARRIER, _PASSED_BY, _PASSED_BY_WARP = (
    code_of("barrier-divergence", variant) for variant in range(4)
)
# By warp, zero when a block begins:
CLEARED = (layout.WAITING, layout.DEPARTED, layout.BARRIER_AT)


@native
def forget_missing(S):
    """No warp waits at a barrier or has departed."""
    for one in range(word(S, layout.WARP_COUNT)):
        for words in CLEARED:
            set_word(S, words + one, 0)
    set_word(S, layout.FIRST_DEPARTED, layout.NEVER)
    if word(S, layout.COUNTED) != 0:
        for one in range(word(S, layout.WARP_COUNT) * layout.BARRIERS):
            set_word(S, layout.SETTLED + one, 0)


@native
def _stamp_at(S, warp, at):
    """The stamp of a lane of a warp at a place, both in one word."""
    return stamp_of(S, warp, at & 255, at >> 8)


@exported
def come(S, warp, mask, gate, place, contexts):
    """Lanes of a warp come to a barrier, perhaps before others; `contexts` has a word of each, or is 0."""
    if mask == 0:
        return
    lane = first_lane(mask)
    context = 0 if contexts == 0 else load(contexts + 8 * lane)
    if contexts != 0:
        others = 0
        for other in range(layout.LANES):
            if (mask >> other) & 1 != 0 and load(contexts + 8 * other) != context:
                others |= 1 << other
        if others != 0:
            other = stamp_of(S, warp, first_lane(others), place)
            record(S, _PARTED, stamp_of(S, warp, lane, place), other, 0, 0, 0, 0, others)
    waiting = word(S, layout.WAITING + warp)
    if waiting == 0:
        set_word(S, layout.WAITING_AT + warp, place << 8 | lane)
        set_word(S, layout.WAITING_GATE + warp, gate)
        set_word(S, layout.WAITING_CONTEXT + warp, context)
    elif word(S, layout.WAITING_GATE + warp) != gate or word(S, layout.WAITING_CONTEXT + warp) != context:
        stamp = _stamp_at(S, warp, word(S, layout.WAITING_AT + warp))
        record(S, _PARTED, stamp, stamp_of(S, warp, lane, place), 0, 0, 0, 0, mask)
    set_word(S, layout.WAITING + warp, waiting | mask)


@exported
def gather(S, warp, mask, gate, contexts):
    """A warp comes to a barrier of the block in a kernel that has several, none of them named.

    All warps that it lets go on must have come to the same one, in the same turn of the loops around it.
    """
    lane = first_lane(mask)
    stamp = stamp_of(S, warp, lane, gate)
    context = 0 if contexts == 0 else load(contexts + 8 * lane)
    first = word(S, layout.GATE)
    if ((first ^ stamp) >> layout.TIME_SHIFT) & ~word(S, layout.STEPS) != 0:
        set_word(S, layout.GATE, stamp)
        set_word(S, layout.GATE_CONTEXT, context)
        return
    other = ((first ^ stamp) >> layout.PLACE_SHIFT) & (layout.PLACES - 1) != 0
    if (first >> layout.WARP_SHIFT) & 31 != warp and (other or word(S, layout.GATE_CONTEXT) != context):
        record(S, _OTHER_BARRIER, stamp, first, 0, 0, 0, 0, 0)


@exported
def depart(S, warp, mask, place):
    """Lanes take a way that leads to no barrier any more, and have not returned."""
    if mask == 0:
        return
    at = place << 8 | first_lane(mask)
    set_word(S, layout.DEPARTED + warp, word(S, layout.DEPARTED + warp) | mask)
    set_word(S, layout.DEPARTED_AT + warp, at)
    time = word(S, layout.TIMES + warp)
    set_word(S, layout.DEPARTED_TIME + warp, time)
    set_word(S, layout.FIRST_DEPARTED, min(time, word(S, layout.FIRST_DEPARTED)))
    if word(S, layout.WAITING + warp) != 0:
        miss(S, warp, word(S, layout.WAITING + warp), word(S, layout.WAITING_AT + warp) >> 8)


@exported
def miss(S, warp, mask, place):
    """Lanes come to a barrier that others of their warp, which have departed, will not come to."""
    departed = word(S, layout.DEPARTED + warp)
    if mask != 0 and departed != 0:
        other = _stamp_at(S, warp, word(S, layout.DEPARTED_AT + warp))
        record(S, _PASSED_BY, stamp_of(S, warp, first_lane(mask), place), other, 0, 0, 0, 0, departed)
        set_word(S, layout.DEPARTED + warp, 0)  # the first barrier that they miss is told


@exported
def look_around(S, warp):
    """A warp goes on behind a barrier of the block: those that departed before it opened have missed it."""
    for other in range(word(S, layout.WARP_COUNT)):
        if word(S, layout.DEPARTED_TIME + other) < word(S, layout.TIMES + warp):
            _miss_by_warp(S, warp, other)


@native
def _miss_by_warp(S, warp, other):
    departed = word(S, layout.DEPARTED + other)
    if other != warp and departed != 0 and word(S, layout.BARRIER_AT + warp) != 0:
        stamp = _stamp_at(S, warp, word(S, layout.BARRIER_AT + warp))
        at = _stamp_at(S, other, word(S, layout.DEPARTED_AT + other))
        record(S, _PASSED_BY_WARP, stamp, at, 0, 0, 0, 0, departed)
        set_word(S, layout.DEPARTED + other, 0)


@native
def settle_everyone(S, warp, number, came):
    """The same behind a barrier with an id that is for all: `came` is its generation plus one."""
    barrier = number >> 1
    set_word(S, layout.SETTLED + warp * layout.BARRIERS + barrier, came)
    if word(S, layout.FIRST_DEPARTED) != layout.NEVER:
        for other in range(word(S, layout.WARP_COUNT)):
            if word(S, layout.SETTLED + other * layout.BARRIERS + barrier) < came:
                _miss_by_warp(S, warp, other)
