"""The multifunction unit: the quadratic interpolator that the approximate functions of single precision use.

NVIDIA's hardware evaluates them as Oberman and Siu describe ("A High-Performance Area-Efficient Multifunction
Interpolator", ARITH 2005). The leading bits of the reduced argument select a row of a table, and the bits
that follow them, `low`, are the distance x within the row's interval:

    sum = c0 + c1 x + c2 square(x)

is a fixed-point number whose leading 24 bits are the result: it is cut, not rounded. The squarer drops the
low columns of its partial products. The tables (interpolator.json) and what happens before and behind the sum
were measured: results on an H100 are these for each of the 2**32 arguments of each function, with and without
`.ftz` (tests/gpu/test_interpolator.py).

Functions here take and give a `float`, subnormal arguments counting as zero, as the instruction MUFU does;
approximate.py has what surrounds it in PTX.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from .lanes import Lanes, Table
from .rounding import INFINITY, NAN, SMALLEST_NORMAL, number

V = TypeVar("V")

_PATH = Path(__file__).with_name("interpolator.json")
_SIGN, _MAGNITUDE, _SIGNIFICAND = 0x80000000, 0x7FFFFFFF, 0x007FFFFF
_IMPLICIT = 1 << 23
_SQUARED = 15  # bits of the distance that the squarer sees, and of what it gives
_C2_BITS = 13  # of c2 beside c1 in one word, where they fit


@dataclass(frozen=True, slots=True)
class Coefficients:
    """The table of one function.

    The distance has `bits` bits, sums are multiples of 2**-unit. The constant term is c0 * 2**step + bias, of
    which the bias centres what is cut. `c1` and `c2` hold those coefficients, or `c1` holds both of them,
    c1 * 2**_C2_BITS + c2, and `c2` is None.
    """

    bits: int
    unit: int
    step: int
    bias: int
    c0: Table
    c1: Table
    c2: Table | None


@cache
def _measured() -> dict[str, dict[str, Any]]:
    return json.loads(_PATH.read_text("utf-8"))


@cache
def coefficients(function: str) -> Coefficients:
    """The table of a function: rcp, rsqrt, sqrt, ex2, lg2, sin or tanh."""
    found = _measured()[function]
    rows = _by_leading_bits(found["rows"]) if function == "tanh" else found["rows"]
    firsts, seconds, thirds = (list(column) for column in zip(*rows, strict=True))
    head = (found["bits"], found["unit"], found["step"], found["bias"], _integers(f"{function}_c0", firsts))
    if all(abs(third) < 1 << (_C2_BITS - 1) for third in thirds):
        both = [(second << _C2_BITS) + third for second, third in zip(seconds, thirds, strict=True)]
        return Coefficients(*head, _integers(f"{function}_c12", both), None)
    return Coefficients(*head, _integers(f"{function}_c1", seconds), _integers(f"{function}_c2", thirds))


def _integers(name: str, values: list[int]) -> Table:
    return Table(name, "i32", tuple(value & 0xFFFFFFFF for value in values))


def square(lanes: Lanes[V], distance: V, bits: int) -> V:
    """The truncated square (i16) of a distance (i32) of so many bits, 16 or 17.

    It is the sum of the partial products of columns from 2**17 or 2**19 on. The upper seven bits meet each
    other in those columns only, the lower ones never; of products of an upper with a lower bit those remain
    in which the lower one is among the 6 - k next ones, for the upper bit 2**k.
    """
    k = lambda value: lanes.constant("i16", value)  # noqa: E731
    seen = lanes.convert("trunc", lanes.apply("lshr", distance, _i32(lanes, bits - _SQUARED)), "i16")
    upper, lower = lanes.apply("lshr", seen, k(8)), lanes.and_(seen, k(0xFF))
    total = lanes.apply("shl", lanes.mul(upper, upper), k(1))
    for bit in range(7):
        has = lanes.compare("ne", lanes.and_(seen, k(1 << (8 + bit))), k(0))
        product = lanes.apply("lshr", lower, k(6 - bit))
        total = lanes.add(total, lanes.select(has, product, k(0)))
    return total


def _looked_up(lanes: Lanes[V], table: Coefficients, row: V) -> tuple[V, V, V]:
    c0, c1 = lanes.look_up(table.c0, row), lanes.look_up(table.c1, row)
    if table.c2 is not None:
        return c0, c1, lanes.look_up(table.c2, row)
    rest = _i32(lanes, 32 - _C2_BITS)
    c2 = lanes.apply("ashr", lanes.apply("shl", c1, rest), rest)
    return c0, lanes.apply("ashr", lanes.sub(c1, c2), _i32(lanes, _C2_BITS)), c2


def interpolate(lanes: Lanes[V], table: Coefficients, row: V, distance: V) -> V:
    """The sum, an integer as a double: every step is exact."""
    wide = lambda a: lanes.convert("sitofp", a, "double")  # noqa: E731
    c0, c1, c2 = _looked_up(lanes, table, row)
    squared = lanes.extend(square(lanes, distance, table.bits), "i32", signed=False)
    if table.c2 is None:
        total = wide(lanes.add(lanes.mul(c2, squared), _i32(lanes, table.bias)))
    else:
        total = lanes.apply("llvm.fma", wide(c2), wide(squared), number(lanes, table.bias))
    total = lanes.apply("llvm.fma", wide(c1), wide(distance), total)
    return lanes.apply("llvm.fma", wide(c0), number(lanes, 2.0**table.step), total)


def _leading(lanes: Lanes[V], function: str, reduced: V, top: int) -> V:
    """The leading 24 bits (i32) of a sum between 2**top and 2**(top + 1).

    The distance is multiplied in two parts, so that products and sums fit 32 bits.
    """
    table = coefficients(function)
    row, distance = _split(lanes, reduced, len(table.c0.patterns), table.bits)
    c0, c1, c2 = _looked_up(lanes, table, row)
    part = min(table.step, 14)
    squared = lanes.extend(square(lanes, distance, table.bits), "i32", signed=False)
    low = lanes.add(lanes.mul(c2, squared), _i32(lanes, table.bias))
    low = lanes.add(low, lanes.mul(c1, lanes.and_(distance, _i32(lanes, (1 << part) - 1))))
    high = lanes.add(_shifted(lanes, "shl", c0, table.step - part), _shifted(lanes, "ashr", low, part))
    high = lanes.add(high, lanes.mul(c1, _shifted(lanes, "lshr", distance, part)))
    return _shifted(lanes, "lshr", high, top - 23 - part)


def cut(lanes: Lanes[V], a: V) -> V:
    """A double of single precision's range cut to 24 bits, as a float."""
    kept = lanes.and_(lanes.bitcast(a, "i64"), lanes.constant("i64", -1 << 29))
    return lanes.convert("fptrunc", lanes.bitcast(kept, "double"), "float")


# ------------------------------------------------------------------------------------ patterns
def _i32(lanes: Lanes[V], value: int) -> V:
    return lanes.constant("i32", value)


def _bits(lanes: Lanes[V], a: V) -> V:
    return lanes.bitcast(a, "i32")


def _shifted(lanes: Lanes[V], operation: str, a: V, distance: int) -> V:
    return lanes.apply(operation, a, _i32(lanes, distance))


def _split(lanes: Lanes[V], reduced: V, rows: int, bits: int) -> tuple[V, V]:
    """Row (of a power of two) and distance, the lower bits of a reduced argument."""
    row = lanes.and_(_shifted(lanes, "lshr", reduced, bits), _i32(lanes, rows - 1))
    return row, lanes.and_(reduced, _i32(lanes, (1 << bits) - 1))


def _unless(lanes: Lanes[V], condition: V, pattern: V | int, result: V) -> V:
    """A result's pattern, or another where a condition holds."""
    return lanes.select(condition, _i32(lanes, pattern) if isinstance(pattern, int) else pattern, result)


def _number(lanes: Lanes[V], given: V, result: V) -> V:
    """The float of a result's pattern, the hardware's NaN where `given` (i32) is the pattern of one."""
    magnitude = lanes.and_(given, _i32(lanes, _MAGNITUDE))
    is_nan = lanes.compare("ugt", magnitude, _i32(lanes, INFINITY["float"]))
    return lanes.bitcast(_unless(lanes, is_nan, NAN["float"], result), "float")


def _is_tiny(lanes: Lanes[V], magnitude: V) -> V:
    """Whether the pattern of a magnitude is that of zero or of a subnormal number."""
    return lanes.compare("ult", magnitude, _i32(lanes, SMALLEST_NORMAL["float"]))


def _flush(lanes: Lanes[V], pattern: V) -> V:
    """A positive result's pattern, or zero if its exponent, which may be negative, is no normal number's."""
    small = lanes.compare("slt", pattern, _i32(lanes, SMALLEST_NORMAL["float"]))
    return _unless(lanes, small, 0, pattern)


# ------------------------------------------------------------------------------------ functions
def reciprocal(lanes: Lanes[V], x: V) -> V:
    """1/x."""
    given = _bits(lanes, x)
    sign, magnitude = lanes.and_(given, _i32(lanes, _SIGN)), lanes.and_(given, _i32(lanes, _MAGNITUDE))
    exponent = lanes.and_(given, _i32(lanes, INFINITY["float"]))
    # The leading bit of a sum adds one to the exponent.
    bias = _i32(lanes, (2 * 127 - 2) << 23)
    total = _leading(lanes, "rcp", given, top=38)
    # Infinity has the next exponent and gives zero like the largest numbers.
    result = _flush(lanes, lanes.add(lanes.sub(total, exponent), bias))
    result = _unless(lanes, _is_tiny(lanes, magnitude), INFINITY["float"], result)
    return _number(lanes, given, lanes.or_(result, sign))


def _halved_exponent(lanes: Lanes[V], given: V) -> V:
    """Half the exponent of a number, rounded down, in the place of the exponent."""
    halved = _shifted(lanes, "lshr", lanes.add(given, _i32(lanes, _IMPLICIT)), 1)
    kept = lanes.and_(halved, _i32(lanes, -_IMPLICIT))
    return lanes.sub(kept, _i32(lanes, 64 << 23))


def _of_positive(lanes: Lanes[V], given: V, zero: V, infinite: int, result: V) -> V:
    """A result with what a root or logarithm gives for zero, infinity and negative numbers."""
    result = _unless(lanes, lanes.compare("eq", given, _i32(lanes, INFINITY["float"])), infinite, result)
    result = _unless(lanes, lanes.compare("slt", given, _i32(lanes, 0)), NAN["float"], result)
    magnitude = lanes.and_(given, _i32(lanes, _MAGNITUDE))
    return _number(lanes, given, _unless(lanes, _is_tiny(lanes, magnitude), zero, result))


def _reduced_root(lanes: Lanes[V], given: V) -> V:
    """The significand below a bit that says whether the exponent is odd."""
    return lanes.xor(given, _i32(lanes, _IMPLICIT))


def reciprocal_root(lanes: Lanes[V], x: V) -> V:
    """1/sqrt(x), exact for powers of four."""
    given = _bits(lanes, x)
    total = _leading(lanes, "rsqrt", _reduced_root(lanes, given), top=39)
    power = lanes.and_(given, _i32(lanes, _IMPLICIT | _SIGNIFICAND))
    is_power = lanes.compare("eq", power, _i32(lanes, _IMPLICIT))
    total = _unless(lanes, is_power, 2 * _IMPLICIT, total)
    total = lanes.sub(lanes.add(total, _i32(lanes, (127 - 2) << 23)), _halved_exponent(lanes, given))
    zero = lanes.or_(lanes.and_(given, _i32(lanes, _SIGN)), _i32(lanes, INFINITY["float"]))
    return _of_positive(lanes, given, zero, 0, total)


def root(lanes: Lanes[V], x: V) -> V:
    """sqrt(x)."""
    given = _bits(lanes, x)
    total = _leading(lanes, "sqrt", _reduced_root(lanes, given), top=40)
    total = lanes.add(lanes.add(total, _i32(lanes, (127 - 1) << 23)), _halved_exponent(lanes, given))
    zero = lanes.and_(given, _i32(lanes, _SIGN))
    return _of_positive(lanes, given, zero, INFINITY["float"], total)


def exp2(lanes: Lanes[V], x: V) -> V:
    """2**x, with 23 bits of x below the point: cut, and negative ones that are not whole one lower still."""
    given = _bits(lanes, x)
    # From 128 on results are infinite and zero as for 128 itself.
    magnitude = lanes.and_(given, _i32(lanes, _MAGNITUDE))
    near = lanes.bitcast(lanes.apply("llvm.umin", magnitude, _i32(lanes, 0x43000000)), "float")
    scaled = lanes.mul(near, lanes.constant("float", (127 + 23) << 23))
    fixed = lanes.convert("fptosi", scaled, "i32")
    negative = _shifted(lanes, "ashr", given, 31)
    whole = lanes.compare("eq", lanes.and_(fixed, _i32(lanes, _SIGNIFICAND)), _i32(lanes, 0))
    inverted = lanes.xor(fixed, negative)
    fixed = lanes.select(whole, lanes.sub(inverted, negative), inverted)
    exponent = lanes.add(lanes.and_(fixed, _i32(lanes, -_IMPLICIT)), _i32(lanes, (127 - 1) << 23))
    result = lanes.add(_leading(lanes, "ex2", fixed, top=38), exponent)
    return _number(lanes, given, _flush(lanes, result))


def log2(lanes: Lanes[V], x: V) -> V:
    """log2(x): of the sum two bits are cut before the exponent is added to it."""
    given = _bits(lanes, x)
    table = coefficients("lg2")
    unit = table.unit - 2
    total = interpolate(lanes, table, *_split(lanes, given, len(table.c0.patterns), table.bits))
    fraction = lanes.apply("llvm.floor", lanes.mul(total, number(lanes, 0.25)))
    exponent = lanes.sub(_shifted(lanes, "ashr", given, 23), _i32(lanes, 127))
    place = number(lanes, 2.0**unit)
    total = lanes.apply("llvm.fma", lanes.convert("sitofp", exponent, "double"), place, fraction)
    # Negative sums are inverted, not negated.
    negative = lanes.compare("olt", total, number(lanes, 0.0))
    inverted = lanes.add(total, lanes.select(negative, number(lanes, 1.0), number(lanes, 0.0)))
    size = lanes.mul(cut(lanes, inverted), lanes.constant("float", (127 - unit) << 23))
    sign = lanes.select(negative, _i32(lanes, _SIGN), _i32(lanes, 0))
    result = lanes.or_(_bits(lanes, size), sign)
    result = _unless(lanes, lanes.compare("eq", given, _i32(lanes, 127 << 23)), 0, result)
    zero = _i32(lanes, _SIGN | INFINITY["float"])
    return _of_positive(lanes, given, zero, INFINITY["float"], result)


# The factor that makes circles of radians, as single precision has it.
_CIRCLES = 0x3E22F983


def _circle(lanes: Lanes[V], x: V, quarters: int) -> tuple[V, V]:
    """The magnitude of the sine of |x| and so many quarters of a circle, and its sign, as patterns.

    The argument is a multiple of 2**-25 circles: quadrant, then row and distance.
    """
    given = _bits(lanes, x)
    magnitude = lanes.and_(given, _i32(lanes, _MAGNITUDE))
    size = lanes.bitcast(lanes.apply("llvm.umin", magnitude, _i32(lanes, INFINITY["float"] - 1)), "float")
    factor = lanes.constant("float", _CIRCLES)
    near = lanes.mul(size, factor)
    # The product is cut: one less where it was rounded up.
    rest = _bits(lanes, lanes.apply("llvm.fma", size, factor, lanes.neg(near)))
    turns = lanes.bitcast(lanes.add(_bits(lanes, near), _shifted(lanes, "ashr", rest, 31)), "float")
    turns = lanes.sub(turns, lanes.apply("llvm.floor", turns))
    fixed = lanes.convert("fptosi", lanes.mul(turns, lanes.constant("float", (127 + 25) << 23)), "i32")
    angle = lanes.add(fixed, _i32(lanes, quarters << 23))
    backwards = _shifted(lanes, "ashr", _shifted(lanes, "shl", angle, 8), 31)
    table = coefficients("sin")
    place = _split(lanes, lanes.xor(angle, backwards), len(table.c0.patterns), table.bits)
    size = cut(lanes, interpolate(lanes, table, *place))
    size = lanes.mul(size, lanes.constant("float", (127 - table.unit) << 23))
    sign = lanes.and_(_shifted(lanes, "shl", angle, 7), _i32(lanes, _SIGN))
    return _bits(lanes, size), sign


def _finite(lanes: Lanes[V], x: V, result: V) -> V:
    """A result's float, NaN for infinities and NaN."""
    magnitude = lanes.and_(_bits(lanes, x), _i32(lanes, _MAGNITUDE))
    infinite = lanes.compare("uge", magnitude, _i32(lanes, INFINITY["float"]))
    return lanes.bitcast(_unless(lanes, infinite, NAN["float"], result), "float")


def sine(lanes: Lanes[V], x: V) -> V:
    """sin(x) of radians."""
    size, sign = _circle(lanes, x, 0)
    sign = lanes.xor(sign, lanes.and_(_bits(lanes, x), _i32(lanes, _SIGN)))
    return _finite(lanes, x, lanes.or_(size, sign))


def cosine(lanes: Lanes[V], x: V) -> V:
    """cos(x) of radians."""
    return _finite(lanes, x, lanes.or_(*_circle(lanes, x, 1)))


# Of tanh a binade has 2**k rows, for k by exponent from 2**-8 on; below, the argument is the result.
_TANH_FIRST = -8
_TANH_ROWS = (0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3)
_TANH_BITS = max(_TANH_ROWS)


def _by_leading_bits(rows: list[list[int]]) -> list[list[int]]:
    """The rows of tanh with as many for each binade."""
    repeated: list[list[int]] = []
    first = 0
    for bits in _TANH_ROWS:
        for row in rows[first : first + (1 << bits)]:
            repeated += [row] * (1 << (_TANH_BITS - bits))
        first += 1 << bits
    return repeated


_TANH_DEPTH = Table("tanh_depth", "i32", _TANH_ROWS)


def tanh(lanes: Lanes[V], x: V) -> V:
    """tanh(x), below 1 up to 8."""
    given = _bits(lanes, x)
    sign, magnitude = lanes.and_(given, _i32(lanes, _SIGN)), lanes.and_(given, _i32(lanes, _MAGNITUDE))
    table = coefficients("tanh")
    first, end = (127 + _TANH_FIRST) << 23, (127 + 3) << 23
    inside = lanes.clamp(magnitude, first, end - 1, signed=False)
    place = lanes.sub(inside, _i32(lanes, first))
    row = _shifted(lanes, "lshr", place, 23 - _TANH_BITS)
    depth = lanes.look_up(_TANH_DEPTH, _shifted(lanes, "lshr", place, 23))
    below = lanes.apply("lshr", inside, lanes.sub(_i32(lanes, 23 - table.bits), depth))
    distance = lanes.and_(below, _i32(lanes, (1 << table.bits) - 1))
    total = _bits(lanes, cut(lanes, interpolate(lanes, table, row, distance)))
    result = lanes.sub(total, _i32(lanes, table.unit << 23))
    result = lanes.apply("llvm.umin", result, _i32(lanes, (127 << 23) - 1))
    result = _unless(lanes, lanes.compare("ult", magnitude, _i32(lanes, first)), magnitude, result)
    result = _unless(lanes, lanes.compare("uge", magnitude, _i32(lanes, end)), 127 << 23, result)
    return _number(lanes, given, lanes.or_(result, sign))
