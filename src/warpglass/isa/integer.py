"""Integer arithmetic (PTX manual, "Integer Arithmetic Instructions")."""

from __future__ import annotations

from typing import TypeVar

from .lanes import Lanes
from .table import Match, row
from .types import INTEGERS, is_signed

V = TypeVar("V")


@row("add.type  d, a, b", type=INTEGERS, unit="integer")
def add(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.add(a, b)


@row("sub.type  d, a, b", type=INTEGERS, unit="integer")
def sub(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.sub(a, b)


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


@row("mad.wide.type  d:wide, a, b, c:wide", type="u16 u32 s16 s32", unit="integer")
def mad_wide(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    return lanes.add(lanes.multiply_wide(a, b, is_signed(m.type)), c)


@row("div.type  d, a, b", type=INTEGERS, unit="integer")
def div(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.apply("sdiv" if is_signed(m.type) else "udiv", a, b)


@row("rem.type  d, a, b", type=INTEGERS, unit="integer")
def rem(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.apply("srem" if is_signed(m.type) else "urem", a, b)


@row("neg.type  d, a", type="s16 s32 s64", unit="integer")
def neg(lanes: Lanes[V], m: Match, a: V) -> V:
    return lanes.neg(a)


@row("abs.type  d, a", type="s16 s32 s64", unit="integer")
def absolute(lanes: Lanes[V], m: Match, a: V) -> V:
    return lanes.apply("llvm.smax", a, lanes.neg(a))


@row("min.type  d, a, b", type=INTEGERS, unit="integer")
def minimum(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.apply("llvm.smin" if is_signed(m.type) else "llvm.umin", a, b)


@row("max.type  d, a, b", type=INTEGERS, unit="integer")
def maximum(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.apply("llvm.smax" if is_signed(m.type) else "llvm.umax", a, b)


@row("popc.type  d:u32, a", type="b32 b64", unit="integer")
def popc(lanes: Lanes[V], m: Match, a: V) -> V:
    return lanes.extend(lanes.apply("llvm.ctpop", a), "i32", signed=False)


@row("clz.type  d:u32, a", type="b32 b64", unit="integer")
def clz(lanes: Lanes[V], m: Match, a: V) -> V:
    return lanes.extend(lanes.apply("llvm.ctlz", a), "i32", signed=False)


@row("brev.type  d, a", type="b32 b64", unit="integer")
def brev(lanes: Lanes[V], m: Match, a: V) -> V:
    return lanes.apply("llvm.bitreverse", a)
