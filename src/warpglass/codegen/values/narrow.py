"""Narrow integers: which operations on 64-bit ones give the same on their lower 32 bits, extended again.

Asked of bounds alone, where these show that the operands are 32-bit integers, extended with their sign.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .bounds import bounds_of, fit
from .operations import BITWISE, OPERATIONS, SHIFT, UNKNOWN, WIDE
from .value import Value


def is_narrow(a: Value) -> bool:
    """Whether a value is known to be a 32-bit integer."""
    return a.low is not None and a.high is not None and fit(a.low, a.high, 32) is not None


def keeps_narrow(operation: str, operands: tuple[Value, ...]) -> bool:
    """Whether an operation on the lower halves of narrow integers gives that of the 64-bit result."""
    row = OPERATIONS.get(operation, UNKNOWN)
    if row.narrows == WIDE:
        return False
    one, two = (bounds_of(operand) for operand in operands)
    if one is None or two is None:
        return False
    if row.narrows == SHIFT and not (two[0] >= 0 and two[1] < 32 and (operation == "ashr" or one[0] >= 0)):
        return False
    found = row.bounds(64, one, two) if row.bounds is not None else None
    if found is None:
        return row.narrows == BITWISE
    return fit(*found, 32) is not None


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
