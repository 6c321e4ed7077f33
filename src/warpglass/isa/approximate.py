"""Approximate functions (PTX manual, "Floating Point Instructions": the `.approx` and `.full` forms).

Those of single precision are the hardware's multifunction unit and what ptxas writes around it, whose bits
multifunction.py gives. The `.ftz.f64` forms are exact results rounded to nearest, which satisfy the manual's
bounds; they work on upper halves and cut what does not fit, which decides the bits of rsqrt in double
precision too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from . import multifunction
from .floating import compute
from .lanes import Lanes
from .rounding import SMALLEST_NORMAL, flush, flush_operand, is_nan, number, settle
from .table import Match, add_row, row

V = TypeVar("V")


def _reciprocal(lanes: Lanes[V], x: V) -> V:
    return lanes.apply("fdiv", number(lanes, 1.0), x)


def _reciprocal_root(lanes: Lanes[V], x: V) -> V:
    return _reciprocal(lanes, lanes.apply("llvm.sqrt", x))


# ------------------------------------------------------------------------------------ single precision
def _is_tiny(lanes: Lanes[V], a: V) -> V:
    """Whether a float is zero or subnormal."""
    least = lanes.constant("float", SMALLEST_NORMAL["float"])
    return lanes.compare("olt", lanes.apply("llvm.fabs", a), least)


def _is_huge(lanes: Lanes[V], a: V) -> V:
    """Whether a float's reciprocal is subnormal: above 2**126."""
    return lanes.compare("ogt", lanes.apply("llvm.fabs", a), lanes.constant("float", (127 + 126) << 23))


# Opcodes -> what the unit does. Without `.ftz` code around it lets numbers be subnormal, if that matters.
_SUBNORMAL: dict[str, Callable[..., Any]] = {
    "rcp": multifunction.reciprocal,
    "rsqrt": multifunction.reciprocal_root,
    "sqrt": multifunction.root,
    "lg2": multifunction.log2,
    "ex2": multifunction.exp2,
}
_PLAIN: dict[str, Callable[..., Any]] = {"sin": multifunction.sine, "cos": multifunction.cosine}


def _unit(lanes: Lanes[V], m: Match, a: V) -> V:
    opcode = m.row.pattern.opcode
    if opcode in _PLAIN:
        return _PLAIN[opcode](lanes, a)
    return _SUBNORMAL[opcode](lanes, a, subnormal=not m.ftz)


for _opcode in (*_SUBNORMAL, *_PLAIN):
    add_row(f"{_opcode}.approx{{.ftz}}.f32  d, a", unit="fp32", operation="interpolation", meaning=_unit)
add_row(
    "tanh.approx.f32  d, a",
    unit="fp32",
    operation="interpolation",
    bitwise=True,
    meaning=lambda lanes, m, a: multifunction.tanh(lanes, a),
)


@row("div.full{.ftz}.f32  d, a, b", unit="fp32", operation="interpolation")
@row("div.approx{.ftz}.f32  d, a, b", unit="fp32", operation="interpolation")
def div(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    """The product with a reciprocal; that of divisors above 2**126 is zero, unless `.full` scales both."""
    if m.ftz:
        a, b = flush_operand(lanes, a), flush_operand(lanes, b)
    scaled: list[tuple[V, int]] = [] if m.ftz else [(_is_tiny(lanes, b), 24)]
    scaled += [(_is_huge(lanes, b), -2)] if m.full else []
    for condition, exponent in scaled:
        a = lanes.unless(condition, a, partial(multifunction.times, lanes, a, exponent))
        b = lanes.unless(condition, b, partial(multifunction.times, lanes, b, exponent))
    if m.ftz:
        a = flush_operand(lanes, a)
    result = compute(lanes, "mul", "rn", m.ftz is not None, a, multifunction.reciprocal(lanes, b))
    return flush_operand(lanes, result) if m.ftz else result


# ------------------------------------------------------------------------------------ double precision
_UPPER = 0xFFFFFFFF00000000


def _gross(lanes: Lanes[V], function: Callable[[Lanes[V], V], V], a: V) -> V:
    """A function of a double's upper half, rounded to 24 bits and cut to an upper half."""
    upper = lanes.constant("i64", _UPPER)
    exact = function(lanes, lanes.bitcast(lanes.and_(lanes.bitcast(a, "i64"), upper), "double"))
    near = lanes.add(lanes.bitcast(exact, "i64"), lanes.constant("i64", 1 << 28))
    return lanes.bitcast(lanes.and_(near, upper), "double")


@row("rcp.approx.ftz.f64  d, a", unit="fp64")
@row("rsqrt.approx.ftz.f64  d, a", unit="fp64")
def gross(lanes: Lanes[V], m: Match, a: V) -> V:
    """Both operand and result have nothing in their lower halves."""
    function = _reciprocal if m.row.pattern.opcode == "rcp" else _reciprocal_root
    flushed = lambda lanes, x: function(lanes, flush(lanes, x))  # noqa: E731
    result = flush(lanes, _gross(lanes, flushed, a))
    return lanes.select(is_nan(lanes, result), lanes.constant("double", 0x7FFFFFFF00000000), result)


@row("rsqrt.approx.f64  d, a", unit="fp64")
def rsqrt_double(lanes: Lanes[V], m: Match, a: V) -> V:
    """One step of a third-order iteration on the gross result, as ptxas writes it."""
    tiny = lanes.compare("olt", a, lanes.constant("double", SMALLEST_NORMAL["double"]))
    x = lanes.select(tiny, lanes.mul(a, number(lanes, 2.0**54)), a)
    y = _gross(lanes, _reciprocal_root, x)
    rest = lanes.apply("llvm.fma", x, lanes.neg(lanes.mul(y, y)), number(lanes, 1.0))
    factor = lanes.apply("llvm.fma", rest, number(lanes, 0.375), number(lanes, 0.5))
    result = lanes.apply("llvm.fma", factor, lanes.mul(y, rest), y)
    result = lanes.select(tiny, lanes.mul(result, number(lanes, 2.0**27)), result)
    usual = lanes.and_(
        lanes.compare("ogt", a, number(lanes, 0.0)), lanes.compare("olt", a, number(lanes, math.inf))
    )
    return settle(lanes, lanes.select(usual, result, _reciprocal_root(lanes, a)), a)
