"""Interval arithmetic on lane values read as signed integers; None means unknown.

An interval is only kept while it fits the type: an operation that might wrap gives None. Known bounds let an
affine value be widened (no lane wraps before the others) and decide comparisons at compile time.
"""

from __future__ import annotations

from collections.abc import Callable

Range = tuple[int, int] | None


def fit(low: int, high: int, bits: int) -> Range:
    """The interval if every value in it fits a signed integer of so many bits."""
    limit = 1 << (bits - 1)
    return (low, high) if -limit <= low and high < limit else None


def combine(operation: str, bits: int, a: Range, b: Range) -> Range:
    """The interval of a binary integer operation."""
    if a is not None and b is not None:
        exact = _EXACT.get(operation)
        if exact is not None:
            low, high = exact(a, b)
            return fit(low, high, bits)
    loose = _LOOSE.get(operation)
    return loose(bits, a, b) if loose else None


def _product(a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


_EXACT: dict[str, Callable[[tuple[int, int], tuple[int, int]], tuple[int, int]]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "mul": _product,
    "llvm.smin": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "llvm.smax": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
}


def _natural(a: Range) -> bool:
    """Whether all values are known not to be negative, so signed and unsigned readings agree."""
    return a is not None and a[0] >= 0


def _shift_left(bits: int, a: Range, b: Range) -> Range:
    if a is None or b is None or not (_natural(b) and b[1] < bits):
        return None
    return fit(*_product(a, (1 << b[0], 1 << b[1])), bits)


def _shift_right(bits: int, a: Range, b: Range) -> Range:
    if b is None or not _natural(b):
        return None
    if a is not None and a[0] >= 0:
        return a[0] >> min(b[1], bits), a[1] >> b[0]
    return (0, (1 << (bits - b[0])) - 1) if b[0] > 0 else None


def _shift_right_signed(bits: int, a: Range, b: Range) -> Range:
    if b is None or not _natural(b):
        return None
    if a is None:
        a = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    ends = [a[0] >> b[0], a[0] >> min(b[1], bits), a[1] >> b[0], a[1] >> min(b[1], bits)]
    return min(ends), max(ends)


def _and(bits: int, a: Range, b: Range) -> Range:
    for value, mask in ((a, b), (b, a)):
        # Clearing low bits keeps the order of values.
        if value is not None and mask is not None and mask[0] == mask[1] and _clears_low_bits(mask[0]):
            return value[0] & mask[0], value[1] & mask[0]
    tops = [r[1] for r in (a, b) if r is not None and r[0] >= 0]
    return (0, min(tops)) if tops else None


def _clears_low_bits(mask: int) -> bool:
    """Whether a mask is minus a power of two."""
    return mask < 0 and -mask & (-mask - 1) == 0


def _or(bits: int, a: Range, b: Range) -> Range:
    if a is None or b is None or not (_natural(a) and _natural(b)):
        return None
    return max(a[0], b[0]), (1 << max(a[1].bit_length(), b[1].bit_length())) - 1


def _unsigned_minimum(bits: int, a: Range, b: Range) -> Range:
    tops = [r[1] for r in (a, b) if r is not None and r[0] >= 0]
    if not tops:
        return None
    low = min(a[0], b[0]) if a is not None and b is not None and _natural(a) and _natural(b) else 0
    return low, min(tops)


def _remainder(bits: int, a: Range, b: Range) -> Range:
    return (0, b[1] - 1) if b is not None and b[0] > 0 else None


def _quotient(bits: int, a: Range, b: Range) -> Range:
    if a is None or b is None or not _natural(a) or b[0] <= 0:
        return None
    return a[0] // b[1], a[1] // b[0]


def _signed_quotient(bits: int, a: Range, b: Range) -> Range:
    if a is None or b is None or b[0] <= 0:
        return None
    ends = [x // y if x >= 0 else -(-x // y) for x in a for y in b]
    return min(ends), max(ends)


def _signed_remainder(bits: int, a: Range, b: Range) -> Range:
    if b is None or b[0] <= 0:
        return None
    low, high = a if a is not None else (-1 << (bits - 1), (1 << (bits - 1)) - 1)
    return max(low, 1 - b[1]) if low < 0 else 0, min(high, b[1] - 1) if high >= 0 else 0


_LOOSE: dict[str, Callable[[int, Range, Range], Range]] = {
    "shl": _shift_left,
    "lshr": _shift_right,
    "ashr": _shift_right_signed,
    "and": _and,
    "or": _or,
    "llvm.umin": _unsigned_minimum,
    "urem": _remainder,
    "udiv": _quotient,
    "sdiv": _signed_quotient,
    "srem": _signed_remainder,
}

_HOLDS: dict[str, Callable[[tuple[int, int], tuple[int, int]], bool | None]] = {
    "lt": lambda a, b: True if a[1] < b[0] else False if a[0] >= b[1] else None,
    "le": lambda a, b: True if a[1] <= b[0] else False if a[0] > b[1] else None,
    "gt": lambda a, b: True if a[0] > b[1] else False if a[1] <= b[0] else None,
    "ge": lambda a, b: True if a[0] >= b[1] else False if a[1] < b[0] else None,
    "eq": lambda a, b: (
        False if a[1] < b[0] or b[1] < a[0] else True if a[0] == a[1] == b[0] == b[1] else None
    ),
}
_HOLDS["ne"] = lambda a, b: None if (same := _HOLDS["eq"](a, b)) is None else not same


def decide(predicate: str, a: Range, b: Range) -> bool | None:
    """Whether an icmp predicate holds for all values of the intervals, fails for all, or neither."""
    if a is None or b is None:
        return None
    if predicate[0] == "u" and not (_natural(a) and _natural(b)):
        return None
    return _HOLDS[predicate if predicate in ("eq", "ne") else predicate[1:]](a, b)
