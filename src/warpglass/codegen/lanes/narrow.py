"""Narrow integers: 64-bit ones of which 32 bits suffice, so that twice as many fit into a register.

All integers of Python have 64 bits, sums of bytes among them. Where bounds show that an operation's operands
and its result are 32-bit integers, it is done with those (values/narrow.py). The 64-bit vector is what they
are extended to; LLVM drops that where nothing needs it. Of registers that come from other blocks only the
64-bit vector is known, and they are not narrowed for it: in a loop that would take longer than the sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...isa.types import BITS
from ..values.narrow import MOST_TRIED, is_narrow, keeps_narrow, short_factor
from ..values.value import Value

if TYPE_CHECKING:
    from .arithmetic import FastArithmetic


class NarrowVectors:
    """The narrow integers that vectors of 64-bit ones are made of."""

    def __init__(self, lanes: FastArithmetic):
        self._lanes = lanes
        self._narrow: dict[str, str] = {}  # vectors of i64 -> of i32 that they are extended from, by sign
        self._scalars: dict[str, Value] = {}  # vectors of i64 -> what they were made of

    def note(self, vector: str, a: Value) -> None:
        """A vector of i64 has been made of a value that has a form for certain."""
        if is_narrow(a):
            self._scalars[vector] = a

    def lower_half_of(self, a: Value) -> str | None:
        """The vector of i32 that a vector of i64 is extended from by sign, if it is known."""
        return self._narrow.get(a.ir)

    def _find(self, *operands: Value) -> tuple[Value, ...] | None:
        """All operands as narrow vectors; None if some are none, or all are as cheap with 64 bits."""
        narrow, scalars = self._narrow, self._scalars
        if operands[0].type != "i64" or all(one.ir not in narrow for one in operands):
            return None
        for one in operands:
            if one.offsets is not None or not (one.ir in narrow or one.ir in scalars) or not is_narrow(one):
                return None
        return tuple([self._lower_half(one) for one in operands])

    def _lower_half(self, a: Value) -> Value:
        if a.ir in self._narrow:
            return Value("i32", self._narrow[a.ir], None, None, a.low, a.high)
        return self._lanes.as_vector(self._lanes.convert("trunc", self._scalars[a.ir], "i32"))

    def emit(self, name: str, operands: tuple[Value, ...], type_: str) -> Value | None:
        """An instruction on vectors of i64 on narrow ones instead; None if that gives another result."""
        if type_:
            return self._converted(name, operands[0]) if name in ("sext", "zext") else None
        compares, selects = name.startswith("icmp"), name == "select"
        condition, given = operands[:selects], operands[selects:]
        if not (compares or selects) and (not keeps_narrow(name, given) or self._shifts(name, given)):
            return None
        narrow = self._find(*given)
        if narrow is None:
            return None
        result = self._lanes.emit(name, *condition, *narrow)
        return result if compares else self._extended(result)

    def _converted(self, name: str, a: Value) -> Value | None:
        """A narrower integer extended by its sign, or one that is not negative."""
        if a.type in ("i8", "i16"):
            return self._extended(self._lanes.emit(name, a, type_="i32"))
        natural = a.low is not None and a.low >= 0
        return self._extended(a) if a.type == "i32" and (name == "sext" or natural) else None

    def _extended(self, narrow: Value) -> Value:
        """The vector of i64 that narrow integers are extended to."""
        b = self._lanes.builder
        name = b.value(f"sext {b.vector('i32')} {narrow.ir} to {b.vector('i64')}")
        self._narrow[name] = narrow.ir
        return Value("i64", name, None, None, narrow.low, narrow.high)

    def _shifts(self, name: str, operands: tuple[Value, ...]) -> bool:
        """Whether a product is a shift to the left: so go addresses, which have 64 bits in any case."""
        factors = [self._scalars[one.ir].constant or 0 for one in operands if one.ir in self._scalars]
        return name == "mul" and any(factor & -factor == factor for factor in factors)

    def product_high(self, a: Value, b: Value, signed: bool) -> Value | None:
        """The upper half of a product with a constant `b`, of which a narrow one has all that is needed."""
        if b.constant is None or a.offsets is not None or a.low is None or a.low < 0:
            return None
        negative = signed and b.constant >> (BITS[a.type] - 1)
        narrow = self._narrow.get(a.ir) if a.type == "i64" else a.ir if a.type == "i32" else None
        if narrow is None or a.high is None or a.high >= MOST_TRIED or negative:
            return None
        factor, shift = short_factor(b.constant, BITS[a.type], a.high)
        if factor is None:
            return None
        lanes = self._lanes
        words = Value("i32", narrow, None, None, a.low, a.high)
        product = lanes.apply("mul", words, lanes.constant("i32", factor))
        high = lanes.apply("lshr", product, lanes.constant("i32", shift))
        if high.constant is not None:
            return lanes.constant(a.type, high.constant)
        return high if a.type == "i32" else self._extended(high)
