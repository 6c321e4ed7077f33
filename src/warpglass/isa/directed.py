"""Directed rounding in single and double precision: `.rz`, `.rm`, `.rp` of the arithmetic instructions.

Some hosts have instructions for it (`Lanes.rounded`). The others round to nearest: in single precision the
exact result, rounded to odd in double, is rounded to its place by `narrow`. In double precision the nearest
result moves by one unit where it lies on the wrong side of the exact one. Which side that is, the sign of
a*b + c - r says, and `residue` finds it exactly: with the operation's own a, b, c and its result r, or for
quotient and root q with a - q*b and a - q*q.
"""

from __future__ import annotations

from functools import cache, reduce
from typing import Any, TypeVar

from .lanes import Lanes, Outline
from .rounding import F32, INFINITY, ONE, narrow, to_odd, two_sum, unless_smallest

V = TypeVar("V")

_SIGN = 1 << 63
# 2**-126 less a quarter of a single's unit there: from here on a double rounds to a normal number's place.
_ALMOST_NORMAL = (1023 - 126 << 52) - (1 << 52 - 24)
_FAR = 200  # further than this apart, in powers of two, numbers of 53 and 106 bits cannot touch


def directed(lanes: Lanes[V], operation: str, mode: str, *operands: V, flush: bool = False) -> V:
    """An operation (`add`, `mul`, `fma`, `div`, `sqrt`) rounded in a mode other than to nearest.

    In single precision subnormal results can be flushed, and then the mode may be to nearest too.
    """

    def computed() -> V:
        return lanes.outline(_outline(operation, mode, lanes.type_of(operands[0]), flush), operands)[0]

    found = lanes.rounded(operation, mode, operands)
    if found is None:
        return computed()
    return unless_smallest(lanes, found, computed) if flush else found


@cache
def _outline(operation: str, mode: str, type_: str, flush: bool) -> Outline:
    def make(lanes: Lanes[Any], *operands: Any) -> tuple[Any]:
        return (_single(lanes, operation, mode, flush, *operands),)

    def make_double(lanes: Lanes[Any], *operands: Any) -> tuple[Any]:
        return (_DOUBLE[operation](lanes, mode, *operands),)

    name = f"{operation}_{mode}_{type_}{'_flushed' if flush else ''}"
    return Outline(name, (type_,), make_double if type_ == "double" else make, lanewise=True)


def _single(lanes: Lanes[V], operation: str, mode: str, flush: bool, *operands: V) -> V:
    value, rest = _SINGLE[operation](lanes, mode, *(lanes.convert("fpext", x, "double") for x in operands))
    odd = value if operation == "mul" else to_odd(lanes, value, rest)
    if mode != "rn":
        return lanes.bitcast(narrow(lanes, odd, F32, mode, flush=flush), "float")
    near = lanes.convert("fptrunc", odd, "float")
    tiny = lanes.compare("olt", lanes.apply("llvm.fabs", odd), lanes.constant("double", _ALMOST_NORMAL))
    return lanes.select(tiny, lanes.apply("llvm.copysign", lanes.constant("float", 0), near), near)


# ---------------------------------------------------------------------------------------- single precision
# On operands that became doubles: the nearest double to the exact result, and the sign of what is missing.
def _zero_sum(lanes: Lanes[V], mode: str, total: V, is_zero: V, a: V, b: V) -> V:
    """A sum that is exactly zero is -0 when rounding down, unless both summands are +0."""
    if mode != "rm":
        return total
    signs = lanes.or_(lanes.bitcast(a, "i64"), lanes.bitcast(b, "i64"))
    zero = lanes.bitcast(lanes.and_(signs, lanes.constant("i64", _SIGN)), "double")
    return lanes.select(is_zero, zero, total)


def _add_single(lanes: Lanes[V], mode: str, a: V, b: V) -> tuple[V, V]:
    total, rest = two_sum(lanes, a, b)
    is_zero = lanes.compare("oeq", total, lanes.constant("double", 0))
    return _zero_sum(lanes, mode, total, is_zero, a, b), rest


def _mul_single(lanes: Lanes[V], mode: str, a: V, b: V) -> tuple[V, V]:
    return lanes.mul(a, b), lanes.constant("double", 0)


def _fma_single(lanes: Lanes[V], mode: str, a: V, b: V, c: V) -> tuple[V, V]:
    return _add_single(lanes, mode, lanes.mul(a, b), c)


def _div_single(lanes: Lanes[V], mode: str, a: V, b: V) -> tuple[V, V]:
    quotient = lanes.apply("fdiv", a, b)
    # Division by zero and of or by infinities leaves NaN here, and nothing to correct.
    rest = lanes.apply("llvm.fma", lanes.neg(quotient), b, a)
    return quotient, lanes.mul(rest, _unit(lanes, b))


def _sqrt_single(lanes: Lanes[V], mode: str, a: V) -> tuple[V, V]:
    root = lanes.apply("llvm.sqrt", a)
    return root, lanes.apply("llvm.fma", lanes.neg(root), root, a)


def _unit(lanes: Lanes[V], a: V) -> V:
    """1 with a number's sign."""
    return lanes.apply("llvm.copysign", lanes.constant("double", ONE["double"]), a)


# ---------------------------------------------------------------------------------------- double precision
def _add_double(lanes: Lanes[V], mode: str, a: V, b: V) -> V:
    near = lanes.add(a, b)
    one = lanes.constant("double", ONE["double"])
    error = residue(lanes, one, a, b, near)
    return _step_sum(lanes, mode, near, error, (a, b), (a, b))


def _fma_double(lanes: Lanes[V], mode: str, a: V, b: V, c: V) -> V:
    near = lanes.apply("llvm.fma", a, b, c)
    error = residue(lanes, a, b, c, near)
    return _step_sum(lanes, mode, near, error, (a, b, c), (lanes.mul(a, b), c))


def _step_sum(
    lanes: Lanes[V], mode: str, near: V, error: V, operands: tuple[V, ...], summands: tuple[V, V]
) -> V:
    zero = lanes.constant("double", 0)
    is_zero = lanes.and_(lanes.compare("oeq", near, zero), lanes.compare("oeq", error, zero))
    return _zero_sum(lanes, mode, step(lanes, mode, near, error, operands), is_zero, *summands)


def _mul_double(lanes: Lanes[V], mode: str, a: V, b: V) -> V:
    near = lanes.mul(a, b)
    error = residue(lanes, a, b, lanes.constant("double", 0), near)
    return step(lanes, mode, near, error, (a, b))


def _div_double(lanes: Lanes[V], mode: str, a: V, b: V) -> V:
    near = lanes.apply("fdiv", a, b)
    rest = residue(lanes, lanes.neg(near), b, a, lanes.constant("double", 0))
    stepped = step(lanes, mode, near, lanes.mul(rest, _unit(lanes, b)), (a, b))
    by_zero = lanes.compare("oeq", b, lanes.constant("double", 0))
    return lanes.select(by_zero, near, stepped)


def _sqrt_double(lanes: Lanes[V], mode: str, a: V) -> V:
    near = lanes.apply("llvm.sqrt", a)
    error = residue(lanes, lanes.neg(near), near, a, lanes.constant("double", 0))
    return step(lanes, mode, near, error, (a,))


def step(lanes: Lanes[V], mode: str, near: V, error: V, operands: tuple[V, ...]) -> V:
    """The result nearest to an exact value, moved by a unit where the mode wants its other neighbour.

    `error` has the sign of exact minus near; a result that overflowed is too large. With an operand that is
    not finite, or an invalid operation, the result stays.
    """
    zero = lanes.constant("double", 0)
    overflowed = _is_infinite(lanes, near)
    error = lanes.select(overflowed, lanes.neg(near), error)
    pattern = lanes.bitcast(near, "i64")
    negative = lanes.compare("slt", pattern, lanes.constant("i64", 0))
    too_low, too_high = lanes.compare("ogt", error, zero), lanes.compare("olt", error, zero)
    outward = lanes.constant("i1", 0)
    if mode == "rz":
        move = lanes.select(negative, too_low, too_high)
    elif mode == "rp":
        move, outward = too_low, lanes.not_(negative)
    else:
        move, outward = too_high, negative
    for operand in operands:
        distance = lanes.sub(operand, operand)  # NaN for an infinity
        move = lanes.and_(move, lanes.compare("oeq", distance, zero))
    unit = lanes.select(outward, lanes.constant("i64", 1), lanes.constant("i64", -1))
    return lanes.select(move, lanes.bitcast(lanes.add(pattern, unit), "double"), near)


def _is_infinite(lanes: Lanes[V], a: V) -> V:
    return lanes.compare("oeq", lanes.apply("llvm.fabs", a), lanes.constant("double", INFINITY["double"]))


def residue(lanes: Lanes[V], a: V, b: V, c: V, r: V) -> V:
    """A double with the sign of a*b + c - r, for finite a, b, c, and r near a*b + c or zero.

    All terms are scaled by the power of two that brings a*b to 1, so that nothing over- or underflows; c
    further than 2**200 from a*b decides as it would at that distance.
    """
    zero = lanes.constant("double", 0)
    (ma, ea), (mb, eb), (mc, ec) = (_split(lanes, x) for x in (a, b, c))
    scale = lanes.add(ea, eb)
    product = lanes.mul(ma, mb)
    missing = lanes.apply("llvm.fma", ma, mb, lanes.neg(product))
    gap = lanes.sub(ec, scale)
    far = lanes.constant("i64", _FAR)
    clamped = lanes.apply("llvm.smax", lanes.apply("llvm.smin", gap, far), lanes.neg(far))
    addend = lanes.mul(mc, _power(lanes, clamped))
    # If c outweighs a*b by so much, r is c itself.
    scaled = lanes.select(lanes.compare("sgt", gap, far), addend, _scale(lanes, r, lanes.neg(scale)))
    exact = _leading(lanes, [addend, product, lanes.neg(scaled), missing])
    # r may be a subnormal number that is far above a tiny product: then it is what decides.
    exact = lanes.select(_is_infinite(lanes, scaled), lanes.neg(scaled), exact)
    no_product = lanes.compare("oeq", lanes.select(lanes.compare("oeq", a, zero), a, b), zero)
    return lanes.select(no_product, lanes.sub(c, r), exact)


def _split(lanes: Lanes[V], a: V) -> tuple[V, V]:
    """A number as significand in [1, 2) with its sign, and exponent; zero has a very low exponent."""
    zero = lanes.constant("double", 0)
    tiny = lanes.compare("olt", lanes.apply("llvm.fabs", a), lanes.constant("double", 1 << 52))
    lifted = lanes.select(tiny, lanes.mul(a, lanes.constant("double", (1023 + 64) << 52)), a)
    pattern = lanes.bitcast(lifted, "i64")
    field = lanes.and_(lanes.apply("lshr", pattern, lanes.constant("i64", 52)), lanes.constant("i64", 0x7FF))
    bias = lanes.select(tiny, lanes.constant("i64", 1023 + 64), lanes.constant("i64", 1023))
    kept = lanes.and_(pattern, lanes.constant("i64", _SIGN | (1 << 52) - 1))
    significand = lanes.bitcast(lanes.or_(kept, lanes.constant("i64", 1023 << 52)), "double")
    is_zero = lanes.compare("oeq", a, zero)
    exponent = lanes.select(is_zero, lanes.constant("i64", -9999), lanes.sub(field, bias))
    return lanes.select(is_zero, zero, significand), exponent


def _power(lanes: Lanes[V], exponent: V) -> V:
    """A power of two, for exponents of normal numbers."""
    field = lanes.add(exponent, lanes.constant("i64", 1023))
    return lanes.bitcast(lanes.apply("shl", field, lanes.constant("i64", 52)), "double")


def _scale(lanes: Lanes[V], a: V, exponent: V) -> V:
    """a times a power of two, in four steps because the power alone may be out of range."""
    quarter = lanes.apply("ashr", exponent, lanes.constant("i64", 2))
    rest = lanes.sub(exponent, lanes.mul(quarter, lanes.constant("i64", 3)))
    factor = _power(lanes, quarter)
    return lanes.mul(reduce(lanes.mul, (factor, factor, factor), a), _power(lanes, rest))


def _leading(lanes: Lanes[V], terms: list[V]) -> V:
    """The sign of a sum: its terms are made to overlap no more, then the first that is not zero has it."""
    for _ in range(len(terms)):
        for k in reversed(range(len(terms) - 1)):
            terms[k], terms[k + 1] = two_sum(lanes, terms[k], terms[k + 1])
    zero = lanes.constant("double", 0)
    return reduce(
        lambda rest, term: lanes.select(lanes.compare("une", term, zero), term, rest), reversed(terms)
    )


_SINGLE = {
    "add": _add_single,
    "mul": _mul_single,
    "fma": _fma_single,
    "div": _div_single,
    "sqrt": _sqrt_single,
}
_DOUBLE = {
    "add": _add_double,
    "mul": _mul_double,
    "fma": _fma_double,
    "div": _div_double,
    "sqrt": _sqrt_double,
}
