"""Data movement and conversion between types (PTX manual, "mov", "cvta", "cvt")."""

from __future__ import annotations

from typing import TypeVar

from .lanes import Lanes
from .table import Match, row
from .types import BITWISE, INTEGERS, LLVM_TYPE, bits, is_signed

V = TypeVar("V")

_WHOLE = "u8 u16 u32 u64 s8 s16 s32 s64"
_FLOATS = "f32 f64"
_ROUND = {"rni": "llvm.roundeven", "rzi": "llvm.trunc", "rmi": "llvm.floor", "rpi": "llvm.ceil"}


@row("mov.type  d, a", type=f"pred {BITWISE} {INTEGERS} {_FLOATS}", unit="misc")
def mov(lanes: Lanes[V], m: Match, a: V) -> V:
    return a


@row("cvta.to.space.size  d, a", space="global shared local const param", size="u32 u64", unit="integer")
def cvta_to(lanes: Lanes[V], m: Match, a: V) -> V:
    return lanes.sub(a, lanes.fit(lanes.window(m.values["space"]), lanes.type_of(a)))


@row("cvta.space.size  d, a", space="global shared local const param", size="u32 u64", unit="integer")
def cvta(lanes: Lanes[V], m: Match, a: V) -> V:
    return lanes.add(a, lanes.fit(lanes.window(m.values["space"]), lanes.type_of(a)))


@row("cvt.dtype.atype  d:dtype, a:atype", unit="conversion", dtype=_WHOLE, atype=_WHOLE)
def cvt_integer(lanes: Lanes[V], m: Match, a: V) -> V:
    return lanes.extend(a, LLVM_TYPE[m.values["dtype"]], is_signed(m.values["atype"]))


@row("cvt.rn{.ftz}.dtype.atype  d:dtype, a:atype", unit="conversion", dtype=_FLOATS, atype=_WHOLE)
def cvt_to_float(lanes: Lanes[V], m: Match, a: V) -> V:
    operation = "sitofp" if is_signed(m.values["atype"]) else "uitofp"
    return lanes.convert(operation, a, LLVM_TYPE[m.values["dtype"]])


@row(
    "cvt.rnd.dtype.atype  d:dtype, a:atype",
    unit="conversion",
    rnd=" ".join(_ROUND),
    dtype=_WHOLE,
    atype=_FLOATS,
)
def cvt_to_integer(lanes: Lanes[V], m: Match, a: V) -> V:
    rounded = lanes.apply(_ROUND[m.values["rnd"]], a)
    operation = "llvm.fptosi.sat" if is_signed(m.values["dtype"]) else "llvm.fptoui.sat"
    type_ = LLVM_TYPE[m.values["dtype"]]
    clamped = lanes.convert(operation, rounded, type_)
    if m.values["atype"] != "f64" and bits(type_) != 64:
        return clamped
    # NaN becomes 0 in the narrow conversions only (manual, "cvt", notes on NaN); elsewhere the top bit alone.
    top = lanes.constant(type_, 1 << (bits(type_) - 1))
    return lanes.select(lanes.compare("uno", a, a), top, clamped)


@row("cvt{.rn}.dtype.atype  d:dtype, a:atype", unit="conversion", dtype=_FLOATS, atype=_FLOATS)
def cvt_float(lanes: Lanes[V], m: Match, a: V) -> V:
    to = LLVM_TYPE[m.values["dtype"]]
    have = bits(lanes.type_of(a))
    if have == bits(to):
        return a
    return lanes.convert("fpext" if have < bits(to) else "fptrunc", a, to)
