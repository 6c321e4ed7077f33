"""cluster-memory, and the barrier of the cluster: what orders its blocks, and when their memory is there.

Who arrives at the barrier leaves what it knows there as an event (races/events.py); who has waited takes what
all have left. A block's shared memory is there for others once it has begun and until it ends. Where nothing
else orders threads, a thread knows the first when it has waited at the barrier at least once, and reaches the
memory in time if the block's threads waited once more often than the thread had arrived. So both are judged
for all orders of threads.

Races in the cluster's shared memory are found as those in global memory (races/): each block's is a region,
which is empty when the block begins.
"""

from __future__ import annotations

from typing import ClassVar

from ....codegen import Emission
from ....codegen.context import SLOT
from ....codegen.memory.sites import Site
from ....codegen.values.value import Value
from ....program import Step
from .. import layout
from ..detector import Detector, Watched
from ..diagnostics.recorded import Recorded, Words
from ..intrinsics import load, store
from ..native import exported, native, run
from ..races.access_sets import forget_memory
from ..races.causality import value_at
from ..races.events import add_event, fenced_event, join_events, snapshot_of, stamp_now
from ..recorder import code_of, record, row_of, set_word, stamp_of, word
from ..regions import rank_of
from .clocks import step as advance
from .cluster_arrivals import forget_arrivals, forget_meeting, judge_cluster

NOT_BEGUN, ENDED = range(2)  # variants
_NOT_BEGUN, _ENDED = (code_of("cluster-memory", variant) for variant in range(2))
_BARRIER = layout.SHARED_WINDOW << layout.WINDOW_SHIFT  # names no memory: the barrier's value


# ------------------------------------------------------------------------------------ blocks begin and end
@exported
def leave_cluster(S):
    """The block under way has ended: who reached its memory must have come before."""
    size = word(S, layout.CLUSTER_SIZE)
    if size == 0 or word(S, layout.BLOCK) < 0:
        return
    rank = word(S, layout.RANK)
    peer = word(S, layout.PEERS) + 8 * layout.PEER_WORDS * rank
    reached, waited = load(peer + 8 * layout.PEER_REACHED), 0
    for warp in range(word(S, layout.WARP_COUNT)):
        waited = max(waited, word(S, layout.WAITED + warp))
    if reached > waited:
        region = word(S, layout.REGION_COUNT) + rank
        stamp, offset = load(peer + 8 * layout.PEER_STAMP), load(peer + 8 * layout.PEER_OFFSET)
        record(S, _ENDED, stamp, 0, region, offset, 0, 0, load(peer + 8 * layout.PEER_SIZE))
    store(peer + 8 * layout.PEER_REACHED, 0)


@exported
def enter_cluster(S, block):
    """A block begins; the first of its cluster finds nothing in their memory."""
    size = word(S, layout.CLUSTER_SIZE)
    if size == 0:
        return
    leave_cluster(S)
    set_word(S, layout.CLUSTER, block // size + 1)
    set_word(S, layout.RANK, block % size)
    under_way = word(S, layout.PEERS) + 8 * (layout.PEER_WORDS * size + layout.UNDER_WAY)
    if load(under_way) != word(S, layout.CLUSTER):
        judge_cluster(S)
        forget_meeting(S)
        store(under_way, word(S, layout.CLUSTER))
        for rank in range(size):
            forget_memory(S, row_of(S, word(S, layout.REGION_COUNT) + rank))
    for warp in range(word(S, layout.WARP_COUNT)):
        set_word(S, layout.ARRIVED + warp, 0)
        set_word(S, layout.WAITED + warp, 0)
    forget_arrivals(S)


@exported
def reach(S, warp, mask, addresses, size, place):
    """Lanes access memory, perhaps that of other blocks of the cluster."""
    for lane in range(layout.LANES):
        if (mask >> lane) & 1 == 0:
            continue
        address = load(addresses + 8 * lane)
        rank = rank_of(address)
        if rank < 0 or rank == word(S, layout.RANK) or rank >= word(S, layout.CLUSTER_SIZE):
            continue
        stamp, region = stamp_of(S, warp, lane, place), word(S, layout.REGION_COUNT) + rank
        offset = address & ((1 << layout.RANK_SHIFT) - 1)
        if word(S, layout.WAITED + warp) == 0:
            record(S, _NOT_BEGUN, stamp, 0, region, offset, 0, 0, size)
        peer = word(S, layout.PEERS) + 8 * layout.PEER_WORDS * rank
        if word(S, layout.ARRIVED + warp) + 1 > load(peer + 8 * layout.PEER_REACHED):
            store(peer + 8 * layout.PEER_REACHED, word(S, layout.ARRIVED + warp) + 1)
            store(peer + 8 * layout.PEER_STAMP, stamp)
            store(peer + 8 * layout.PEER_OFFSET, offset)
            store(peer + 8 * layout.PEER_SIZE, size)


# ------------------------------------------------------------------------------------ the barrier
@native
def _meeting(S, phase):
    """The row of what those leave who arrive in a phase, by turns one of two; 0: no room."""
    row = value_at(S, _BARRIER + (phase & 1), word(S, layout.CLUSTER), 0)
    if row != 0 and load(row + layout.VALUE_STORES) != phase + 1:
        store(row + layout.VALUE_STORES, phase + 1)
        store(row + layout.VALUE_EVENT, 0)
    return row


@exported
def arrive_in_cluster(S, warp, mask, releases, phase):
    """Lanes arrive at the cluster's barrier in one of its phases, and leave what they know."""
    set_word(S, layout.TOLD + warp, 1)
    set_word(S, layout.ARRIVED + warp, phase + 1)
    row = _meeting(S, phase)
    if row == 0:
        return
    left, event, stamp, knows = mask, load(row + layout.VALUE_EVENT), stamp_now(S, warp), snapshot_of(S, warp)
    for lane in range(layout.LANES):
        if (left >> lane) & 1 == 0:
            continue
        if releases == 0:
            event = join_events(S, event, fenced_event(S, warp * layout.LANES + lane))
            continue
        learned, alike = word(S, layout.LEARNED + warp * layout.LANES + lane), 0
        for other in range(lane, layout.LANES):
            if (left >> other) & 1 != 0 and word(S, layout.LEARNED + warp * layout.LANES + other) == learned:
                alike |= 1 << other
        left &= ~alike
        event = add_event(S, stamp, alike, learned, event, knows)
    store(row + layout.VALUE_EVENT, event)
    if releases != 0:
        advance(S, warp)


@exported
def wait_in_cluster(S, warp, mask, acquires):
    """Lanes have waited there, and know what all have left."""
    set_word(S, layout.TOLD + warp, 1)
    set_word(S, layout.WAITED + warp, word(S, layout.ARRIVED + warp))
    row = _meeting(S, word(S, layout.ARRIVED + warp) - 1)
    if row == 0:
        return
    came, kind = load(row + layout.VALUE_EVENT), layout.LEARNED if acquires != 0 else layout.UNFENCED
    before, after = -1, 0  # the last lane's, which are most often all the others'
    for lane in range(layout.LANES):
        if (mask >> lane) & 1 != 0:
            at = kind + warp * layout.LANES + lane
            if word(S, at) != before:
                before = word(S, at)
                after = join_events(S, before, came)
            set_word(S, at, after)


# ------------------------------------------------------------------------------------ events
def _words(found: Recorded) -> Words:
    reaches = f"{found.one} reaches {found.element} {found.one.where}"
    if found.variant == NOT_BEGUN:
        return Words(
            f"{reaches}, and that block may not have begun",
            "add cluster.sync() before the first access of other blocks' shared memory",
        )
    return Words(
        f"{reaches}, and that block may have ended",
        "add cluster.sync() behind the last access of other blocks' shared memory",
    )


class Clusters(Detector):
    """Shared memory of other blocks, and the barrier of the cluster."""

    kinds: ClassVar = {"cluster-memory": _words}

    def begin(self, watched: Watched) -> None:
        size = len(watched.memory.states) if self.code.program.clustered else 0
        peers = watched.memory.take((size + 1, layout.PEER_WORDS))
        for state in watched.memory.states:
            state[layout.CLUSTER_SIZE], state[layout.PEERS] = size, peers

    def finish(self, watched: Watched) -> None:
        for state in watched.memory.states if self.code.meets_in_clusters else ():
            run(leave_cluster, state.ctypes.data)

    def access(self, at: Emission, site: Site, address: Value) -> None:
        code = self.code
        if code.meets_in_clusters and site.space == "generic":
            place = str(code.place_of(code.steps[site.step]))
            code.call(at, reach, *code.who(at), code.keep_addresses(at, address), str(site.size), place)

    def step(self, at: Emission, step: Step, sources: object) -> None:
        if step.match.row.operation == "cluster arrival":
            b, code = at.builder, self.code
            barrier = b.load("ptr", b.offset("%context", 8 * SLOT["cluster"]))
            phase = code.wide(at, b.load("i32", barrier))
            releases = str(int(step.match.sem != "relaxed"))
            code.call(at, arrive_in_cluster, *code.who(at), releases, phase)

    def fence(self, at: Emission, step: Step) -> None:
        if step.control == "cluster wait":
            self.code.call(at, wait_in_cluster, *self.code.who(at), "1")
