"""Bounds: interval arithmetic on lane values read as signed integers; None means unknown.

An interval is only kept while it fits the type: an operation that might wrap gives None. Known bounds let an
affine value be widened (no lane wraps before the others) and decide comparisons at compile time. Rules take
the width in bits and the operands' bounds; operations.py says whose rule each is.
"""

from __future__ import annotations

from collections.abc import Callable

from ...isa.types import BITS
from .value import Value, replace

Interval = tuple[int, int]
Bounds = Interval | None
Rule = Callable[[int, Bounds, Bounds], Bounds]


def bounds_of(a: Value) -> Bounds:
    """A value's bounds."""
    return None if a.low is None or a.high is None else (a.low, a.high)


def fit(low: int, high: int, bits: int) -> Bounds:
    """The interval if every value in it fits a signed integer of so many bits."""
    limit = 1 << (bits - 1)
    return (low, high) if -limit <= low and high < limit else None


def join(a: Bounds, b: Bounds) -> Bounds:
    """The interval of what is one or the other."""
    return None if a is None or b is None else (min(a[0], b[0]), max(a[1], b[1]))


def clipped(a: Value, bounds: Bounds) -> Value:
    """A value with bounds that hold in the lanes that act, one at least.

    Of what others hold nothing is known, unless all are at known distances from those. A value without a form
    keeps its own bounds; where bounds leave one number, it is that, whatever its form.
    """
    if bounds is None or a.offsets is None or a.ok is not None:
        return a
    spread = max(a.offsets) - min(a.offsets)
    wide = fit(bounds[0] - spread, bounds[1] + spread, BITS[a.type])
    if wide is None:
        return a
    own = bounds_of(a) or wide
    return replace(a, low=max(own[0], wide[0]), high=min(own[1], wide[1]))


def in_order(a: Value, zeros: int, predicate: str) -> bool:
    """Whether it is known that scalar plus offset wraps in no active lane, as the predicate reads it.

    So many of the scalar's low bits are zero.
    """
    if a.offsets is None:
        return False
    if min(a.offsets) >= 0 and max(a.offsets).bit_length() <= min(zeros, BITS[a.type] - 1):
        return True  # no sum carries
    bounds = bounds_of(a)
    if bounds is None:
        return False
    limit = 1 << (BITS[a.type] - 1)
    # They hold for lanes that act: the scalar need not be one of those.
    least = 0 if predicate[0] == "u" else -limit
    return least <= bounds[0] - max(a.offsets) and bounds[1] - min(a.offsets) < limit


def keeps_offsets(operation: str, a: Value) -> bool:
    """Whether the bounds show that extending an affine value's scalar extends every lane: none wraps."""
    bounds = bounds_of(a)
    if bounds is None:
        return False
    # The scalar must not wrap either, and it is a lane's value only if that lane's offset is zero.
    assert a.offsets is not None
    low, high = bounds[0] - max(a.offsets), bounds[1] - min(a.offsets)
    limit = 1 << (BITS[a.type] - 1)
    if operation == "sext":
        return -limit <= low and high < limit
    return operation == "zext" and bounds[0] >= 0 and 0 in a.offsets and min(a.offsets) >= 0


# ------------------------------------------------------------------------------------ rules
def exact(rule: Callable[[Interval, Interval], Interval]) -> Rule:
    """A rule for two known intervals whose result may not fit."""

    def bounds(bits: int, a: Bounds, b: Bounds) -> Bounds:
        return None if a is None or b is None else fit(*rule(a, b), bits)

    return bounds


def each(choose: Callable[[int, int], int]) -> Rule:
    """Of smin and smax."""
    return exact(lambda a, b: (choose(a[0], b[0]), choose(a[1], b[1])))


def product(a: Interval, b: Interval) -> Interval:
    """The interval of all products."""
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


def _natural(a: Bounds) -> bool:
    """Whether all values are known not to be negative, so signed and unsigned readings agree."""
    return a is not None and a[0] >= 0


def shifted_left(bits: int, a: Bounds, b: Bounds) -> Bounds:
    """Of shl."""
    if a is None or b is None or not (_natural(b) and b[1] < bits):
        return None
    return fit(*product(a, (1 << b[0], 1 << b[1])), bits)


def shifted_right(bits: int, a: Bounds, b: Bounds) -> Bounds:
    """Of lshr."""
    if b is None or not _natural(b):
        return None
    if a is not None and a[0] >= 0:
        return a[0] >> min(b[1], bits), a[1] >> b[0]
    return (0, (1 << (bits - b[0])) - 1) if 0 < b[0] <= bits else None


def shifted_right_signed(bits: int, a: Bounds, b: Bounds) -> Bounds:
    """Of ashr."""
    if b is None or not _natural(b):
        return None
    if a is None:
        a = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    ends = [a[0] >> b[0], a[0] >> min(b[1], bits), a[1] >> b[0], a[1] >> min(b[1], bits)]
    return min(ends), max(ends)


def conjunction(bits: int, a: Bounds, b: Bounds) -> Bounds:
    """Of and."""
    for value, mask in ((a, b), (b, a)):
        # Clearing low bits keeps the order of values.
        if value is not None and mask is not None and mask[0] == mask[1] and _clears_low_bits(mask[0]):
            return value[0] & mask[0], value[1] & mask[0]
    tops = [bounds[1] for bounds in (a, b) if bounds is not None and bounds[0] >= 0]
    return (0, min(tops)) if tops else None


def _clears_low_bits(mask: int) -> bool:
    """Whether a mask is minus a power of two."""
    return mask < 0 and -mask & (-mask - 1) == 0


def disjunction(bits: int, a: Bounds, b: Bounds) -> Bounds:
    """Of or."""
    if a is None or b is None or not (_natural(a) and _natural(b)):
        return None
    return max(a[0], b[0]), (1 << max(a[1].bit_length(), b[1].bit_length())) - 1


def exclusion(bits: int, a: Bounds, b: Bounds) -> Bounds:
    """Of xor."""
    if a is None or b is None:
        return None
    for value, mask in ((a, b), (b, a)):
        if mask == (-1, -1):
            return -1 - value[1], -1 - value[0]
    return (0, (1 << max(a[1].bit_length(), b[1].bit_length())) - 1) if _natural(a) and _natural(b) else None


def unsigned_minimum(bits: int, a: Bounds, b: Bounds) -> Bounds:
    """Of umin."""
    tops = [bounds[1] for bounds in (a, b) if bounds is not None and bounds[0] >= 0]
    if not tops:
        return None
    low = min(a[0], b[0]) if a is not None and b is not None and _natural(a) and _natural(b) else 0
    return low, min(tops)


def remainder(bits: int, a: Bounds, b: Bounds) -> Bounds:
    """Of urem."""
    return (0, b[1] - 1) if b is not None and b[0] > 0 else None


def quotient(bits: int, a: Bounds, b: Bounds) -> Bounds:
    """Of udiv."""
    if a is None or b is None or not _natural(a) or b[0] <= 0:
        return None
    return a[0] // b[1], a[1] // b[0]


def signed_quotient(bits: int, a: Bounds, b: Bounds) -> Bounds:
    """Of sdiv."""
    if a is None or b is None or b[0] <= 0:
        return None
    ends = [x // y if x >= 0 else -(-x // y) for x in a for y in b]
    return min(ends), max(ends)


def signed_remainder(bits: int, a: Bounds, b: Bounds) -> Bounds:
    """Of srem."""
    if b is None or b[0] <= 0:
        return None
    low, high = a if a is not None else (-1 << (bits - 1), (1 << (bits - 1)) - 1)
    return max(low, 1 - b[1]) if low < 0 else 0, min(high, b[1] - 1) if high >= 0 else 0


# ------------------------------------------------------------------------------------ comparisons
_HOLDS: dict[str, Callable[[Interval, Interval], bool | None]] = {
    "lt": lambda a, b: True if a[1] < b[0] else False if a[0] >= b[1] else None,
    "le": lambda a, b: True if a[1] <= b[0] else False if a[0] > b[1] else None,
    "gt": lambda a, b: True if a[0] > b[1] else False if a[1] <= b[0] else None,
    "ge": lambda a, b: True if a[0] >= b[1] else False if a[1] < b[0] else None,
    "eq": lambda a, b: (
        False if a[1] < b[0] or b[1] < a[0] else True if a[0] == a[1] == b[0] == b[1] else None
    ),
}
_HOLDS["ne"] = lambda a, b: None if (same := _HOLDS["eq"](a, b)) is None else not same


def decide(predicate: str, a: Value, b: Value) -> bool | None:
    """Whether an icmp predicate holds for all values within the operands' bounds, for none, or neither."""
    one, two = bounds_of(a), bounds_of(b)
    if a.constant is not None and b.constant is not None and predicate[0] != "s":
        one, two = (a.constant, a.constant), (b.constant, b.constant)
    if one is None or two is None:
        return None
    if predicate[0] == "u" and not (one[0] >= 0 and two[0] >= 0):
        return None
    return _HOLDS[predicate[-2:]](one, two)
