"""Clusters of blocks, and instructions that only steer how a grid is scheduled (PTX manual, "mapa",
"getctarank", "barrier.cluster", "griddepcontrol", "setmaxnreg").

In kernels that name other blocks of their cluster (`names_cluster`), addresses of shared memory have the
block's rank plus one in their highest 8 of 32 bits, much as on hardware; code generation puts it there. A
thread that arrives at the cluster's barrier notes the barrier's phase, and waits until that is over. The
waiting is a loop that program/shorthand.py puts in front of `barrier.cluster.wait`. Grids follow one another
and registers are unlimited, so nothing is to be done for the instructions that steer those.
"""

from __future__ import annotations

from typing import TypeVar

from ..ptx import tree
from .lanes import RANK_SHIFT, Lanes
from .table import PHASE, Match, add_row, row

V = TypeVar("V")

_OPCODES = frozenset(("mapa", "getctarank"))
_ASKING = frozenset(("fence", "isspacep"))  # which do nothing with the address
_CLUSTER = "shared::cluster"
_RANKS = 0xFF << RANK_SHIFT


def names_cluster(item: tree.Instruction) -> bool:
    """Whether an instruction waits for, or may name, other blocks of the cluster."""
    if item.opcode == "barrier":
        return item.modifiers[:1] == ("cluster",)
    return item.opcode in _OPCODES or (_CLUSTER in item.modifiers and item.opcode not in _ASKING)


def waits_for_cluster(item: tree.Instruction) -> bool:
    """Whether an instruction waits at the cluster's barrier."""
    return item.opcode == "barrier" and item.modifiers[:2] == ("cluster", "wait")


@row("mapa.space.type  d, a, b:u32", space=_CLUSTER, type="u32 u64", unit="integer")
@row("mapa.type  d, a, b:u32", type="u32 u64", unit="integer")
def mapa(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    """The address of the same variable in the block of a rank."""
    type_ = lanes.type_of(a)
    own = lanes.and_(a, lanes.constant(type_, ~_RANKS))
    rank = lanes.add(lanes.and_(b, lanes.constant("i32", 0x7F)), lanes.constant("i32", 1))
    rank = rank if type_ == "i32" else lanes.extend(rank, type_, signed=False)
    return lanes.or_(own, lanes.apply("shl", rank, lanes.constant(type_, RANK_SHIFT)))


@row("getctarank{.space}.type  d:u32, a", space=_CLUSTER, type="u32 u64", unit="integer")
def getctarank(lanes: Lanes[V], m: Match, a: V) -> V:
    """The rank of the block that an address belongs to."""
    low = a if lanes.type_of(a) == "i32" else lanes.convert("trunc", a, "i32")
    return lanes.sub(lanes.apply("lshr", low, lanes.constant("i32", RANK_SHIFT)), lanes.constant("i32", 1))


@row(
    "barrier.cluster.arrive{.sem}{.aligned}",
    sem="release relaxed",
    unit="control",
    operation="cluster arrival",
    writes=PHASE,
)
def arrive(lanes: Lanes[V], m: Match) -> V:
    """Arrive; the phase that the barrier is in."""
    return lanes.cluster_phase(arrives=True)


@row("_cluster.wait  p:pred", unit="control", operation="cluster wait", reads=PHASE, waits=True)
def phase_is_over(lanes: Lanes[V], m: Match, phase: V) -> V:
    """Whether the phase in which the thread has arrived is over."""
    return lanes.compare("ne", lanes.cluster_phase(arrives=False), phase)


add_row("barrier.cluster.wait{.acquire}{.aligned}", unit="control", control="cluster wait")
add_row("griddepcontrol.action", action="launch_dependents wait", unit="control", control="hint")
add_row("setmaxnreg.action.sync.aligned.u32  n", action="inc dec", unit="control", control="hint")
