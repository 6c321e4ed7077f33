"""Events that order threads beyond barriers: fences, and what goes with the values of strong accesses.

A thread knows an event, and by it all that led to it, up to two others each. An event may be one of a thread:
its stamp says until when it knows what the thread did, its snapshot what barriers had told the thread. Or it
only joins two others. So an operation costs one or two events, however much its thread knows; what that is
shows when somebody asks (known.py).
"""

from __future__ import annotations

from .. import layout
from ..intrinsics import load, load_half, store, store_half
from ..native import inlined, native
from ..recorder import set_word, word

HALF = (1 << 32) - 1


@inlined
def of_launch(S, index):
    """A word of what all workers of a launch share."""
    return load(word(S, layout.CAUSES) + 8 * index)


@inlined
def set_of_launch(S, index, value):
    """Set a word of what all workers of a launch share."""
    store(word(S, layout.CAUSES) + 8 * index, value)


@inlined
def event_at(S, event):
    """The address of an event."""
    return of_launch(S, layout.EVENTS) + layout.EVENT_BYTES * event


@native
def add_event(S, stamp, lanes, before, chain, knows):
    """A new event; where there is no room, the one before it."""
    event = of_launch(S, layout.EVENT_COUNT)
    if event == layout.MOST_EVENTS:
        set_of_launch(S, layout.GAVE_UP, 1)
        return before
    set_of_launch(S, layout.EVENT_COUNT, event + 1)
    at = event_at(S, event)
    store(at + layout.EVENT_STAMP, stamp)
    store_half(at + layout.EVENT_BEFORE, before)
    store_half(at + layout.EVENT_CHAIN, chain)
    store_half(at + layout.EVENT_KNOWS, knows)
    store_half(at + layout.EVENT_LANES, lanes)
    return event


@native
def join_events(S, one, other):
    """An event that comes after two."""
    if other == 0 or one == other:
        return one
    if one == 0:
        return other
    late, early = max(one, other), min(one, other)
    at = event_at(S, late)
    if load_half(at + layout.EVENT_BEFORE) == early or load_half(at + layout.EVENT_CHAIN) == early:
        return late
    return add_event(S, 0, 0, late, early, 0)


@native
def snapshot_of(S, warp):
    """What a warp knows of its block by barriers, as it is now."""
    found = word(S, layout.SNAPSHOTS + warp)
    if found != 0:
        return found
    partial = word(S, layout.PARTIAL + warp)
    counted = word(S, layout.COUNTED)
    size = layout.SNAPSHOT_WORDS + layout.WARPS + (layout.LANES * layout.LANES if partial != 0 else 0)
    if counted == 0 and partial == 0:
        size = layout.SNAPSHOT_WORDS
    found = of_launch(S, layout.KNOWLEDGE_COUNT)
    if found + size > layout.MOST_KNOWLEDGE:
        set_of_launch(S, layout.GAVE_UP, 1)
        return 0
    set_of_launch(S, layout.KNOWLEDGE_COUNT, found + size)
    at = of_launch(S, layout.KNOWLEDGE) + 8 * found
    store(at + 8 * layout.SNAPSHOT_ALL, word(S, layout.ALL_KNOWN + warp))
    store(at + 8 * layout.SNAPSHOT_LANES, word(S, layout.LANES_KNOWN + warp))
    store(at + 8 * layout.SNAPSHOT_WARPS, counted)
    store(at + 8 * layout.SNAPSHOT_CLOCKS, partial)
    if counted != 0:
        for one in range(word(S, layout.WARP_COUNT)):
            known = word(S, layout.KNOWN + warp * layout.WARPS + one)
            store(at + 8 * (layout.SNAPSHOT_WORDS + one), known)
    if partial != 0:
        clocks = at + 8 * (layout.SNAPSHOT_WORDS + layout.WARPS)
        for one in range(layout.LANES * layout.LANES):
            store(clocks + 8 * one, word(S, layout.LANE_CLOCKS + warp * layout.LANES * layout.LANES + one))
    set_word(S, layout.SNAPSHOTS + warp, found)
    return found


@inlined
def stamp_now(S, warp):
    """The stamp of a warp now, without place and lane."""
    return word(S, layout.TAG) | word(S, layout.TIMES + warp) << layout.TIME_SHIFT | warp << layout.WARP_SHIFT


@native
def fenced_event(S, thread):
    """The event of what a thread has fenced."""
    stamp = word(S, layout.FENCE + thread)
    if stamp != 0:
        learned, knows = word(S, layout.FENCE_LEARNED + thread), word(S, layout.FENCE_KNOWS + thread)
        event = add_event(S, stamp, 1 << (thread & (layout.LANES - 1)), learned, 0, knows)
        set_word(S, layout.FENCED + thread, event)
        set_word(S, layout.FENCE + thread, 0)
    return word(S, layout.FENCED + thread)
