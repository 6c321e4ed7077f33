"""Logic, shifts, comparison and selection (PTX manual, "Logic and Shift", "Comparison and Selection")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from .lanes import Lanes
from .rounding import flush_operand
from .table import Match, row
from .types import BITWISE, INTEGERS, LLVM_TYPE, is_float, is_signed

V = TypeVar("V")


@row("and.type  d, a, b", type=f"pred {BITWISE}", unit="integer")
def and_(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.and_(a, b)


@row("or.type  d, a, b", type=f"pred {BITWISE}", unit="integer", operation="join")
def or_(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.or_(a, b)


@row("xor.type  d, a, b", type=f"pred {BITWISE}", unit="integer")
def xor(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.xor(a, b)


@row("not.type  d, a", type=f"pred {BITWISE}", unit="integer")
def not_(lanes: Lanes[V], m: Match, a: V) -> V:
    return lanes.not_(a)


@row("cnot.type  d, a", type=BITWISE, unit="integer")
def cnot(lanes: Lanes[V], m: Match, a: V) -> V:
    type_ = lanes.type_of(a)
    return lanes.extend(lanes.compare("eq", a, lanes.constant(type_, 0)), type_, signed=False)


@row("shl.type  d, a, b:u32", type=BITWISE, unit="integer")
def shl(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.shift("shl", a, b)


@row("shr.type  d, a, b:u32", type=f"{BITWISE} {INTEGERS}", unit="integer")
def shr(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return lanes.shift("ashr" if is_signed(m.type) else "lshr", a, b)


# Comparison operators: PTX name -> LLVM's integer predicate (sign added below) and floating predicate.
_INTEGER = {"eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge"}
_INTEGER |= {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_FLOAT = {"eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
_FLOAT |= {"equ": "ueq", "neu": "une", "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge"}
_FLOAT |= {"num": "ord", "nan": "uno"}


def _compare(lanes: Lanes[V], m: Match, type_: str, a: V, b: V) -> V:
    operator = m.values["cmp"]
    if is_float(LLVM_TYPE[type_]):
        if m.ftz:
            a, b = flush_operand(lanes, a), flush_operand(lanes, b)
        return lanes.compare(_FLOAT[operator], a, b)
    predicate = _INTEGER[operator]
    if predicate in ("eq", "ne"):
        return lanes.compare(predicate, a, b)
    unsigned = not is_signed(type_) or operator in ("lo", "ls", "hi", "hs")
    return lanes.compare(("u" if unsigned else "s") + predicate, a, b)


def _both(lanes: Lanes[V], m: Match, result: V) -> V | tuple[V, V]:
    return (result, lanes.not_(result)) if m.has_pair else result


def _incomparable(values: Mapping[str, str]) -> str | None:
    """Why an operator is none for a type: bits have no order, and signed numbers not the unsigned one."""
    type_, operator = values.get("atype") or values["type"], values["cmp"]
    if type_[0] == "b" and operator not in ("eq", "ne"):
        return f".{type_} is compared by .eq and .ne; for an order take .u{type_[1:]} or .s{type_[1:]}"
    if type_[0] == "s" and operator in ("lo", "ls", "hi", "hs"):
        return f".{operator} is for unsigned numbers; take .u{type_[1:]}"
    return None


_ANY, _COMPARISONS = f"{BITWISE} {INTEGERS}", " ".join(_INTEGER)
_FLOATS, _FLOAT_COMPARISONS = "f32 f64", " ".join(_FLOAT)
_COMBINE = "and or xor"


@row(
    "setp.cmp.type  p[|q]:pred, a, b",
    cmp=_COMPARISONS,
    type=_ANY,
    unit="integer",
    excludes=_incomparable,
)
@row("setp.cmp{.ftz}.type  p[|q]:pred, a, b", cmp=_FLOAT_COMPARISONS, type=_FLOATS, unit="fp32")
def setp(lanes: Lanes[V], m: Match, a: V, b: V) -> V | tuple[V, V]:
    return _both(lanes, m, _compare(lanes, m, m.values["type"], a, b))


@row(
    "setp.cmp.bool.type  p[|q]:pred, a, b, c:pred",
    cmp=_COMPARISONS,
    bool=_COMBINE,
    type=_ANY,
    unit="integer",
    excludes=_incomparable,
)
@row(
    "setp.cmp.bool{.ftz}.type  p[|q]:pred, a, b, c:pred",
    cmp=_FLOAT_COMPARISONS,
    bool=_COMBINE,
    type=_FLOATS,
    unit="fp32",
)
def setp_combined(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V | tuple[V, V]:
    compared = _compare(lanes, m, m.values["type"], a, b)
    combine = m.values["bool"]
    first = lanes.apply(combine, compared, c)
    if not m.has_pair:
        return first
    return first, lanes.apply(combine, lanes.not_(compared), c)


@row(
    "selp.type  d, a, b, c:pred",
    type=f"{BITWISE} {INTEGERS} f32 f64",
    unit="integer",
    operation="selection",
)
def selp(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    return lanes.select(c, a, b)


@row(
    "set.cmp.dtype.atype  d:dtype, a:atype, b:atype",
    cmp=_COMPARISONS,
    dtype="u32 s32 f32",
    atype=_ANY,
    unit="integer",
    excludes=_incomparable,
)
@row(
    "set.cmp{.ftz}.dtype.atype  d:dtype, a:atype, b:atype",
    cmp=_FLOAT_COMPARISONS,
    dtype="u32 s32 f32",
    atype=_FLOATS,
    unit="fp32",
)
def set_(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    return _as_number(lanes, m, _compare(lanes, m, m.values["atype"], a, b))


@row(
    "set.cmp.bool.dtype.atype  d:dtype, a:atype, b:atype, c:pred",
    cmp=_COMPARISONS,
    bool=_COMBINE,
    dtype="u32 s32 f32",
    atype=_ANY,
    unit="integer",
    excludes=_incomparable,
)
@row(
    "set.cmp.bool{.ftz}.dtype.atype  d:dtype, a:atype, b:atype, c:pred",
    cmp=_FLOAT_COMPARISONS,
    bool=_COMBINE,
    dtype="u32 s32 f32",
    atype=_FLOATS,
    unit="fp32",
)
def set_combined(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    compared = _compare(lanes, m, m.values["atype"], a, b)
    return _as_number(lanes, m, lanes.apply(m.values["bool"], compared, c))


def _as_number(lanes: Lanes[V], m: Match, holds: V) -> V:
    """Truth as 1.0 or as an integer of all ones."""
    type_ = LLVM_TYPE[m.values["dtype"]]
    true = lanes.constant(type_, 0x3F800000 if is_float(type_) else -1)
    return lanes.select(holds, true, lanes.constant(type_, 0))


_CHOSEN = f"{BITWISE} {INTEGERS} f32 f64"


@row("slct.dtype.atype  d:dtype, a:dtype, b:dtype, c:atype", dtype=_CHOSEN, atype="s32", unit="integer")
@row("slct{.ftz}.dtype.atype  d:dtype, a:dtype, b:dtype, c:atype", dtype=_CHOSEN, atype="f32", unit="fp32")
def slct(lanes: Lanes[V], m: Match, a: V, b: V, c: V) -> V:
    """Subnormal numbers below zero count as zero with `.ftz`, so as no less than it."""
    zero = lanes.constant(lanes.type_of(c), 0)
    if m.atype == "s32":
        return lanes.select(lanes.compare("sge", c, zero), a, b)
    return lanes.select(lanes.compare("oge", flush_operand(lanes, c) if m.ftz else c, zero), a, b)
