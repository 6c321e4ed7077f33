"""The functions of the multifunction unit in single precision: what surrounds the interpolator's sum.

An argument is reduced to a row and a distance of the function's table, and the sum's leading bits get sign
and exponent. Functions take and give a `float`. Subnormal arguments count as zero, as for the instruction
MUFU, or are scaled, as ptxas has it written around the instruction for PTX functions without `.ftz`.

Arguments of which the sum gives no result are seldom: one test finds them all, and code that settles them is
jumped over.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeVar

from .interpolator import (
    coefficients,
    cut,
    cut_double,
    integers,
    interpolate,
    leading,
    measured,
    shifted,
    square,
    word,
)
from .lanes import Lanes, Table
from .rounding import INFINITY, NAN, SMALLEST_NORMAL, number

V = TypeVar("V")

_SIGN, _MAGNITUDE, _SIGNIFICAND = 0x80000000, 0x7FFFFFFF, 0x007FFFFF
_IMPLICIT = 1 << 23
_NORMAL, _INFINITY, _NAN = SMALLEST_NORMAL["float"], INFINITY["float"], NAN["float"]


# ------------------------------------------------------------------------------------ patterns
def _bits(lanes: Lanes[V], a: V) -> V:
    return lanes.bitcast(a, "i32")


def _float(lanes: Lanes[V], a: V) -> V:
    return lanes.bitcast(a, "float")


def _unless(lanes: Lanes[V], condition: V, pattern: V | int, result: V) -> V:
    """A result's pattern, or another where a condition holds."""
    return lanes.select(condition, word(lanes, pattern) if isinstance(pattern, int) else pattern, result)


def times(lanes: Lanes[V], a: V, exponent: int) -> V:
    """A float times a power of two."""
    return lanes.mul(a, lanes.constant("float", (127 + exponent) << 23))


def _magnitude(lanes: Lanes[V], given: V) -> V:
    return lanes.and_(given, word(lanes, _MAGNITUDE))


def _outside(lanes: Lanes[V], pattern: V, low: int, high: int) -> V:
    """Whether a pattern is none of low..high."""
    return lanes.compare("ugt", lanes.sub(pattern, word(lanes, low)), word(lanes, high - low))


def _above(lanes: Lanes[V], magnitude: V, pattern: int) -> V:
    return lanes.compare("ugt", magnitude, word(lanes, pattern))


def _is_tiny(lanes: Lanes[V], magnitude: V) -> V:
    """Whether the pattern of a magnitude is that of zero or of a subnormal number."""
    return lanes.compare("ult", magnitude, word(lanes, _NORMAL))


def _is_zero(lanes: Lanes[V], magnitude: V, subnormal: bool) -> V:
    """Whether the pattern of a magnitude is that of what counts as zero."""
    return lanes.compare("ult", magnitude, word(lanes, 1 if subnormal else _NORMAL))


def _scaled(lanes: Lanes[V], condition: V, pattern: V, exponent: int, result: V) -> V:
    """A result's pattern or, where a condition holds, that of a float times a power of two."""
    return _unless(lanes, condition, _bits(lanes, times(lanes, _float(lanes, pattern), exponent)), result)


# ------------------------------------------------------------------------------------ functions
def reciprocal(lanes: Lanes[V], x: V, subnormal: bool = False) -> V:
    """1/x; arguments and results may be subnormal."""
    given, huge = _bits(lanes, x), (127 + 126) << 23  # above this results are subnormal
    sign, magnitude = lanes.and_(given, word(lanes, _SIGN)), _magnitude(lanes, given)
    unusual, inside = _outside(lanes, magnitude, _NORMAL, huge), magnitude
    if subnormal:

        def scaled() -> V:
            raised = _scaled(lanes, _is_tiny(lanes, magnitude), magnitude, 24, magnitude)
            return _scaled(lanes, _above(lanes, magnitude, huge), magnitude, -2, raised)

        inside = lanes.unless(unusual, magnitude, scaled)
    exponent = lanes.and_(inside, word(lanes, _INFINITY))
    # The leading bit of a sum adds one to the exponent.
    total = lanes.sub(leading(lanes, "rcp", inside, top=38), exponent)
    result = lanes.add(total, word(lanes, (2 * 127 - 2) << 23))

    def settled() -> V:
        found = _unless(lanes, _above(lanes, magnitude, huge), 0, result)
        if subnormal:
            found = _scaled(lanes, _is_tiny(lanes, magnitude), result, 24, result)
            found = _scaled(lanes, _above(lanes, magnitude, huge), result, -2, found)
            found = _unless(lanes, _above(lanes, magnitude, _INFINITY - 1), 0, found)
        found = _unless(lanes, _is_zero(lanes, magnitude, subnormal), _INFINITY, found)
        return _unless(lanes, _above(lanes, magnitude, _INFINITY), _NAN, lanes.or_(found, sign))

    return _float(lanes, lanes.unless(unusual, lanes.or_(result, sign), settled))


def _of_positive(
    lanes: Lanes[V],
    x: V,
    usual: Callable[[V], V],
    zero: Callable[[V], V],
    infinite: int,
    behind: Callable[[V], V] | None,
) -> V:
    """What `usual` makes of the patterns of positive numbers, with a root's or logarithm's other results.

    Zeros give what `zero` makes of their signs. Subnormal numbers count as such or are taken times 2**24,
    and `behind` corrects the results (floats).
    """
    given = _bits(lanes, x)
    unusual = _outside(lanes, given, _NORMAL, _INFINITY - 1)
    inside = given
    if behind is not None:
        inside = lanes.unless(
            unusual,
            given,
            lambda: _scaled(lanes, _is_tiny(lanes, _magnitude(lanes, given)), given, 24, given),
        )
    result = usual(inside)

    def settled() -> V:
        found, magnitude = result, _magnitude(lanes, given)
        if behind is not None:
            found = _bits(lanes, behind(_float(lanes, result)))
        found = _unless(lanes, lanes.compare("eq", given, word(lanes, _INFINITY)), infinite, found)
        found = _unless(lanes, lanes.compare("slt", given, word(lanes, 0)), _NAN, found)
        found = _unless(lanes, _above(lanes, magnitude, _INFINITY), _NAN, found)
        signed = zero(lanes.and_(given, word(lanes, _SIGN)))
        return _unless(lanes, _is_zero(lanes, magnitude, behind is not None), signed, found)

    return _float(lanes, lanes.unless(unusual, result, settled))


def _halved_exponent(lanes: Lanes[V], given: V) -> V:
    """Half the exponent of a number, rounded down, in the place of the exponent."""
    halved = shifted(lanes, "lshr", lanes.add(given, word(lanes, _IMPLICIT)), 1)
    kept = lanes.and_(halved, word(lanes, -_IMPLICIT))
    return lanes.sub(kept, word(lanes, 64 << 23))


def _reduced_root(lanes: Lanes[V], given: V) -> V:
    """The significand below a bit that says whether the exponent is odd."""
    return lanes.xor(given, word(lanes, _IMPLICIT))


def reciprocal_root(lanes: Lanes[V], x: V, subnormal: bool = False) -> V:
    """1/sqrt(x), exact for powers of four."""

    def usual(given: V) -> V:
        total = leading(lanes, "rsqrt", _reduced_root(lanes, given), top=39)
        power = lanes.and_(given, word(lanes, _IMPLICIT | _SIGNIFICAND))
        is_power = lanes.compare("eq", power, word(lanes, _IMPLICIT))
        total = _unless(lanes, is_power, 2 * _IMPLICIT, total)
        return lanes.sub(lanes.add(total, word(lanes, (127 - 2) << 23)), _halved_exponent(lanes, given))

    zero = lambda sign: lanes.or_(sign, word(lanes, _INFINITY))  # noqa: E731
    behind = (lambda found: times(lanes, found, 12)) if subnormal else None
    return _of_positive(lanes, x, usual, zero, 0, behind)


def root(lanes: Lanes[V], x: V, subnormal: bool = False) -> V:
    """sqrt(x)."""

    def usual(given: V) -> V:
        total = leading(lanes, "sqrt", _reduced_root(lanes, given), top=40)
        return lanes.add(lanes.add(total, word(lanes, (127 - 1) << 23)), _halved_exponent(lanes, given))

    behind = (lambda found: times(lanes, found, -12)) if subnormal else None
    return _of_positive(lanes, x, usual, lambda sign: sign, _INFINITY, behind)


def exp2(lanes: Lanes[V], x: V, subnormal: bool = False) -> V:
    """2**x, with 23 bits of x below the point: cut, and negative ones that are not whole one lower still.

    Subnormal results are squares of normal ones.
    """
    given, most = _bits(lanes, x), 0x42FC0000  # 126
    magnitude = _magnitude(lanes, given)
    unusual = _above(lanes, magnitude, most)

    def low() -> V:
        return lanes.compare("ugt", given, word(lanes, _SIGN | most))

    def limited() -> V:
        # From 128 on results are infinite and zero as for 128 itself.
        near = _scaled(lanes, low(), magnitude, -1, magnitude) if subnormal else magnitude
        return lanes.apply("llvm.umin", near, word(lanes, 0x43000000))

    near = _float(lanes, lanes.unless(unusual, magnitude, limited))
    fixed = lanes.convert("fptosi", times(lanes, near, 23), "i32")
    negative = shifted(lanes, "ashr", given, 31)
    whole = lanes.compare("eq", lanes.and_(fixed, word(lanes, _SIGNIFICAND)), word(lanes, 0))
    inverted = lanes.xor(fixed, negative)
    fixed = lanes.select(whole, lanes.sub(inverted, negative), inverted)
    exponent = lanes.add(lanes.and_(fixed, word(lanes, -_IMPLICIT)), word(lanes, (127 - 1) << 23))
    result = lanes.add(leading(lanes, "ex2", fixed, top=38), exponent)

    def settled() -> V:
        # The exponent may be negative.
        small = lanes.compare("slt", result, word(lanes, _NORMAL))
        found = _unless(lanes, small, 0, result)
        if subnormal:
            number = _float(lanes, found)
            found = _unless(lanes, low(), _bits(lanes, lanes.mul(number, number)), found)
        return _unless(lanes, _above(lanes, magnitude, _INFINITY), _NAN, found)

    return _float(lanes, lanes.unless(unusual, result, settled))


def log2(lanes: Lanes[V], x: V, subnormal: bool = False) -> V:
    """log2(x): of the sum two bits are cut before the exponent is added to it."""
    table = coefficients("lg2")

    def usual(given: V) -> V:
        high, low = interpolate(lanes, table, given)
        exponent = lanes.sub(shifted(lanes, "ashr", given, 23), word(lanes, 127))
        # The rest's bits but two, and of the multiples so many that those above and the exponent are 24 bits.
        more, rest = 11, table.part - 2
        place = more + rest
        upper = shifted(lanes, "shl", exponent, table.unit - 2 - place)
        upper = lanes.add(upper, shifted(lanes, "ashr", high, more))
        lower = lanes.or_(shifted(lanes, "shl", high, rest), shifted(lanes, "lshr", low, 2))
        # Negative sums are inverted, not negated.
        negative = shifted(lanes, "ashr", upper, 31)
        lower = lanes.and_(lanes.xor(lower, negative), word(lanes, (1 << place) - 1))
        size = cut(lanes, lanes.xor(upper, negative), lower, place)
        sign = lanes.and_(negative, word(lanes, _SIGN))
        result = lanes.or_(_bits(lanes, times(lanes, size, 2 - table.unit)), sign)
        return _unless(lanes, lanes.compare("eq", given, word(lanes, 127 << 23)), 0, result)

    zero = lambda sign: word(lanes, _SIGN | _INFINITY)  # noqa: E731
    # log2 of the factor for subnormal arguments
    behind = (lambda found: lanes.sub(found, lanes.constant("float", 0x41C00000))) if subnormal else None
    return _of_positive(lanes, x, usual, zero, _INFINITY, behind)


# The factor that makes circles of radians, as single precision has it.
_CIRCLES = 0x3E22F983


def _circle(lanes: Lanes[V], x: V, quarters: int) -> tuple[V, V]:
    """The magnitude of the sine of |x| and so many quarters of a circle, and its sign, as patterns.

    The argument is a multiple of 2**-25 circles: quadrant, then row and distance.
    """
    given = _bits(lanes, x)
    magnitude = _magnitude(lanes, given)
    size = _float(lanes, lanes.apply("llvm.umin", magnitude, word(lanes, _INFINITY - 1)))
    factor = lanes.constant("float", _CIRCLES)
    near = lanes.mul(size, factor)
    # The product is cut: one less where it was rounded up.
    rest = _bits(lanes, lanes.apply("llvm.fma", size, factor, lanes.neg(near)))
    turns = _float(lanes, lanes.add(_bits(lanes, near), shifted(lanes, "ashr", rest, 31)))
    turns = lanes.sub(turns, lanes.apply("llvm.floor", turns))
    fixed = lanes.convert("fptosi", times(lanes, turns, 25), "i32")
    angle = lanes.add(fixed, word(lanes, quarters << 23))
    backwards = shifted(lanes, "ashr", shifted(lanes, "shl", angle, 8), 31)
    table = coefficients("sin")
    high, low = interpolate(lanes, table, lanes.xor(angle, backwards))
    more = 8
    low = lanes.or_(shifted(lanes, "shl", lanes.and_(high, word(lanes, (1 << more) - 1)), table.part), low)
    size = cut(lanes, shifted(lanes, "lshr", high, more), low, table.part + more)
    size = times(lanes, size, -table.unit)
    sign = lanes.and_(shifted(lanes, "shl", angle, 7), word(lanes, _SIGN))
    return _bits(lanes, size), sign


def _finite(lanes: Lanes[V], x: V, result: V) -> V:
    """A result's float, NaN for infinities and NaN."""
    magnitude = _magnitude(lanes, _bits(lanes, x))
    infinite = lanes.compare("uge", magnitude, word(lanes, _INFINITY))
    return _float(lanes, _unless(lanes, infinite, _NAN, result))


def sine(lanes: Lanes[V], x: V) -> V:
    """sin(x) of radians."""
    size, sign = _circle(lanes, x, 0)
    sign = lanes.xor(sign, lanes.and_(_bits(lanes, x), word(lanes, _SIGN)))
    return _finite(lanes, x, lanes.or_(size, sign))


def cosine(lanes: Lanes[V], x: V) -> V:
    """cos(x) of radians."""
    return _finite(lanes, x, lanes.or_(*_circle(lanes, x, 1)))


# Of tanh a binade has 2**k rows, for k by exponent from 2**-8 on; below, the argument is the result.
_TANH_FIRST = -8
_TANH_ROWS = (0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3)
_TANH_BITS = max(_TANH_ROWS)


@cache
def _tanh_rows() -> tuple[Table, Table, Table]:
    """The coefficients of tanh with as many rows for each binade."""
    rows = measured()["tanh"]["rows"]
    repeated: list[list[int]] = []
    first = 0
    for bits in _TANH_ROWS:
        for row in rows[first : first + (1 << bits)]:
            repeated += [row] * (1 << (_TANH_BITS - bits))
        first += 1 << bits
    c0, c1, c2 = (integers(f"tanh_c{k}", column) for k, column in enumerate(zip(*repeated, strict=True)))
    return c0, c1, c2


_TANH_DEPTH = Table("tanh_depth", "i32", _TANH_ROWS)


def tanh(lanes: Lanes[V], x: V) -> V:
    """tanh(x), below 1 up to 8."""
    given = _bits(lanes, x)
    sign, magnitude = lanes.and_(given, word(lanes, _SIGN)), _magnitude(lanes, given)
    found, (c0, c1, c2) = measured()["tanh"], _tanh_rows()
    bits = found["bits"]
    first, end = (127 + _TANH_FIRST) << 23, (127 + 3) << 23
    inside = lanes.clamp(magnitude, first, end - 1, signed=False)
    place = lanes.sub(inside, word(lanes, first))
    row = shifted(lanes, "lshr", place, 23 - _TANH_BITS)
    depth = lanes.look_up(_TANH_DEPTH, shifted(lanes, "lshr", place, 23))
    below = lanes.apply("lshr", inside, lanes.sub(word(lanes, 23 - bits), depth))
    distance = lanes.and_(below, word(lanes, (1 << bits) - 1))
    # The coefficients are longer than the others'. Every step in double precision is exact.
    wide = lambda a: lanes.convert("sitofp", a, "double")  # noqa: E731
    squared = wide(square(lanes, distance, bits))
    total = lanes.apply("llvm.fma", wide(lanes.look_up(c2, row)), squared, number(lanes, found["bias"]))
    total = lanes.apply("llvm.fma", wide(lanes.look_up(c1, row)), wide(distance), total)
    total = lanes.apply("llvm.fma", wide(lanes.look_up(c0, row)), number(lanes, 2.0 ** found["step"]), total)
    result = lanes.sub(_bits(lanes, cut_double(lanes, total)), word(lanes, found["unit"] << 23))
    result = lanes.apply("llvm.umin", result, word(lanes, (127 << 23) - 1))
    result = _unless(lanes, lanes.compare("ult", magnitude, word(lanes, first)), magnitude, result)
    result = _unless(lanes, lanes.compare("uge", magnitude, word(lanes, end)), 127 << 23, result)
    result = _unless(lanes, _above(lanes, magnitude, _INFINITY), _NAN, lanes.or_(result, sign))
    return _float(lanes, result)
