"""Who arrives at the barrier of the cluster, and who never will: the native functions.

How often each lane has arrived is counted while its block is under way; all is judged when those of the
cluster have ended (cluster_absence.py).
"""

from __future__ import annotations

from .. import layout
from ..intrinsics import load, store
from ..native import exported, native
from ..recorder import code_of, record, set_word, stamp_of, word
from .lanes import first_lane

VARIANTS = range(4, 7)  # of barrier-divergence, behind those of missing.py
PASSED, PASSED_BY_LANES, OUT_OF_STEP = VARIANTS
_PASSED, _PASSED_BY_LANES, _OUT_OF_STEP = (code_of("barrier-divergence", variant) for variant in VARIANTS)


@exported
def tell_peers(place, state):
    """Put the address of a block's state where its cluster finds it."""
    store(place, state)


# ------------------------------------------------------------------------------------ a cluster ends
@exported
def judge_cluster(S):
    """All blocks of a cluster have ended: who has arrived less often than others without having returned."""
    peers, size = word(S, layout.PEERS), word(S, layout.CLUSTER_SIZE)
    most, at = 0, 0
    for rank in range(size):
        one = load(peers + 8 * (layout.PEER_WORDS * rank + layout.PEER_STATE))
        turns = _most_arrivals(one)
        if turns > most:
            most, at = turns, _arrival_after(one, turns)
    if most == 0:
        return
    for rank in range(size):
        one = load(peers + 8 * (layout.PEER_WORDS * rank + layout.PEER_STATE))
        own = _arrival_after(one, most)
        for warp in range(word(one, layout.WARP_COUNT)):
            _judge_warp(one, warp, most, at if own == 0 else own)


@native
def _most_arrivals(S):
    """How often a thread of the block has arrived at most."""
    most = 0
    for thread in range(word(S, layout.WARP_COUNT) * layout.LANES):
        most = max(most, word(S, layout.ARRIVALS + thread))
    return most


@native
def _arrival_after(S, turns):
    """The stamp of the latest arrival of a warp of the block that has arrived so often; 0: there is none."""
    for thread in range(word(S, layout.WARP_COUNT) * layout.LANES):
        if word(S, layout.ARRIVALS + thread) == turns:
            return word(S, layout.ARRIVED_AT + thread // layout.LANES)
    return 0


@native
def _judge_warp(S, warp, most, at):
    missing, started = 0, word(S, layout.STARTED + warp)
    for lane in range(layout.LANES):
        if (started >> lane) & 1 != 0 and word(S, layout.ARRIVALS + warp * layout.LANES + lane) < most:
            missing |= 1 << lane
    gone = missing & word(S, layout.LEFT_CLUSTER + warp)
    cluster = word(S, layout.PEERS) + 8 * layout.PEER_WORDS * word(S, layout.CLUSTER_SIZE)
    if gone != 0:
        code = _PASSED
        if word(S, layout.ARRIVED_AT + warp) != 0 and missing != started:  # others of the warp have come
            at = word(S, layout.ARRIVED_AT + warp)
            if word(S, layout.ARRIVES_ALIGNED + warp) != 0:
                code = _PASSED_BY_LANES
        record(S, code, at, word(S, layout.LEFT_CLUSTER_AT + warp), 0, 0, 0, 0, gone)
    elif missing & word(S, layout.ARRIVED_LAST + warp) != 0:
        stamp = load(cluster + 8 * layout.ASTRAY)
        if stamp != 0:
            record(S, _OUT_OF_STEP, stamp, load(cluster + 8 * layout.ASTRAY_FROM), 0, 0, 0, 0, 0)


@native
def forget_arrivals(S):
    """A block begins: none of its threads has arrived or departed."""
    for warp in range(word(S, layout.WARP_COUNT)):
        for words in (
            layout.ARRIVED_AT,
            layout.ARRIVES_ALIGNED,
            layout.ARRIVED_LAST,
            layout.LEFT_CLUSTER,
            layout.LEFT_CLUSTER_AT,
        ):
            set_word(S, words + warp, 0)
        for lane in range(layout.LANES):
            set_word(S, layout.ARRIVALS + warp * layout.LANES + lane, 0)


@native
def forget_meeting(S):
    """A cluster begins: nobody has met anybody."""
    cluster = word(S, layout.PEERS) + 8 * layout.PEER_WORDS * word(S, layout.CLUSTER_SIZE)
    for at in (layout.MEETING, layout.ASTRAY):
        store(cluster + 8 * at, 0)


# ------------------------------------------------------------------------------------ threads come and go
@exported
def come_to_cluster(S, warp, mask, phase, place, last, aligned):
    """Lanes arrive; `last` says that no other arrival lies ahead."""
    if mask == 0:
        return
    stamp = stamp_of(S, warp, first_lane(mask), place)
    set_word(S, layout.ARRIVED_AT + warp, stamp)
    set_word(S, layout.ARRIVES_ALIGNED + warp, aligned)
    if last != 0:
        set_word(S, layout.ARRIVED_LAST + warp, word(S, layout.ARRIVED_LAST + warp) | mask)
    for lane in range(layout.LANES):
        if (mask >> lane) & 1 != 0:
            at = layout.ARRIVALS + warp * layout.LANES + lane
            set_word(S, at, word(S, at) + 1)
    cluster = word(S, layout.PEERS) + 8 * layout.PEER_WORDS * word(S, layout.CLUSTER_SIZE)
    if load(cluster + 8 * layout.MEETING) != phase + 1:
        store(cluster + 8 * layout.MEETING, phase + 1)
        store(cluster + 8 * layout.MEETING_AT, stamp)
        return
    first = load(cluster + 8 * layout.MEETING_AT)
    apart = ((first ^ stamp) >> layout.PLACE_SHIFT) & (layout.PLACES - 1) != 0
    if apart and load(cluster + 8 * layout.ASTRAY) == 0:
        store(cluster + 8 * layout.ASTRAY, stamp)
        store(cluster + 8 * layout.ASTRAY_FROM, first)


@exported
def leave_for_good(S, warp, mask, place):
    """Lanes take a way that leads to no arrival any more, and have not returned."""
    if mask != 0:
        set_word(S, layout.LEFT_CLUSTER + warp, word(S, layout.LEFT_CLUSTER + warp) | mask)
        set_word(S, layout.LEFT_CLUSTER_AT + warp, stamp_of(S, warp, first_lane(mask), place))
