"""The multifunction unit: the quadratic interpolator that the approximate functions of single precision use.

NVIDIA's hardware evaluates them as Oberman and Siu describe ("A High-Performance Area-Efficient Multifunction
Interpolator", ARITH 2005). The leading bits of the reduced argument select a row of a table, and the bits
that follow them, `low`, are the distance x within the row's interval:

    sum = c0 + c1 x + c2 square(x)

is a fixed-point number whose leading 24 bits are the result: it is cut, not rounded. The squarer drops the
low columns of its partial products. The tables (interpolator.json) and what happens before and behind the sum
were measured: results on an H100 are these for each of the 2**32 arguments of each function, with and without
`.ftz` (tests/gpu/test_interpolator.py). Here are the tables and the sum; multifunction.py has the functions.

Sums of up to 41 bits are computed in words: of distances at most 14 bits are multiplied at once, by halves of
words, and so are the bytes of the square. Processors add up such products in one instruction.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from .lanes import Lanes, Table
from .rounding import number

V = TypeVar("V")

_PATH = Path(__file__).with_name("interpolator.json")
_SQUARED = 15  # bits of the distance that the squarer sees, and of what it gives
_PART = 14  # bits of the distance that are multiplied at once, at most
_CENTRE = 15  # c1 is so many bits and a few off zero


def word(lanes: Lanes[V], value: int) -> V:
    """A word, the same in every lane."""
    return lanes.constant("i32", value)


def shifted(lanes: Lanes[V], operation: str, a: V, distance: int) -> V:
    """A word shifted by a constant."""
    return lanes.apply(operation, a, word(lanes, distance))


@dataclass(frozen=True, slots=True)
class Coefficients:
    """The table of one function, of which products and sums fit 32 bits.

    The distance has `bits` bits, sums are multiples of 2**-unit. The constant term is c0 * 2**part + bias, of
    which the bias centres what is cut. `both` has c2 and, in the upper half, c1 less `centre` * 2**part.
    """

    bits: int
    unit: int
    part: int
    bias: int
    centre: int
    c0: Table
    both: Table

    def split(self, lanes: Lanes[V], reduced: V) -> tuple[V, V]:
        """Row and distance, the lower bits of a reduced argument."""
        row = lanes.and_(shifted(lanes, "lshr", reduced, self.bits), word(lanes, len(self.c0.patterns) - 1))
        return row, lanes.and_(reduced, word(lanes, (1 << self.bits) - 1))


@cache
def measured() -> dict[str, dict[str, Any]]:
    """The tables as they were measured, by function."""
    return json.loads(_PATH.read_text("utf-8"))


@cache
def coefficients(function: str) -> Coefficients:
    """The table of a function: rcp, rsqrt, sqrt, ex2, lg2 or sin."""
    found = measured()[function]
    part = min(found["step"], _PART)
    firsts, seconds, thirds = zip(*found["rows"], strict=True)
    centre = round((min(seconds) + max(seconds)) / (2 << _CENTRE)) << _CENTRE
    pairs = zip(seconds, thirds, strict=True)
    both = [((second - centre) << 16) + (third & 0xFFFF) for second, third in pairs]
    return Coefficients(
        bits=found["bits"],
        unit=found["unit"],
        part=part,
        bias=found["bias"],
        centre=centre >> part,
        c0=integers(f"{function}_c0", [first << (found["step"] - part) for first in firsts]),
        both=integers(f"{function}_c12", both),
    )


def integers(name: str, values: Sequence[int]) -> Table:
    """A table of words."""
    return Table(name, "i32", tuple(value & 0xFFFFFFFF for value in values))


# What the squarer adds up as products of bytes: from which bits on one byte is taken and what is kept of it,
# a lower bit, and from which on the other is, the upper bits that it meets. The last two rows are all of the
# upper bits with the two next lower ones, and with twice themselves.
_PRODUCTS = (
    ((0, 0x01, 14), (1, 0x01, 13), (2, 0x01, 12), (3, 0x01, 11)),
    ((4, 0x01, 10), (5, 0x01, 9), (6, 0x03, 8), (7, 0xFE, 8)),
)


def square(lanes: Lanes[V], distance: V, bits: int) -> V:
    """The truncated square (i32) of a distance (i32) of so many bits, 16 or 17.

    It is the sum of the partial products of columns from 2**17 or 2**19 on. The upper seven bits meet each
    other in those columns only, the lower ones never; of products of an upper with a lower bit those remain
    in which the lower one is among the 6 - k next ones, for the upper bit 2**k.
    """
    ignored, total = bits - _SQUARED, word(lanes, 0)
    for places, kept, uppers in (zip(*four, strict=True) for four in _PRODUCTS):
        found = lanes.windows(distance, [place + ignored for place in places])
        upper = lanes.windows(distance, [place + ignored for place in uppers])
        if found is None or upper is None:
            return _square_by_bits(lanes, shifted(lanes, "lshr", distance, ignored))
        lower = lanes.and_(found, word(lanes, int.from_bytes(kept, "little")))
        total = lanes.dot(total, lower, upper, a_signed=False, b_signed=True)
    return total


def _square_by_bits(lanes: Lanes[V], seen: V) -> V:
    k = partial(lanes.constant, "i16")
    seen = lanes.convert("trunc", seen, "i16")
    upper, lower = lanes.apply("lshr", seen, k(8)), lanes.and_(seen, k(0xFF))
    total = lanes.apply("shl", lanes.mul(upper, upper), k(1))
    for bit in range(7):
        has = lanes.compare("ne", lanes.and_(seen, k(1 << (8 + bit))), k(0))
        product = lanes.apply("lshr", lower, k(6 - bit))
        total = lanes.add(total, lanes.select(has, product, k(0)))
    return lanes.extend(total, "i32", signed=False)


def interpolate(lanes: Lanes[V], table: Coefficients, reduced: V) -> tuple[V, V]:
    """The sum, as multiples of 2**part and the rest (both i32)."""
    row, distance = table.split(lanes, reduced)
    both, ones = lanes.look_up(table.both, row), (1 << table.part) - 1
    factor = shifted(lanes, "shl", lanes.and_(distance, word(lanes, ones)), 16)
    factors = lanes.or_(factor, square(lanes, distance, table.bits))
    low = lanes.dot_halves(word(lanes, table.bias), both, factors)
    factor = shifted(lanes, "shl", shifted(lanes, "lshr", distance, table.part), 16)
    high = lanes.dot_halves(lanes.look_up(table.c0, row), both, factor)
    high = lanes.add(high, lanes.mul(distance, word(lanes, table.centre)))
    return lanes.add(high, shifted(lanes, "ashr", low, table.part)), lanes.and_(low, word(lanes, ones))


def leading(lanes: Lanes[V], function: str, reduced: V, top: int) -> V:
    """The leading 24 bits (i32) of a sum between 2**top and 2**(top + 1)."""
    table = coefficients(function)
    return shifted(lanes, "lshr", interpolate(lanes, table, reduced)[0], top - 23 - table.part)


def cut(lanes: Lanes[V], upper: V, lower: V, place: int) -> V:
    """upper * 2**place + lower, integers (i32) of 24 bits, cut to 24 bits as a float."""
    whole = [lanes.convert("sitofp", one, "float") for one in (upper, lower)]
    found = lanes.rounded("fma", "rz", (whole[0], lanes.constant("float", (127 + place) << 23), whole[1]))
    if found is not None:
        return found
    wide = [lanes.convert("sitofp", one, "double") for one in (upper, lower)]
    return cut_double(lanes, lanes.apply("llvm.fma", wide[0], number(lanes, 2.0**place), wide[1]))


def cut_double(lanes: Lanes[V], a: V) -> V:
    """A double of single precision's range cut to 24 bits, as a float."""
    kept = lanes.and_(lanes.bitcast(a, "i64"), lanes.constant("i64", -1 << 29))
    return lanes.convert("fptrunc", lanes.bitcast(kept, "double"), "float")
