"""Data movement and conversion between integers (PTX manual, "mov", "cvta", "cvt")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from ..ptx import tree
from .lanes import Lanes
from .memory import SHARED, in_window
from .table import Match, row
from .types import BITWISE, INTEGERS, LLVM_TYPE, is_signed

V = TypeVar("V")

_WHOLE = "u8 u16 u32 u64 s8 s16 s32 s64"
_FLOATS = "f32 f64"


@row("mov.type  d, a", type=f"pred {BITWISE} b128 {INTEGERS} {_FLOATS}", unit="misc", operation="move")
def mov(lanes: Lanes[V], m: Match, a: V) -> V:
    return a


@row("mov.type  d, a*:part", type="b16 b32 b64 b128", unit="misc", operation="join")
def mov_pack(lanes: Lanes[V], m: Match, a: tuple[V, ...]) -> V:
    return lanes.join(a)


@row("mov.type  d*:part, a", type="b16 b32 b64 b128", unit="misc")
def mov_unpack(lanes: Lanes[V], m: Match, a: V) -> tuple[V, ...]:
    destination = m.instruction.operands[0]
    assert isinstance(destination, tree.Vector)
    return lanes.split(a, len(destination.elements))


@row("mov.vec.type  d*, a*", vec="v2 v4", type=f"{BITWISE} {INTEGERS} {_FLOATS}", unit="misc")
def mov_vector(lanes: Lanes[V], m: Match, a: tuple[V, ...]) -> tuple[V, ...]:
    return a


@row(
    "cvta.to.space.size  d, a",
    space=f"global {SHARED} local const param",
    size="u32 u64",
    unit="integer",
    operation="generic to specific",
)
def cvta_to(lanes: Lanes[V], m: Match, a: V) -> V:
    return lanes.sub(a, lanes.fit(lanes.window(m.state_space), lanes.type_of(a)))


@row("cvta.space.size  d, a", space=f"global {SHARED} local const param", size="u32 u64", unit="integer")
def cvta(lanes: Lanes[V], m: Match, a: V) -> V:
    return lanes.add(a, lanes.fit(lanes.window(m.state_space), lanes.type_of(a)))


@row("isspacep.space  p:pred, a:u64", space=f"global {SHARED} local", unit="integer")
def isspacep(lanes: Lanes[V], m: Match, a: V) -> V:
    """Whether a generic address lies in a space; what is in no window is global."""
    within = [in_window(lanes, space, a) for space in ("shared", "local")]
    if m.state_space == "global":
        return lanes.not_(lanes.or_(*within))
    return within[("shared", "local").index(m.state_space)]


@row("cvt.dtype.atype  d:dtype, a:atype", unit="conversion", dtype=_WHOLE, atype=_WHOLE)
def cvt_integer(lanes: Lanes[V], m: Match, a: V) -> V:
    return lanes.extend(a, LLVM_TYPE[m.values["dtype"]], is_signed(m.values["atype"]))


def _needless(values: Mapping[str, str]) -> str | None:
    """Why .sat is not allowed: every value of the source is one of the destination."""
    (low, high), (least, most) = _bounds(values["dtype"]), _bounds(values["atype"])
    if low <= least and most <= high:
        return f"every .{values['atype']} is a .{values['dtype']}; leave .sat out"
    return None


@row(
    "cvt.sat.dtype.atype  d:dtype, a:atype",
    unit="conversion",
    dtype=_WHOLE,
    atype=_WHOLE,
    excludes=_needless,
)
def cvt_saturated(lanes: Lanes[V], m: Match, a: V) -> V:
    dtype, atype = m.values["dtype"], m.values["atype"]
    (low, high), (least, most) = _bounds(dtype), _bounds(atype)
    within = lanes.clamp(a, max(low, least), min(high, most), is_signed(atype))
    return lanes.extend(within, LLVM_TYPE[dtype], is_signed(atype))


def _bounds(type_: str) -> tuple[int, int]:
    """The least and the greatest value of an integer type, `u4` and `s2` included."""
    width = int(type_[1:])
    return (-(1 << width - 1), (1 << width - 1) - 1) if is_signed(type_) else (0, (1 << width) - 1)


@row("cvt.pack.sat.dtype.atype  d:b32, a:atype, b:atype", dtype="u16 s16", atype="s32", unit="conversion")
@row(
    "cvt.pack.sat.dtype.atype.ctype  d:b32, a:atype, b:atype, c:ctype",
    dtype="u8 s8 u4 s4 u2 s2",
    atype="s32",
    ctype="b32",
    unit="conversion",
)
def cvt_pack(lanes: Lanes[V], m: Match, a: V, b: V, c: V | None = None) -> V:
    """b lowest, then a, then what fits of c."""
    low, high = _bounds(m.values["dtype"])
    width = int(m.values["dtype"][1:])
    ones = lanes.constant("i32", (1 << width) - 1)
    a, b = (lanes.and_(lanes.clamp(x, low, high, signed=True), ones) for x in (a, b))
    packed = lanes.or_(b, lanes.apply("shl", a, lanes.constant("i32", width)))
    if c is None:
        return packed
    return lanes.or_(packed, lanes.apply("shl", c, lanes.constant("i32", 2 * width)))
