"""Floating-point arithmetic in single and double precision (PTX manual, "Floating Point Instructions").

`.ftz` flushes subnormal inputs and results to zero of the same sign; the hardware looks for subnormal results
after rounding them to a normal number's place. `.sat` clamps to [0, 1] and turns NaN into 0. Approximate
instructions are in approximate.py, the other rounding modes' arithmetic in directed.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .directed import directed
from .lanes import Lanes
from .rounding import (
    INFINITY,
    ONE,
    SMALLEST_NORMAL,
    flush,
    flush_operand,
    is_nan,
    saturate,
    settle,
    unless_smallest,
)
from .table import Match, add_row, row
from .types import bits, integer_of

V = TypeVar("V")

_MODES = "rn rz rm rp"
_NEAREST = {"add": "fadd", "mul": "fmul", "fma": "llvm.fma", "div": "fdiv", "sqrt": "llvm.sqrt"}
# Rounding to nearest takes results of these from below to the smallest normal number.
_MAY_BECOME_NORMAL = ("mul", "fma", "div")
# Of several NaNs in double precision which operand's passes: the first of these.
_NAN_ORDER = {"add": (1, 0), "mul": (1, 0), "fma": (1, 2, 0), "div": (0, 1), "sqrt": (0,)}


def compute(lanes: Lanes[V], operation: str, mode: str | None, ftz: bool, *operands: V) -> V:
    """One rounded operation with the hardware's NaN; no mode is round to nearest."""
    if mode in (None, "rn"):
        result = lanes.apply(_NEAREST[operation], *operands)
        if ftz and not lanes.flushes and operation in _MAY_BECOME_NORMAL:
            flushed = lambda: directed(lanes, operation, "rn", *operands, flush=True)  # noqa: E731
            result = unless_smallest(lanes, result, flushed)
    else:
        result = directed(lanes, operation, mode, *operands, flush=ftz)
    invalid = _below_zero(lanes, operands[0]) if operation == "sqrt" else None
    return settle(lanes, result, *(operands[k] for k in _NAN_ORDER[operation]), invalid=invalid)


def _below_zero(lanes: Lanes[V], a: V) -> V:
    """Whether a number is NaN or less than zero, seen from its bits.

    LLVM replaces a comparison by the root itself: to it all NaNs are the same.
    """
    type_ = lanes.type_of(a)
    whole = integer_of(type_)
    pattern = lanes.bitcast(a, whole)
    sign = lanes.constant(whole, 1 << (bits(type_) - 1))
    negative = lanes.compare("ugt", pattern, sign)
    return lanes.or_(negative, lanes.compare("sgt", pattern, lanes.constant(whole, INFINITY[type_])))


def _with_modifiers(work: Callable[..., V]) -> Callable[..., V]:
    """Wrap an operation so that `.ftz` and `.sat` act on its inputs and result."""

    def meaning(lanes: Lanes[V], m: Match, *operands: V) -> V:
        inputs = tuple(flush_operand(lanes, x) for x in operands) if m.ftz else operands
        result = work(lanes, m, *inputs)
        if m.ftz:
            result = flush_operand(lanes, result)
        return saturate(lanes, result) if m.sat else result

    return meaning


def _of_flushed(work: Callable[..., V]) -> Callable[..., V]:
    """Wrap an operation of no subnormal results, for which bits of its operands matter that hosts leave."""

    def meaning(lanes: Lanes[V], m: Match, *operands: V) -> V:
        return work(lanes, m, *(flush(lanes, x) for x in operands) if m.ftz else operands)

    return meaning


def _rounded(operation: str) -> Callable[..., Any]:
    return lambda lanes, m, *operands: compute(lanes, operation, m.rnd, m.ftz is not None, *operands)


def _subtract(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    nearest = m.rnd in (None, "rn")
    result = lanes.sub(a, b) if nearest else directed(lanes, "add", m.values["rnd"], a, lanes.neg(b))
    return settle(lanes, result, b, a)


def _reciprocal(lanes: Lanes[V], m: Match, a: V) -> V:
    one = lanes.constant(lanes.type_of(a), ONE[lanes.type_of(a)])
    return settle(lanes, compute(lanes, "div", m.rnd, m.ftz is not None, one, a), a)


def _negate(lanes: Lanes[V], m: Match, a: V) -> V:
    return settle(lanes, lanes.neg(a), a)  # NaN keeps its sign


def _absolute(lanes: Lanes[V], m: Match, a: V) -> V:
    return settle(lanes, lanes.apply("llvm.fabs", a), a)


# opcode, operands, flops, meaning
_ROWS = (
    ("add{.rnd}", "d, a, b", 1, _with_modifiers(_rounded("add"))),
    ("sub{.rnd}", "d, a, b", 1, _with_modifiers(_subtract)),
    ("mul{.rnd}", "d, a, b", 1, _with_modifiers(_rounded("mul"))),
    ("fma.rnd", "d, a, b, c", 2, _with_modifiers(_rounded("fma"))),
    ("mad.rnd", "d, a, b, c", 2, _with_modifiers(_rounded("fma"))),
    ("div.rnd", "d, a, b", 0, _with_modifiers(_rounded("div"))),
    ("rcp.rnd", "d, a", 0, _with_modifiers(_reciprocal)),
    ("sqrt.rnd", "d, a", 0, _of_flushed(_rounded("sqrt"))),
    ("neg", "d, a", 0, _of_flushed(_negate)),
    ("abs", "d, a", 0, _of_flushed(_absolute)),
)
_SATURATING = ("add", "sub", "mul", "fma", "mad")

for _head, _operands, _flops, _meaning in _ROWS:
    _sat = "{.sat}" if _head.startswith(_SATURATING) else ""
    add_row(
        f"{_head}{{.ftz}}{_sat}.f32  {_operands}", rnd=_MODES, unit="fp32", flops=_flops, meaning=_meaning
    )
    add_row(f"{_head}.f64  {_operands}", rnd=_MODES, unit="fp64", flops=_flops, meaning=_meaning)


# ---------------------------------------------------------------------------------------- min, max
def extreme(lanes: Lanes[V], opcode: str, propagate: bool, a: V, b: V) -> V:
    """min or max: the number if one operand is NaN, unless NaN is propagated; -0 is smaller than +0."""
    family = "llvm.minimum" if opcode == "min" else "llvm.maximum"
    return lanes.apply(family if propagate else family + "num", a, b)


def _extreme(opcode: str) -> Callable[..., Any]:
    def work(lanes: Lanes[V], m: Match, *operands: V) -> V:
        sizes = (
            [lanes.apply("llvm.fabs", x) for x in operands] if m.abs or m.values.get("xorsign") else operands
        )
        result = sizes[0]
        for other in sizes[1:]:
            result = extreme(lanes, opcode, m.NaN is not None, result, other)
        # Of two NaNs in double precision ptxas passes the second.
        result = settle(lanes, result, *reversed(operands))
        if m.values.get("xorsign"):
            signed = lanes.apply("llvm.copysign", result, _product_sign(lanes, *operands))
            return lanes.select(is_nan(lanes, result), result, signed)
        return result

    return _of_flushed(work)


def _product_sign(lanes: Lanes[V], a: V, b: V) -> V:
    whole = integer_of(lanes.type_of(a))
    return lanes.bitcast(lanes.xor(lanes.bitcast(a, whole), lanes.bitcast(b, whole)), lanes.type_of(a))


for _opcode in ("min", "max"):
    _work = _extreme(_opcode)
    add_row(f"{_opcode}{{.ftz}}{{.NaN}}{{.xorsign}}{{.abs}}.f32  d, a, b", unit="fp32", meaning=_work)
    add_row(f"{_opcode}{{.ftz}}{{.NaN}}{{.abs}}.f32  d, a, b, c", unit="fp32", meaning=_work)
    add_row(f"{_opcode}.f64  d, a, b", unit="fp64", meaning=_work)


# ---------------------------------------------------------------------------------------- bits of a number
@row("copysign.type  d, a, b", type="f32 f64", unit="fp32", bitwise=True)
def copysign(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    """b with the sign of a."""
    return lanes.apply("llvm.copysign", b, a)


@row(
    "testp.op.type  p:pred, a",
    op="finite infinite number notanumber normal subnormal",
    type="f32 f64",
    unit="fp32",
)
def testp(lanes: Lanes[V], m: Match, a: V) -> V:
    """Whether a number is of a class; zero is normal."""
    type_ = lanes.type_of(a)
    size = lanes.apply("llvm.fabs", a)
    infinity = lanes.constant(type_, INFINITY[type_])
    zero = lanes.constant(type_, 0)
    subnormal = lanes.compare("olt", size, lanes.constant(type_, SMALLEST_NORMAL[type_]))
    subnormal = lanes.and_(subnormal, lanes.compare("ogt", size, zero))
    finite = lanes.compare("olt", size, infinity)
    match m.values["op"]:
        case "finite":
            return finite
        case "infinite":
            return lanes.compare("oeq", size, infinity)
        case "number":
            return lanes.compare("ord", a, a)
        case "notanumber":
            return is_nan(lanes, a)
        case "normal":
            return lanes.and_(finite, lanes.not_(subnormal))
        case _:
            return subnormal
