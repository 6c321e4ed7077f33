"""Integer arithmetic (PTX manual, "Integer Arithmetic Instructions")."""

from __future__ import annotations

from typing import TypeVar

from .lanes import Lanes
from .table import Match, row
from .types import INTEGERS, is_signed

V = TypeVar("V")


@row("add.type  d, a, b", type=INTEGERS, unit="integer", operation="sum")
def add(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.add(a, b)


@row("sub.type  d, a, b", type=INTEGERS, unit="integer")
def sub(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.sub(a, b)


@row("add.sat.type  d, a, b", type="s32", unit="integer")
def add_saturated(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.apply("llvm.sadd.sat", a, b)


@row("sub.sat.type  d, a, b", type="s32", unit="integer")
def sub_saturated(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.apply("llvm.ssub.sat", a, b)


@row("mul.lo.type  d, a, b", type=INTEGERS, unit="integer")
def mul_lo(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.mul(a, b)


@row("mul.hi.type  d, a, b", type=INTEGERS, unit="integer")
def mul_hi(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.multiply_high(a, b, is_signed(m.type))


@row("mul.wide.type  d:wide, a, b", type="u16 u32 s16 s32", unit="integer")
def mul_wide(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.multiply_wide(a, b, is_signed(m.type))


@row("mad.lo.type  d, a, b, c", type=INTEGERS, unit="integer")
def mad_lo(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    return lanes.add(lanes.mul(a, b), c)


@row("mad.hi.type  d, a, b, c", type=INTEGERS, unit="integer")
def mad_hi(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    return lanes.add(lanes.multiply_high(a, b, is_signed(m.type)), c)


@row("mad.hi.sat.type  d, a, b, c", type="s32", unit="integer")
def mad_hi_saturated(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    return lanes.apply("llvm.sadd.sat", lanes.multiply_high(a, b, signed=True), c)


@row("mad.wide.type  d:wide, a, b, c:wide", type="u16 u32 s16 s32", unit="integer")
def mad_wide(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    return lanes.add(lanes.multiply_wide(a, b, is_signed(m.type)), c)


# ---------------------------------------------------------------------------------------- 24 bits
def _multiply_24(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    """The lower or the upper 32 bits of the 48-bit product of the lowest 24 bits."""
    shift = "ashr" if is_signed(m.type) else "lshr"
    unused = lanes.constant("i32", 8)
    a, b = (lanes.apply(shift, lanes.apply("shl", x, unused), unused) for x in (a, b))
    if m.half == "lo":
        return lanes.mul(a, b)
    product = lanes.multiply_wide(a, b, is_signed(m.type))
    return lanes.convert("trunc", lanes.apply("lshr", product, lanes.constant("i64", 16)), "i32")


@row("mul24.half.type  d, a, b", half="lo hi", type="u32 s32", unit="integer")
def mul24(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return _multiply_24(lanes, m, a, b)


@row("mad24.half.type  d, a, b, c", half="lo hi", type="u32 s32", unit="integer")
def mad24(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    return lanes.add(_multiply_24(lanes, m, a, b), c)


@row("mad24.half.sat.type  d, a, b, c", half="hi", type="s32", unit="integer")
def mad24_saturated(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    return lanes.apply("llvm.sadd.sat", _multiply_24(lanes, m, a, b), c)


@row("sad.type  d, a, b, c", type=INTEGERS, unit="integer")
def sad(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    less = lanes.compare("slt" if is_signed(m.type) else "ult", a, b)
    return lanes.add(c, lanes.select(less, lanes.sub(b, a), lanes.sub(a, b)))


# ---------------------------------------------------------------------------------------- one or two sources
@row("div.type  d, a, b", type=INTEGERS, unit="integer", operation="division")
def div(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.apply("sdiv" if is_signed(m.type) else "udiv", a, b)


@row("rem.type  d, a, b", type=INTEGERS, unit="integer", operation="division")
def rem(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.apply("srem" if is_signed(m.type) else "urem", a, b)


@row("neg.type  d, a", type="s16 s32 s64", unit="integer")
def neg(lanes: Lanes[V], m: Match, a: V) -> V:
    return lanes.neg(a)


@row("abs.type  d, a", type="s16 s32 s64", unit="integer")
def absolute(lanes: Lanes[V], m: Match, a: V) -> V:
    return lanes.absolute(a)


@row("min.type  d, a, b", type=INTEGERS, unit="integer")
def minimum(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.apply("llvm.smin" if is_signed(m.type) else "llvm.umin", a, b)


@row("max.type  d, a, b", type=INTEGERS, unit="integer")
def maximum(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.apply("llvm.smax" if is_signed(m.type) else "llvm.umax", a, b)


@row("min.relu.type  d, a, b", type="s32", unit="integer")
def minimum_relu(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.apply("llvm.smax", minimum(lanes, m, a, b), lanes.constant("i32", 0))


@row("max.relu.type  d, a, b", type="s32", unit="integer")
def maximum_relu(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.apply("llvm.smax", maximum(lanes, m, a, b), lanes.constant("i32", 0))
