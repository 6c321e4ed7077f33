"""How accesses, fences and barriers pass events between threads and places (events.py).

A place has an event that goes with its value. Whoever reads that learns it, by an access that acquires or at
the next fence; whoever writes leaves what it has fenced or releases.
"""

from __future__ import annotations

from .. import layout
from ..intrinsics import load, store
from ..native import exported, native
from ..recorder import set_word, word
from ..sync.clocks import step
from .events import (
    HALF,
    add_event,
    fenced_event,
    join_events,
    of_launch,
    set_of_launch,
    snapshot_of,
    stamp_now,
)

_BY_THREAD = (
    *(layout.LEARNED, layout.UNFENCED, layout.UNFENCED_NEAR, layout.FENCED, layout.FENCED_NEAR),
    layout.FENCE,
)


# ---------------------------------------------------------------------------------------- places
@native
def value_at(S, key, owner, exact):
    """The row of a place's value; where it is not `exact`, a row of another owner is emptied. 0: no room."""
    table = of_launch(S, layout.VALUES)
    slot = ((key >> 2) + (key >> 22) * 40503 + owner * 9176) & (layout.VALUE_SLOTS - 1)
    while True:
        at = table + slot * layout.VALUE_BYTES
        found = load(at + layout.VALUE_KEY)
        if found == key:
            if load(at + layout.VALUE_OWNER) == owner:
                return at
            if exact == 0:
                break
        elif found == 0:
            used = of_launch(S, layout.VALUES_USED)
            if 4 * used > 3 * layout.VALUE_SLOTS:
                set_of_launch(S, layout.GAVE_UP, 1)
                return 0
            set_of_launch(S, layout.VALUES_USED, used + 1)
            break
        slot = (slot + 1) & (layout.VALUE_SLOTS - 1)
    store(at + layout.VALUE_KEY, key)
    store(at + layout.VALUE_OWNER, owner)
    store(at + layout.VALUE_EVENT, 0)
    store(at + layout.VALUE_STORES, 0)
    store(at + layout.VALUE_UPDATE, 0)
    return at


@native
def shared_value(S, offset):
    """The row of a place of the block's shared memory, or of another of its cluster."""
    if offset >> layout.RANK_SHIFT != 0:
        return value_at(S, offset, word(S, layout.CLUSTER), 0)
    return value_at(S, -(S + offset), word(S, layout.TAG) >> word(S, layout.BLOCK_SHIFT), 0)


# ---------------------------------------------------------------------------------------- accesses
@exported
def order(S, warp, mask, how, addresses, update):
    """Lanes access places strongly: what came with the values is learned, what they fenced goes with theirs.

    An atomic operation goes on with what it replaces, a store begins anew. `update` has place and strength of
    a stamp for operations that others leave to the last one (chained_updates.py), else 0.
    """
    set_word(S, layout.TOLD + warp, 1)
    block = (word(S, layout.TAG) >> word(S, layout.BLOCK_SHIFT)) & HALF
    last = stamp_now(S, warp) | update
    for lane in range(layout.LANES):
        if (mask >> lane) & 1 == 0:
            continue
        address = load(addresses + 8 * lane)
        if address >> layout.WINDOW_SHIFT == layout.LOCAL_WINDOW:
            continue
        if address >> layout.WINDOW_SHIFT <= layout.SHARED_WINDOW:  # of this worker's shared memory
            row = shared_value(S, address & layout.WITHIN_WINDOW)
            if row != 0:
                if update != 0:
                    store(row + layout.VALUE_UPDATE, last | lane << layout.LANE_SHIFT)
                _order_shared(S, warp, lane, how, row)
            continue
        row = value_at(S, address, 0, 1)
        if row == 0:
            continue
        if update != 0:
            store(row + layout.VALUE_UPDATE, last | lane << layout.LANE_SHIFT)
        if of_launch(S, layout.NEAR) == 0:
            _order_shared(S, warp, lane, how, row)
        else:
            near = value_at(S, address, block, 1)
            if near != 0:
                _order_global(S, warp, lane, how, row, near)
    if how & layout.RELEASING != 0:
        step(S, warp)  # what the warp does from now on is not released


@native
def _order_shared(S, warp, lane, how, row):
    """One lane's access where whoever reads a value is in its scope."""
    thread = warp * layout.LANES + lane
    came, learned = load(row + layout.VALUE_EVENT), word(S, layout.LEARNED + thread)
    fence = word(S, layout.FENCE + thread)
    atomic = how & layout.ATOMICALLY != 0
    if atomic and came != 0 and how & layout.READING != 0 and how & layout.ACQUIRING != 0:
        # One event for both: what is learned is what goes with the new value.
        if how & layout.RELEASING != 0:
            event = add_event(S, stamp_now(S, warp), 1 << lane, learned, came, snapshot_of(S, warp))
            set_word(S, layout.LEARNED + thread, event)
            store(row + layout.VALUE_EVENT, event)
            return
        if fence != 0 and word(S, layout.FENCE_LEARNED + thread) == learned:
            event = add_event(S, fence, 1 << lane, learned, came, word(S, layout.FENCE_KNOWS + thread))
            set_word(S, layout.LEARNED + thread, event)
            store(row + layout.VALUE_EVENT, event)
            return
    if how & layout.READING != 0:
        learned = _read(S, thread, how, came, came)
    if how & layout.WRITING == 0:
        return
    event = came if atomic else 0
    if how & layout.RELEASING != 0:
        event = add_event(S, stamp_now(S, warp), 1 << lane, learned, event, snapshot_of(S, warp))
    else:
        event = join_events(
            S, event, join_events(S, fenced_event(S, thread), word(S, layout.FENCED_NEAR + thread))
        )
    store(row + layout.VALUE_EVENT, event)


@native
def _order_global(S, warp, lane, how, row, near):
    """One lane's access where some order threads of one block only, whose row is `near`."""
    thread = warp * layout.LANES + lane
    atomic, within = how & layout.ATOMICALLY != 0, how & layout.WITHIN_BLOCK != 0
    stores = load(row + layout.VALUE_STORES)
    came = load(row + layout.VALUE_EVENT)
    came_near = load(near + layout.VALUE_EVENT) if load(near + layout.VALUE_STORES) == stores else 0
    learned = word(S, layout.LEARNED + thread)
    if how & layout.READING != 0:
        learned = _read(S, thread, how, came_near if within else join_events(S, came, came_near), came_near)
    if how & layout.WRITING == 0:
        return
    event, event_near = (came, came_near) if atomic else (0, 0)
    part, part_near = 0, word(S, layout.FENCED_NEAR + thread)
    if how & layout.RELEASING != 0:
        made = add_event(S, stamp_now(S, warp), 1 << lane, learned, 0, snapshot_of(S, warp))
        part, part_near = (
            (fenced_event(S, thread), join_events(S, part_near, made)) if within else (made, part_near)
        )
    else:
        part = fenced_event(S, thread)
    if not atomic:
        stores += 1
        store(row + layout.VALUE_STORES, stores)
    store(near + layout.VALUE_STORES, stores)
    store(row + layout.VALUE_EVENT, join_events(S, event, part))
    store(near + layout.VALUE_EVENT, join_events(S, event_near, join_events(S, part, part_near)))


@native
def _read(S, thread, how, came, near):
    """A thread reads a value with which an event came, and one of its block; returns what it knows then."""
    learned = word(S, layout.LEARNED + thread)
    if how & layout.ACQUIRING != 0:
        learned = join_events(S, learned, came)
        set_word(S, layout.LEARNED + thread, learned)
    elif came != 0:
        set_word(S, layout.UNFENCED + thread, join_events(S, word(S, layout.UNFENCED + thread), came))
        set_word(
            S, layout.UNFENCED_NEAR + thread, join_events(S, word(S, layout.UNFENCED_NEAR + thread), near)
        )
    return learned


# ---------------------------------------------------------------------------------------- fences
@exported
def fence(S, warp, mask, how):
    """Lanes pass a fence: what they have read is known, what they know goes with what they store."""
    set_word(S, layout.TOLD + warp, 1)
    within, near = how & layout.WITHIN_BLOCK != 0, of_launch(S, layout.NEAR)
    stamp, knows = stamp_now(S, warp), snapshot_of(S, warp)
    for lane in range(layout.LANES):
        if (mask >> lane) & 1 == 0:
            continue
        thread = warp * layout.LANES + lane
        learned = word(S, layout.LEARNED + thread)
        if how & layout.ACQUIRING != 0:
            learned = join_events(S, learned, word(S, layout.UNFENCED_NEAR + thread))
            set_word(S, layout.UNFENCED_NEAR + thread, 0)
            if not within:
                learned = join_events(S, learned, word(S, layout.UNFENCED + thread))
                set_word(S, layout.UNFENCED + thread, 0)
            set_word(S, layout.LEARNED + thread, learned)
        if how & layout.RELEASING == 0:
            continue
        if within and near != 0:  # what the whole device may take stays valid
            set_word(S, layout.FENCED_NEAR + thread, add_event(S, stamp, 1 << lane, learned, 0, knows))
            continue
        set_word(S, layout.FENCE + thread, stamp)
        set_word(S, layout.FENCE_LEARNED + thread, learned)
        set_word(S, layout.FENCE_KNOWS + thread, knows)
        set_word(S, layout.FENCED + thread, 0)
        set_word(S, layout.FENCED_NEAR + thread, 0)
    if how & layout.RELEASING != 0:
        step(S, warp)


# ---------------------------------------------------------------------------------------- barriers
@native
def start_causes(S):
    """A block begins: its threads know nothing."""
    for kind in _BY_THREAD:
        for thread in range(word(S, layout.WARP_COUNT) * layout.LANES):
            set_word(S, kind + thread, 0)
    for warp in range(word(S, layout.WARP_COUNT)):
        set_word(S, layout.SNAPSHOTS + warp, 0)
        set_word(S, layout.TOLD + warp, 0)
    for meeting in range(2 * layout.BARRIERS):
        set_word(S, layout.PASSED + meeting * layout.PASSED_WORDS + layout.PASSED_TAG, 0)
    store(of_launch(S, layout.FIRST_EVENTS) + 8 * word(S, layout.BLOCK), of_launch(S, layout.EVENT_COUNT))


@native
def _interval(S, time):
    """The meeting of a barrier of the block, where there are no others: by turns one of two."""
    return (time & (word(S, layout.STEPS) + 1)) != 0


@exported
def leave_interval(S, warp):
    """A warp comes to a barrier of the block in a kernel that has no others."""
    time = word(S, layout.TIMES + warp)
    _leave(S, warp, 1 if _interval(S, time) else 0, (time & ~word(S, layout.STEPS)) + 1)


@exported
def take_interval(S, warp):
    """A warp goes on behind it, at its new time."""
    _take(S, warp, 1 if _interval(S, word(S, layout.TIMES + warp) - 1) else 0)


@exported
def leave_meeting(S, warp):
    """A warp comes to a barrier whose arrivals are counted, as `arrive` has noted."""
    meeting = word(S, layout.MET_LAST + warp)
    came = word(S, layout.MEETINGS + meeting * layout.MEETING_WORDS + layout.CAME)
    _leave(S, warp, meeting, came)


@exported
def take_meeting(S, warp):
    """A warp goes on behind it, as `settle` has noted."""
    _take(S, warp, word(S, layout.MET_LAST + warp))


@native
def _leave(S, warp, meeting, tag):
    """What a warp's lanes know and have fenced is for all who meet there."""
    at = layout.PASSED + meeting * layout.PASSED_WORDS
    if word(S, at + layout.PASSED_TAG) != tag:
        set_word(S, at + layout.PASSED_TAG, tag)
        for part in (layout.PASSED_LEARNED, layout.PASSED_FENCED, layout.PASSED_FENCED_NEAR):
            set_word(S, at + part, 0)
    thread = warp * layout.LANES
    nothing = word(S, layout.LEARNED + thread) | word(S, layout.FENCED + thread)
    nothing |= word(S, layout.FENCED_NEAR + thread) | word(S, layout.TOLD + warp)
    if nothing == 0:
        return
    learned = word(S, at + layout.PASSED_LEARNED)
    fenced, near = word(S, at + layout.PASSED_FENCED), word(S, at + layout.PASSED_FENCED_NEAR)
    joined, joined_fence, joined_near = 0, 0, 0  # the last lane's, which are most often all the others'
    for lane in range(layout.LANES):
        thread = warp * layout.LANES + lane
        one = word(S, layout.LEARNED + thread)
        if one != joined:
            learned, joined = join_events(S, learned, one), one
        one = fenced_event(S, thread)
        if one != joined_fence:
            fenced, joined_fence = join_events(S, fenced, one), one
        one = word(S, layout.FENCED_NEAR + thread)
        if one != joined_near:
            near, joined_near = join_events(S, near, one), one
    set_word(S, at + layout.PASSED_LEARNED, learned)
    set_word(S, at + layout.PASSED_FENCED, fenced)
    set_word(S, at + layout.PASSED_FENCED_NEAR, near)


@native
def _take(S, warp, meeting):
    """A warp goes on with what was left at a barrier."""
    at = layout.PASSED + meeting * layout.PASSED_WORDS
    learned = word(S, at + layout.PASSED_LEARNED)
    fenced, near = word(S, at + layout.PASSED_FENCED), word(S, at + layout.PASSED_FENCED_NEAR)
    set_word(S, layout.SNAPSHOTS + warp, 0)
    set_word(S, layout.TOLD + warp, 0)  # all its lanes know the same
    for thread in range(warp * layout.LANES, (warp + 1) * layout.LANES):
        set_word(S, layout.LEARNED + thread, learned)
        set_word(S, layout.FENCED + thread, fenced)
        set_word(S, layout.FENCED_NEAR + thread, near)


@exported
def meet_causes(S, warp, mask, members):
    """Lanes meet at an instruction with a member mask, one word for each at `members`."""
    set_word(S, layout.SNAPSHOTS + warp, 0)
    if word(S, layout.TOLD + warp) == 0:
        return
    done = 0
    for lane in range(layout.LANES):
        if ((mask & ~done) >> lane) & 1 == 0:
            continue
        named = load(members + 8 * lane) & HALF
        learned, fenced, near, group = 0, 0, 0, 0
        for other in range(layout.LANES):
            if ((mask & named) >> other) & 1 != 0:
                thread = warp * layout.LANES + other
                learned = join_events(S, learned, word(S, layout.LEARNED + thread))
                fenced = join_events(S, fenced, fenced_event(S, thread))
                near = join_events(S, near, word(S, layout.FENCED_NEAR + thread))
                if load(members + 8 * other) & HALF == named:
                    group |= 1 << other
        group |= 1 << lane
        done |= group
        for other in range(layout.LANES):
            if (group >> other) & 1 != 0:
                thread = warp * layout.LANES + other
                set_word(S, layout.LEARNED + thread, learned)
                set_word(S, layout.FENCED + thread, fenced)
                set_word(S, layout.FENCED_NEAR + thread, near)
