"""Clusters of blocks, and instructions that only steer how a grid is scheduled (PTX manual, "mapa",
"getctarank", "barrier.cluster", "griddepcontrol", "setmaxnreg").

On the engine every block is a cluster of its own, so its barrier is one of the block. Waiting at it also
arrives: a kernel in which someone waits for a thread that has arrived but does not come to wait is stopped as
deadlocked. Grids follow one another and registers are unlimited, so nothing is to be done for the others.
"""

from __future__ import annotations

from typing import TypeVar

from .lanes import Lanes
from .table import Match, add_row, row

V = TypeVar("V")

# Where no memory is: what a block that does not exist would have.
_NOWHERE = -(1 << 12)


@row("mapa.space.type  d, a, b:u32", space="shared::cluster", type="u32 u64", unit="integer")
@row("mapa.type  d, a, b:u32", type="u32 u64", unit="integer")
def mapa(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    """The address of the same variable in a block of the cluster; there is only block 0."""
    own = lanes.compare("eq", b, lanes.constant("i32", 0))
    return lanes.select(own, a, lanes.constant(lanes.type_of(a), _NOWHERE))


@row("getctarank{.space}.type  d:u32, a", space="shared::cluster", type="u32 u64", unit="integer")
def getctarank(lanes: Lanes[V], m: Match, a: V) -> V:
    """The block of the cluster that an address belongs to."""
    return lanes.constant("i32", 0)


add_row("barrier.cluster.arrive{.sem}{.aligned}", sem="release relaxed", unit="control", control="fence")
add_row("barrier.cluster.wait{.acquire}{.aligned}", unit="control", control="barrier")
add_row("griddepcontrol.action", action="launch_dependents wait", unit="control", control="hint")
add_row("setmaxnreg.action.sync.aligned.u32  n", action="inc dec", unit="control", control="hint")
