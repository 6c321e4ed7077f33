"""Narrow integers: which operations on the lower halves of integers give the lower half of the result.

Asked of bounds alone, where these show that the operands and the result are integers of half as many bits,
extended with their sign or with zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .bounds import Bounds, Interval, bounds_of, fit, join
from .operations import BITWISE, OPERATIONS, SHIFT, UNKNOWN, WIDE
from .value import Value


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Integers of twice as many `bits`, `most` the greatest one that is said by half as many.

    Those that are not signed integers of so many bits are read as unsigned ones.
    """

    bits: int
    most: int

    def has(self, bounds: Bounds) -> bool:
        """Whether all integers of an interval are narrow, and read in one way."""
        if bounds is None or bounds[1] > self.most:
            return False
        return bounds[0] >= 0 or self.signed(bounds)

    def signed(self, bounds: Interval) -> bool:
        """Whether these are signed integers of so many bits."""
        return fit(*bounds, self.bits) is not None

    def operation(self, name: str, a: Value, b: Value) -> tuple[str, bool] | None:
        """The operation on lower halves, and whether its results are signed; None if there is none."""
        one, two, row = bounds_of(a), bounds_of(b), OPERATIONS.get(name, UNKNOWN)
        if row.narrows == WIDE or one is None or two is None:
            return None
        if row.narrows == SHIFT or name == "shl":
            if not (two[0] >= 0 and two[1] < self.bits) or (name == "lshr" and one[0] < 0):
                return None
            if name == "ashr" and not self.signed(one):
                name = "lshr"
        found = row.bounds(2 * self.bits, one, two) if row.bounds is not None else None
        if found is None:
            both = self.signed(one) and self.signed(two)
            return (name, True) if row.narrows == BITWISE and both else None
        if not self.has(found):
            return None
        if name.endswith(("min", "max")):
            kind = self._order(one, two)
            name = name if kind != "u" else name.replace("llvm.s", "llvm.u")
            return (name, self.signed(found)) if kind else None
        return name, self.signed(found)

    def comparison(self, name: str, a: Value, b: Value) -> str | None:
        """A comparison of lower halves that says the same; None if there is none."""
        one, two = bounds_of(a), bounds_of(b)
        kind = self._order(one, two) if one is not None and two is not None else ""
        return (name if kind == "s" else name.replace(" s", " u")) if kind else None

    def choice(self, a: Value, b: Value) -> bool | None:
        """Whether what is one or the other is signed; None if no lower half says it."""
        found = join(bounds_of(a), bounds_of(b))
        return self.signed(found) if found is not None and self.has(found) else None

    def _order(self, one: Interval, two: Interval) -> str:
        """How both have to be read to be in the order of the wide integers: signed, unsigned, or neither."""
        if self.signed(one) and self.signed(two):
            return "s"
        return "u" if one[0] >= 0 and two[0] >= 0 else ""


# The greatest factor for which multiplications by a constant are tried on all factors.
MOST_TRIED = 1 << 16


@lru_cache(maxsize=256)
def short_factor(factor: int, width: int, most: int) -> tuple[int | None, int]:
    """Another factor and a shift that give the upper half of a product of all numbers from 0 to `most`.

    Their products have 31 bits at most; None if there is no such factor. Compilers write divisions by
    constants with a `factor` of all `width` bits, as numbers of so many bits need it.
    """
    shift = width - max(0, factor.bit_length() + most.bit_length() - 31)
    dropped = width - shift
    if not 0 < shift < 32 or dropped + most.bit_length() > 63:
        return None, 0
    short = -(-factor >> dropped)
    if short * most >= 1 << 31:
        return None, 0
    numbers = np.arange(most + 1, dtype=np.uint64)
    rest = (numbers * np.uint64(factor)) & np.uint64((1 << width) - 1)
    excess = numbers * np.uint64((short << dropped) - factor)
    room = np.uint64((1 << width) - 1) - rest
    return (short, shift) if bool((excess <= room).all()) else (None, 0)
