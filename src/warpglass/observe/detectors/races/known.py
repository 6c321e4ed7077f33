"""Which accesses the thread of another knows of, by the events that led to what it has learned (events.py).

Most programs get there by few events: those that a thread has just acquired. Where it takes more, all that
led to an event is listed by warp, once, in its **closure**; that of a later event in the same chain goes on
from there.
"""

from __future__ import annotations

from .. import layout
from ..intrinsics import load, load_half, store, store_half
from ..native import native
from ..recorder import word
from .events import HALF, event_at, of_launch, set_of_launch

_LAST_QUERY = (1 << 31) - 1
_NEAR_SEARCH = 512  # events that are looked at before a closure is made


@native
def knows(S, stamp, other):
    """Whether the thread of a stamp has learned of the access of another's."""
    thread = (stamp >> layout.LANE_SHIFT) & (layout.WARPS * layout.LANES - 1)
    start = word(S, layout.LEARNED + thread)
    if of_launch(S, layout.GAVE_UP) != 0:
        return True
    if start == 0:
        return False
    shift = word(S, layout.BLOCK_SHIFT)
    least = load(of_launch(S, layout.FIRST_EVENTS) + 8 * ((other >> shift) - 1))
    search, room = of_launch(S, layout.QUERIES) % _LAST_QUERY + 1, of_launch(S, layout.TO_SEARCH)
    set_of_launch(S, layout.QUERIES, search)
    base, closure = of_launch(S, layout.BASE_EVENT), of_launch(S, layout.CLOSURE)
    store_half(room, start)
    first, count, is_closed = 0, 1, False
    while first < count:
        if first == _NEAR_SEARCH:
            _close(S, start)
            return _closure_covers(S, other, shift)
        event = load_half(room + 4 * first)
        first += 1
        at = event_at(S, event)
        is_closed = is_closed or event == base
        if is_closed and load_half(at + layout.EVENT_CLOSURE) == closure:
            continue
        if _covers(S, at, other, shift):
            return True
        for which in (layout.EVENT_BEFORE, layout.EVENT_CHAIN):
            earlier = load_half(at + which)
            if earlier >= max(least, 1) and load_half(event_at(S, earlier) + layout.EVENT_SEARCH) != search:
                store_half(event_at(S, earlier) + layout.EVENT_SEARCH, search)
                store_half(room + 4 * count, earlier)
                count += 1
    return is_closed and _closure_covers(S, other, shift)


@native
def _covers(S, at, other, shift):
    """Whether an event's own thread knew of an access."""
    stamp = load(at + layout.EVENT_STAMP)
    if stamp == 0 or stamp >> shift != other >> shift:
        return False
    time = (other & ((1 << shift) - 1)) >> layout.TIME_SHIFT
    warp, lane = (other >> layout.WARP_SHIFT) & 31, (other >> layout.LANE_SHIFT) & 31
    snapshot = of_launch(S, layout.KNOWLEDGE) + 8 * load_half(at + layout.EVENT_KNOWS)
    if (stamp >> layout.WARP_SHIFT) & 31 != warp:
        if load(snapshot + 8 * layout.SNAPSHOT_ALL) >= time:
            return True
        known = load(snapshot + 8 * (layout.SNAPSHOT_WORDS + warp))
        return load(snapshot + 8 * layout.SNAPSHOT_WARPS) != 0 and known >= time
    lanes = load_half(at + layout.EVENT_LANES)
    if (lanes >> lane) & 1 != 0 and (stamp & ((1 << shift) - 1)) >> layout.TIME_SHIFT >= time:
        return True
    if load(snapshot + 8 * layout.SNAPSHOT_LANES) >= time:
        return True
    if load(snapshot + 8 * layout.SNAPSHOT_CLOCKS) == 0:
        return False
    clocks = snapshot + 8 * (layout.SNAPSHOT_WORDS + layout.WARPS)
    for one in range(layout.LANES):
        if (lanes >> one) & 1 != 0 and load(clocks + 8 * (one * layout.LANES + lane)) >= time:
            return True
    return False


# ---------------------------------------------------------------------------------------- closures
@native
def _close(S, start):
    """List all events that lead to one by warp; if that of the closure is among them, go on from there."""
    closure, base = of_launch(S, layout.CLOSURE), of_launch(S, layout.BASE_EVENT)
    if base == 0 or base > start or not _enclose(S, start, base, closure):
        closure += 1
        set_of_launch(S, layout.CLOSURE, closure)
        _enclose(S, start, 0, closure)
    set_of_launch(S, layout.BASE_EVENT, start)


@native
def _enclose(S, start, base, closure):
    """Put the events that lead to one into a closure; whether `base`, which is in it, is among them."""
    room, count, is_met = of_launch(S, layout.TO_SEARCH), 1, False
    store_half(room, start)
    store_half(event_at(S, start) + layout.EVENT_CLOSURE, closure)
    while count > 0:
        count -= 1
        event = load_half(room + 4 * count)
        at = event_at(S, event)
        _list(S, event, at, closure)
        for which in (layout.EVENT_BEFORE, layout.EVENT_CHAIN):
            earlier = load_half(at + which)
            is_met = is_met or (earlier != 0 and earlier == base)
            if earlier != 0 and load_half(event_at(S, earlier) + layout.EVENT_CLOSURE) != closure:
                store_half(event_at(S, earlier) + layout.EVENT_CLOSURE, closure)
                store_half(room + 4 * count, earlier)
                count += 1
    return is_met


@native
def _list(S, event, at, closure):
    """Put an event into the list of its warp."""
    stamp = load(at + layout.EVENT_STAMP)
    if stamp == 0:
        return
    block, warp = (stamp >> word(S, layout.BLOCK_SHIFT)) - 1, (stamp >> layout.WARP_SHIFT) & 31
    head = of_launch(S, layout.REACHED) + 8 * (block * word(S, layout.WARP_COUNT) + warp)
    before = load(head)
    store_half(at + layout.EVENT_NEXT, before & HALF if before >> 32 == closure else 0)
    store(head, closure << 32 | event)
    known = of_launch(S, layout.BLOCK_KNOWN) + 16 * block
    time = load(of_launch(S, layout.KNOWLEDGE) + 8 * load_half(at + layout.EVENT_KNOWS))
    if load(known) != closure or load(known + 8) < time:
        store(known, closure)
        store(known + 8, time)


@native
def _closure_covers(S, other, shift):
    closure = of_launch(S, layout.CLOSURE)
    block, own = (other >> shift) - 1, (other >> layout.WARP_SHIFT) & 31
    time = (other & ((1 << shift) - 1)) >> layout.TIME_SHIFT
    known = of_launch(S, layout.BLOCK_KNOWN) + 16 * block
    if load(known) == closure and load(known + 8) >= time:
        return True
    warps = word(S, layout.WARP_COUNT)
    for warp in range(warps if word(S, layout.COUNTED) != 0 else 1):
        number = (own + warp) % warps
        head = load(of_launch(S, layout.REACHED) + 8 * (block * warps + number))
        event = head & HALF if head >> 32 == closure else 0
        while event != 0:
            if _covers(S, event_at(S, event), other, shift):
                return True
            event = load_half(event_at(S, event) + layout.EVENT_NEXT)
    return False
