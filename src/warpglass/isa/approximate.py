"""Approximate functions (PTX manual, "Floating Point Instructions": the `.approx` and `.full` forms).

The hardware's tables are not public. Results here are the exact ones rounded to nearest, which satisfy every
bound of the manual, except where the hardware's way shows: sin and cos see their argument as a multiple of
the full circle cut to 24 bits, and the `.ftz.f64` forms work on upper halves and cut what does not fit, which
decides the bits of rsqrt in double precision too. Everything is evaluated in double precision by polynomials:
no library of the host has a say in it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

from .lanes import Lanes
from .rounding import NAN, SMALLEST_NORMAL, flush, is_nan, settle
from .table import Match, add_row, row

V = TypeVar("V")


def _bits(value: float) -> int:
    return int.from_bytes(struct.pack(">d", value), "big")


def number(lanes: Lanes[V], value: float) -> V:
    """A double."""
    return lanes.constant("double", _bits(value))


def _polynomial(lanes: Lanes[V], x: V, coefficients: Sequence[float]) -> V:
    """Horner's rule; coefficients from the constant up."""
    result = number(lanes, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        result = lanes.apply("llvm.fma", result, x, number(lanes, coefficient))
    return result


# Taylor series, cut where what follows is below 2**-40 of the result on the range that is left.
_EXP2 = [math.log(2) ** k / math.factorial(k) for k in range(12)]  # |x| <= 1/2
_LOG2 = [2 / ((2 * k + 1) * math.log(2)) for k in range(9)]  # log2((1+s)/(1-s))/s in s*s, |s| <= 0.172
_SINE = [(-1) ** k * (2 * math.pi) ** (2 * k + 1) / math.factorial(2 * k + 1) for k in range(8)]  # of circles
_COSINE = [(-1) ** k * (2 * math.pi) ** (2 * k) / math.factorial(2 * k) for k in range(8)]  # |x| <= 1/8
_TANH = [float(c) for c in (1, Fraction(-1, 3), Fraction(2, 15), Fraction(-17, 315), Fraction(62, 2835))]
_CIRCLE = struct.unpack(">f", struct.pack(">f", 1 / (2 * math.pi)))[0]


def exp2(lanes: Lanes[V], x: V) -> V:
    """2**x of a double, correct for single precision's range and infinities."""
    inside = lanes.apply(
        "llvm.minnum", lanes.apply("llvm.maxnum", x, number(lanes, -400.0)), number(lanes, 400.0)
    )
    whole = lanes.apply("llvm.roundeven", inside)
    power = _polynomial(lanes, lanes.sub(inside, whole), _EXP2)
    exponent = lanes.add(whole, number(lanes, 1023.0))
    field = lanes.apply("shl", lanes.convert("fptosi", exponent, "i64"), lanes.constant("i64", 52))
    return lanes.select(is_nan(lanes, x), x, lanes.mul(power, lanes.bitcast(field, "double")))


def log2(lanes: Lanes[V], x: V) -> V:
    """The logarithm to base 2 of a double that is zero, infinite, NaN or of single precision's range."""
    pattern = lanes.bitcast(x, "i64")
    # Counted from sqrt(1/2), so that the significand lies around 1.
    shifted = lanes.sub(pattern, lanes.constant("i64", _bits(math.sqrt(0.5))))
    exponent = lanes.apply("ashr", shifted, lanes.constant("i64", 52))
    scaled = lanes.sub(pattern, lanes.apply("shl", exponent, lanes.constant("i64", 52)))
    significand = lanes.bitcast(scaled, "double")
    one = number(lanes, 1.0)
    ratio = lanes.apply("fdiv", lanes.sub(significand, one), lanes.add(significand, one))
    series = lanes.mul(ratio, _polynomial(lanes, lanes.mul(ratio, ratio), _LOG2))
    result = lanes.add(lanes.convert("sitofp", exponent, "double"), series)
    zero, infinity = number(lanes, 0.0), number(lanes, math.inf)
    result = lanes.select(lanes.compare("oeq", x, infinity), infinity, result)
    result = lanes.select(lanes.compare("oeq", x, zero), number(lanes, -math.inf), result)
    return lanes.select(lanes.compare("oge", x, zero), result, lanes.constant("double", NAN["double"]))


def tanh(lanes: Lanes[V], x: V) -> V:
    """The hyperbolic tangent of a double."""
    power = exp2(lanes, lanes.mul(x, number(lanes, 2 / math.log(2))))
    one = number(lanes, 1.0)
    far = lanes.apply("fdiv", lanes.sub(power, one), lanes.add(power, one))
    # Near zero the difference above cancels.
    near = lanes.mul(x, _polynomial(lanes, lanes.mul(x, x), _TANH))
    size = lanes.apply("llvm.fabs", x)
    result = lanes.select(lanes.compare("olt", size, number(lanes, 0.0625)), near, far)
    limit = lanes.apply("llvm.copysign", one, x)
    return lanes.select(lanes.compare("ogt", size, number(lanes, 40.0)), limit, result)


def _circle(lanes: Lanes[V], x: V, quarter: float) -> V:
    """sin(x), or with a quarter more cos(x); NaN for infinities."""
    turns = lanes.mul(x, number(lanes, _CIRCLE))
    cut = lanes.and_(lanes.bitcast(turns, "i64"), lanes.constant("i64", -1 << 29))
    turns = lanes.bitcast(cut, "double")
    turns = lanes.sub(turns, lanes.apply("llvm.roundeven", turns))
    quarters = lanes.apply("llvm.roundeven", lanes.mul(turns, number(lanes, 4.0)))
    rest = lanes.sub(turns, lanes.mul(quarters, number(lanes, 0.25)))
    square = lanes.mul(rest, rest)
    sine = lanes.mul(rest, _polynomial(lanes, square, _SINE))
    cosine = _polynomial(lanes, square, _COSINE)
    # The quadrant, as an integer from NaN too.
    quadrant = lanes.convert("llvm.fptosi.sat", lanes.add(quarters, number(lanes, quarter)), "i64")
    odd = lanes.compare("ne", lanes.and_(quadrant, lanes.constant("i64", 1)), lanes.constant("i64", 0))
    below = lanes.compare("ne", lanes.and_(quadrant, lanes.constant("i64", 2)), lanes.constant("i64", 0))
    value = lanes.select(odd, cosine, sine)
    value = lanes.select(below, lanes.neg(value), value)
    return lanes.select(is_nan(lanes, turns), turns, value)


def _sine(lanes: Lanes[V], x: V) -> V:
    value = _circle(lanes, x, 0.0)
    zero = lanes.compare("oeq", value, number(lanes, 0.0))
    return lanes.select(zero, lanes.apply("llvm.copysign", value, x), value)


def _cosine(lanes: Lanes[V], x: V) -> V:
    return _circle(lanes, x, 1.0)


def _reciprocal(lanes: Lanes[V], x: V) -> V:
    return lanes.apply("fdiv", number(lanes, 1.0), x)


def _root(lanes: Lanes[V], x: V) -> V:
    return lanes.apply("llvm.sqrt", x)


def _reciprocal_root(lanes: Lanes[V], x: V) -> V:
    return _reciprocal(lanes, _root(lanes, x))


def _single(function: Callable[[Lanes[V], V], V]) -> Callable[[Lanes[V], Match, V], V]:
    """A function of doubles as a meaning in single precision."""

    def meaning(lanes: Lanes[V], m: Match, a: V) -> V:
        a = flush(lanes, a) if m.ftz else a
        exact = function(lanes, lanes.convert("fpext", a, "double"))
        result = settle(lanes, lanes.convert("fptrunc", exact, "float"))
        return flush(lanes, result) if m.ftz else result

    return meaning


_SINGLE = {"rcp": _reciprocal, "sqrt": _root, "rsqrt": _reciprocal_root, "sin": _sine, "cos": _cosine}
_SINGLE |= {"lg2": log2, "ex2": exp2}
for _opcode, _function in _SINGLE.items():
    add_row(f"{_opcode}.approx{{.ftz}}.f32  d, a", unit="fp32", meaning=_single(_function))
add_row("tanh.approx.f32  d, a", unit="fp32", meaning=_single(tanh))


@row("div.full{.ftz}.f32  d, a, b", unit="fp32")
@row("div.approx{.ftz}.f32  d, a, b", unit="fp32")
def div(lanes: Lanes[V], m: Match, a: V, b: V) -> V:
    """The quotient; `.approx` multiplies by a reciprocal that is zero for divisors above 2**126."""
    if m.ftz:
        a, b = flush(lanes, a), flush(lanes, b)
    wide = lanes.apply("fdiv", lanes.convert("fpext", a, "double"), lanes.convert("fpext", b, "double"))
    result = lanes.convert("fptrunc", wide, "float")
    if m.approx:
        zero = lanes.apply("llvm.copysign", lanes.constant("float", 0), b)
        large = lanes.compare("ogt", lanes.apply("llvm.fabs", b), lanes.constant("float", 0x7E800000))
        result = lanes.select(large, lanes.mul(a, zero), result)
    result = settle(lanes, result)
    return flush(lanes, result) if m.ftz else result


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
