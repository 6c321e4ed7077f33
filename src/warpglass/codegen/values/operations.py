"""What is known of LLVM's operations: one row each, with a rule for every kind of fact.

A rule that a row lacks is one that nothing follows from. Intrinsics go without their type's suffix.
Operations of integers take two operands where a row has any rule but the one for NaNs; conversions have a
table of their own below.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...isa.types import BITS
from . import affine, known_bits, lane_tables
from . import bounds as intervals
from .bounds import Bounds, bounds_of
from .value import Value, signed

Fold = Callable[[int, int, int], int]  # of bit patterns and their width, whatever the bits above that

# What an operation of floats sees of a NaN operand: its bits; of the second one the sign; that it is one;
# that it is one, and makes the result one; nothing, as it acts on signs (of which no meaning wants a NaN's).
SEES_BITS, SEES_SIGN, SEES_NAN, PASSES_NAN, KEEPS_NAN = range(5)
# Whether an operation on integers of half as many bits, of which the operands are extensions, gives the
# extended result, if that fits so many: never; if bounds show that it fits; always; if it is a shift to the
# right by less (values/narrow.py).
WIDE, NARROW, BITWISE, SHIFT = range(4)


@dataclass(frozen=True, slots=True)
class Operation:
    """One row: how constants fold, and the rules of affine.py, bounds.py, known_bits.py and lane_tables.py.

    `unit` as the right operand, and as either of one that `commutes`, leaves the other as it is; `absorbing`
    makes itself of any other.
    """

    name: str
    fold: Fold | None = None
    unit: int | None = None
    commutes: bool = True
    absorbing: int | None = None
    offsets: affine.OffsetRule | None = None
    line: affine.LineRule | None = None
    bounds: intervals.Rule | None = None
    low_bits: known_bits.Rule | None = None
    table: lane_tables.Rule | None = None
    narrows: int = WIDE
    nan: int = SEES_BITS


# fmt: off
_ROWS = (
    Operation(
        "add", lambda a, b, width: a + b, unit=0, narrows=NARROW,
        offsets=affine.sum_of(1), line=lambda a, b: (a[0] + b[0], a[1] + b[1]),
        bounds=intervals.exact(lambda a, b: (a[0] + b[0], a[1] + b[1])),
        low_bits=known_bits.of_both(operator.add),
    ),
    Operation(
        "sub", lambda a, b, width: a - b, unit=0, commutes=False, narrows=NARROW,
        offsets=affine.sum_of(-1), line=lambda a, b: (a[0] - b[0], a[1] - b[1]),
        bounds=intervals.exact(lambda a, b: (a[0] - b[1], a[1] - b[0])),
        low_bits=known_bits.of_both(operator.sub),
    ),
    Operation(
        "mul", lambda a, b, width: a * b, unit=1, absorbing=0, narrows=NARROW,
        offsets=affine.product, line=affine.product_line,
        bounds=intervals.exact(intervals.product), low_bits=known_bits.product,
    ),
    Operation(
        "and", lambda a, b, width: a & b, unit=-1, absorbing=0, narrows=BITWISE,
        bounds=intervals.conjunction, low_bits=known_bits.conjunction,
        table=lane_tables.plain(np.bitwise_and),
    ),
    Operation(
        "or", lambda a, b, width: a | b, unit=0, narrows=BITWISE, bounds=intervals.disjunction,
        low_bits=known_bits.of_both(operator.or_), table=lane_tables.plain(np.bitwise_or),
    ),
    Operation(
        "xor", lambda a, b, width: a ^ b, unit=0, narrows=BITWISE, bounds=intervals.exclusion,
        low_bits=known_bits.of_both(operator.xor), table=lane_tables.plain(np.bitwise_xor),
    ),
    Operation(
        "shl", lambda a, b, width: a << b, unit=0, commutes=False, narrows=NARROW,
        offsets=affine.shifted, line=affine.shifted_line,
        bounds=intervals.shifted_left, low_bits=known_bits.shifted_left,
    ),
    Operation(
        "lshr", lambda a, b, width: a >> b, unit=0, commutes=False, narrows=SHIFT,
        offsets=known_bits.shifted_offsets,
        bounds=intervals.shifted_right, low_bits=known_bits.shifted_right, table=lane_tables.shifted_right,
    ),
    Operation(
        "ashr", lambda a, b, width: signed(a, width) >> b, unit=0, commutes=False, narrows=SHIFT,
        offsets=known_bits.shifted_offsets,
        bounds=intervals.shifted_right_signed, low_bits=known_bits.shifted_right,
        table=lane_tables.shifted_right_signed,
    ),
    Operation("udiv", bounds=intervals.quotient, table=lane_tables.quotient),
    Operation("urem", bounds=intervals.remainder, table=lane_tables.remainder),
    Operation("sdiv", bounds=intervals.signed_quotient),
    Operation("srem", bounds=intervals.signed_remainder),
    Operation("llvm.smin", bounds=intervals.each(min), narrows=NARROW),
    Operation("llvm.smax", bounds=intervals.each(max), narrows=NARROW),
    Operation(
        "llvm.umin", lambda a, b, width: min(a, b), bounds=intervals.unsigned_minimum,
        table=lane_tables.plain(np.minimum), narrows=NARROW,
    ),
    Operation(
        "llvm.umax", lambda a, b, width: max(a, b),
        table=lane_tables.plain(np.maximum), narrows=NARROW,
    ),
    *(Operation(name, nan=PASSES_NAN) for name in ("fadd", "fsub", "fmul", "fdiv", "llvm.fma", "llvm.sqrt")),
    *(Operation(f"llvm.{name}", nan=SEES_NAN) for name in ("roundeven", "trunc", "floor", "ceil")),
    *(Operation(f"llvm.{name}", nan=SEES_NAN) for name in ("minimum", "maximum", "minimumnum", "maximumnum")),
    *(Operation(name, nan=KEEPS_NAN) for name in ("fneg", "llvm.fabs")),
    Operation("llvm.copysign", nan=SEES_SIGN),
)
# fmt: on
OPERATIONS = {row.name: row for row in _ROWS}
# Of any other operation nothing is known.
UNKNOWN = Operation("")

DIVISIONS = ("udiv", "sdiv", "urem", "srem")


def fold(row: Operation, a: Value, b: Value) -> int | None:
    """The bit pattern of the result of constants."""
    if row.fold is None or a.constant is None or b.constant is None:
        return None
    width = BITS[a.type]
    if row.name in _SHIFTS and b.constant >= width:
        return None
    return row.fold(a.constant, b.constant, width) & ((1 << width) - 1)


_SHIFTS = ("shl", "lshr", "ashr")


def identity(row: Operation, a: Value, b: Value) -> Value | None:
    """Operations with a constant that need no instruction: the operand that is their result."""
    if row.unit is None:
        return None
    unit = row.unit & ((1 << BITS[a.type]) - 1)
    if b.constant == unit:
        return a
    if row.commutes and a.constant == unit:
        return b
    if row.absorbing is not None and row.absorbing in (a.constant, b.constant):
        return a if a.constant == row.absorbing else b
    return None


# ------------------------------------------------------------------------------------ conversions
FOLD_CONVERSION: dict[str, Callable[[int, int], int]] = {
    "trunc": lambda pattern, width: pattern,
    "zext": lambda pattern, width: pattern,
    "sext": signed,
    "bitcast": lambda pattern, width: pattern,
}
# Conversions for which NaNs need not be exact: integers have none, and halves have one pattern for them
# (half.py tests for NaN).
BLIND_CONVERSIONS = ("llvm.fptosi.sat", "llvm.fptoui.sat", "fptrunc")


def converted_bounds(operation: str, a: Value, type_: str) -> Bounds:
    """The bounds of an integer extended or cut."""
    bounds = bounds_of(a)
    width = BITS[a.type]
    if operation == "trunc":
        return intervals.fit(*bounds, BITS[type_]) if bounds else None
    if operation == "sext":
        return bounds or (-(1 << (width - 1)), (1 << (width - 1)) - 1)
    if operation == "zext":
        return bounds if bounds and bounds[0] >= 0 else (0, (1 << width) - 1)
    return None
