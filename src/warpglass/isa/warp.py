"""Exchange between the lanes of a warp (PTX manual, "shfl.sync", "vote.sync", "match.sync", "redux.sync").

The lanes that act are the active ones: those that the member masks name have come, or have exited
(program/warp_barriers.py). Groups of lanes with masks of their own may act together; each lane's own selects.
"""

from __future__ import annotations

from functools import partial
from typing import TypeVar

from .lanes import Lanes, Outline
from .table import Match, row
from .types import is_signed

V = TypeVar("V")

LANES = range(32)
_EXCHANGE = "inter_thread_communication"
_MODES = "up down bfly idx"


def _source_lane(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """The lane that `lane` reads, and whether it is within its segment (manual, "shfl.sync", semantics)."""
    segment, clamp, b = c >> 8 & 31, c & 31, b & 31
    bound = lane & segment | clamp & ~segment & 31
    lowest = lane & segment
    source = {
        "up": lane - b,
        "down": lane + b,
        "bfly": lane ^ b,
        "idx": lowest | b & ~segment & 31,
    }[mode]
    inside = source >= bound if mode == "up" else source <= bound
    return (source if inside else lane), inside


@row("shfl.sync.mode.b32  d[|p], a, b, c, mask", mode=_MODES, unit=_EXCHANGE, operation="shuffle")
@row("shfl.mode.b32  d[|p], a, b, c", mode=_MODES, unit=_EXCHANGE, operation="shuffle")
def shfl(lanes: Lanes[V], m: Match, a: V, b: V, c: V, mask: V | None = None) -> V | tuple[V, V]:
    mode = m.values["mode"]
    known_b, known_c = lanes.known(b), lanes.known(c)
    if known_b is not None and known_c is not None:
        found = [_source_lane(mode, lane, known_b, known_c) for lane in LANES]
        moved = lanes.permute(a, tuple(source for source, _ in found))
        inside = lanes.lane_constants("i1", tuple(int(within) for _, within in found))
    else:
        source, inside = _find_sources(lanes, mode, b, c)
        moved = lanes.shuffle(a, source)
    return (moved, inside) if m.has_pair else moved


def _find_sources(lanes: Lanes[V], mode: str, b: V, c: V) -> tuple[V, V]:
    """As _source_lane, for operands known at run time only."""
    lane = lanes.special("laneid")
    low_bits = lanes.constant("i32", 31)
    segment = lanes.and_(lanes.apply("lshr", c, lanes.constant("i32", 8)), low_bits)
    outside = lanes.and_(lanes.not_(segment), low_bits)
    b = lanes.and_(b, low_bits)
    bound = lanes.or_(lanes.and_(lane, segment), lanes.and_(c, outside))
    if mode == "idx":
        source = lanes.or_(lanes.and_(lane, segment), lanes.and_(b, outside))
    else:
        operation = {"up": "sub", "down": "add", "bfly": "xor"}[mode]
        source = lanes.apply(operation, lane, b)
    inside = lanes.compare("sge" if mode == "up" else "sle", source, bound)
    return lanes.select(inside, source, lane), inside


@row("vote.sync.ballot.b32  d, a:pred, mask:b32", unit=_EXCHANGE)
@row("vote.ballot.b32  d, a:pred", unit=_EXCHANGE)
def ballot(lanes: Lanes[V], m: Match, a: V, mask: V | None = None) -> V:
    votes = lanes.ballot(a)
    return votes if mask is None else lanes.and_(votes, mask)


@row("vote.sync.mode.pred  d, a:pred, mask:b32", mode="all any uni", unit=_EXCHANGE)
@row("vote.mode.pred  d, a:pred", mode="all any uni", unit=_EXCHANGE)
def vote(lanes: Lanes[V], m: Match, a: V, mask: V | None = None) -> V:
    everyone = lanes.active() if mask is None else lanes.and_(lanes.active(), mask)
    for_it = lanes.and_(lanes.ballot(a), everyone)
    zero = lanes.constant("i32", 0)
    if m.mode == "any":
        return lanes.compare("ne", for_it, zero)
    all_ = lanes.compare("eq", for_it, everyone)
    return all_ if m.mode == "all" else lanes.or_(all_, lanes.compare("eq", for_it, zero))


@row("activemask.b32  d", unit=_EXCHANGE)
def activemask(lanes: Lanes[V], m: Match) -> V:
    return lanes.active()


@row("match.any.sync.type  d:b32, a, mask:b32", type="b32 b64", unit=_EXCHANGE)
def match_any(lanes: Lanes[V], m: Match, a: V, mask: V) -> V:
    return lanes.and_(lanes.equal_lanes(a), lanes.and_(lanes.active(), mask))


@row("match.all.sync.type  d[|p]:b32, a, mask:b32", type="b32 b64", unit=_EXCHANGE)
def match_all(lanes: Lanes[V], m: Match, a: V, mask: V) -> V | tuple[V, V]:
    members = lanes.and_(lanes.active(), mask)
    same = lanes.compare("eq", lanes.and_(lanes.equal_lanes(a), members), members)
    everywhere = lanes.compare("eq", lanes.and_(lanes.ballot(same), members), members)
    found = lanes.select(everywhere, members, lanes.constant("i32", 0))
    return (found, everywhere) if m.has_pair else found


# Operation -> LLVM's reduction and its neutral value, for unsigned or bitwise and for signed types.
_REDUX = {
    "add": ("add", 0, "add", 0),
    "min": ("umin", -1, "smin", 0x7FFFFFFF),
    "max": ("umax", 0, "smax", 0x80000000),
    "and": ("and", -1, "and", -1),
    "or": ("or", 0, "or", 0),
    "xor": ("xor", 0, "xor", 0),
}

# LLVM's name of the operation lane by lane, where it is another.
_LANE_BY_LANE = {name: f"llvm.{name}" for name in ("umin", "smin", "umax", "smax")}


@row(
    "redux.sync.op.type  d, a, mask:b32",
    op="add min max",
    type="u32 s32",
    unit=_EXCHANGE,
    operation="lane reduction",
)
@row("redux.sync.op.b32  d, a, mask:b32", op="and or xor", unit=_EXCHANGE, operation="lane reduction")
def redux(lanes: Lanes[V], m: Match, a: V, mask: V) -> V:
    operation, neutral, signed, signed_neutral = _REDUX[m.values["op"]]
    if is_signed(m.type):
        operation, neutral = signed, signed_neutral
    others = lanes.constant("i32", neutral)
    # The mask of the first lane, and what comes of its members.
    first = lanes.shuffle(mask, lanes.apply("llvm.cttz", lanes.active()))
    members = lanes.mask_predicate(lanes.and_(lanes.active(), first))
    result = lanes.reduce(operation, lanes.select(members, a, others))
    if lanes.known(mask) is not None:
        return result
    differs = lanes.and_(lanes.compare("ne", mask, first), lanes.mask_predicate(lanes.active()))
    apart = Outline(f"redux_{operation}", ("i32",), partial(_of_each_mask, operation, neutral))
    return lanes.unless(
        differs, result, lambda: lanes.outline(apart, (a, lanes.and_(lanes.active(), mask)))[0]
    )


def _of_each_mask(operation: str, neutral: int, lanes: Lanes[V], a: V, members: V) -> tuple[V]:
    """What comes of every lane's own members: several groups of lanes act together."""
    others, zero = lanes.constant("i32", neutral), lanes.constant("i32", 0)
    found = others
    for lane in LANES:
        named = lanes.compare("ne", lanes.and_(members, lanes.constant("i32", 1 << lane)), zero)
        one = lanes.select(named, lanes.permute(a, (lane,) * 32), others)
        found = lanes.apply(_LANE_BY_LANE.get(operation, operation), found, one)
    return (found,)


@row("elect.sync  d[|p]:b32, mask:b32", unit=_EXCHANGE)
def elect(lanes: Lanes[V], m: Match, mask: V) -> V | tuple[V, V]:
    members = lanes.and_(lanes.active(), mask)
    leader = lanes.apply("llvm.cttz", members)
    elected = lanes.compare("eq", leader, lanes.special("laneid"))
    return (leader, elected) if m.has_pair else leader
