"""Matrix products of a warp, element by element in Python's integers and fractions: the oracle for mma.

Fragments are arrays of patterns, (warps, registers, lanes); matrices are lists of rows of patterns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np

from .floats import DOUBLE, SINGLE, Format, two_to

HALF = Format(16, 10)
FLOATS = {"f16": HALF, "bf16": Format(16, 7), "tf32": Format(19, 10), "f32": SINGLE, "f64": DOUBLE}
FLOATS |= {"e4m3": Format(8, 3), "e5m2": Format(8, 2)}
# Bits that an element takes in a register.
WIDTHS = {"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "f64": 64, "e4m3": 8, "e5m2": 8, "s32": 32}
WIDTHS |= {"u8": 8, "s8": 8, "u4": 4, "s4": 4, "b1": 1}
_NAN = {"f16": 0x7FFF, "f32": 0x7FFFFFFF}

Matrix = list[list[int]]
Dot = Callable[[Sequence[int], Sequence[int], int], int]


@dataclass(frozen=True)
class Number:
    """A finite number as the hardware takes it apart: sign * significand * 2**(exponent - fraction)."""

    significand: int  # with its sign
    exponent: int
    fraction: int

    def cut(self, unit: int) -> int:
        """In units of 2**unit, toward zero."""
        places = self.exponent - self.fraction - unit
        size = abs(self.significand)
        size = size << places if places >= 0 else size >> -places
        return size if self.significand >= 0 else -size


@cache
def take_apart(pattern: int, type_: str) -> Number | float:
    """A number, or an infinity or NaN as a float."""
    f = FLOATS[type_]
    if type_ == "tf32":
        pattern >>= 13
    negative, magnitude = pattern >> (f.width - 1), pattern & (f.sign - 1)
    field, significand = magnitude >> f.fraction, magnitude & ((1 << f.fraction) - 1)
    if type_ == "e4m3" and magnitude == 0x7F:
        return math.nan
    if type_ != "e4m3" and magnitude >= f.infinity:
        return math.nan if magnitude > f.infinity else -math.inf if negative else math.inf
    if field:
        significand |= 1 << f.fraction
    return Number(-significand if negative else significand, max(field, 1) - f.bias, f.fraction)


def tensor_core(type_: str, sums: str) -> Dot:
    """One step of Hopper's tensor cores."""

    def dot(a: Sequence[int], b: Sequence[int], c: int) -> int:
        terms = [_times(take_apart(x, type_), take_apart(y, type_)) for x, y in zip(a, b, strict=True)]
        terms.append(take_apart(c, sums))
        special = [term for term in terms if isinstance(term, float)]
        if special:
            total = sum(special)
            return _NAN[sums] if math.isnan(total) else FLOATS[sums].encode(total)
        finite = [term for term in terms if isinstance(term, Number) and term.significand]
        unit = max([-126, *(term.exponent for term in finite)]) - 25
        exact = sum(term.cut(unit) for term in finite) * two_to(unit)
        pattern = _too_large(exact, sums) or FLOATS[sums].encode(exact, mode="rz" if sums == "f32" else "rn")
        return 0 if pattern == FLOATS[sums].sign else pattern

    return dot


def _times(x: Number | float, y: Number | float) -> Number | float:
    if isinstance(x, Number) and isinstance(y, Number):
        return Number(x.significand * y.significand, x.exponent + y.exponent, x.fraction + y.fraction)
    return math.prod(float(one.significand) if isinstance(one, Number) else one for one in (x, y))


def _too_large(exact: Fraction, sums: str) -> int:
    """Infinity for what rounding toward zero would keep finite."""
    if sums != "f32" or abs(exact) < two_to(128):
        return 0
    return SINGLE.encode(math.inf if exact > 0 else -math.inf)


def by_bytes(a_type: str, b_type: str, sums: str) -> Dot:
    """Bytes as halves, those of the lower half of each register first, and then C."""
    step = tensor_core("f16", sums)

    def dot(a: Sequence[int], b: Sequence[int], c: int) -> int:
        halves = [[_half(x, type_) for x in row] for row, type_ in ((a, a_type), (b, b_type))]
        total = 0
        for first in (0, 2):
            left, right = ([x for k, x in enumerate(row) if k % 4 in (first, first + 1)] for row in halves)
            total = step(left, right, total)
        return _sum(total, c, sums)

    return dot


@cache
def _half(pattern: int, type_: str) -> int:
    """A byte's number as a half: NaN is the only one that is not exact."""
    number = take_apart(pattern, type_)
    if not isinstance(number, Number):
        return 0x7FFF if math.isnan(number) else HALF.encode(number)
    return HALF.encode(value(number), negative_zero=bool(pattern >> 7))


def value(number: Number) -> Fraction:
    """What a number is worth."""
    return number.significand * two_to(number.exponent - number.fraction)


def _sum(x: int, y: int, sums: str) -> int:
    """The sum of two patterns, rounded to the nearest."""
    f = FLOATS[sums]
    a, b = f.decode(x), f.decode(y)
    total = a + b
    if isinstance(total, float) and math.isnan(total):
        return _NAN[sums]
    return f.encode(total, negative_zero=bool(x & y & f.sign))


def chain(sums: str, results: str) -> Dot:
    """Four halves' products in single precision, as ordinary instructions do it."""

    def dot(a: Sequence[int], b: Sequence[int], c: int) -> int:
        own = SINGLE.encode(FLOATS[sums].decode(c), negative_zero=bool(c & FLOATS[sums].sign))
        if results == "f32":
            total = 0
            for x, y in zip(a, b, strict=True):
                total = _fused(x, y, total)
            return _sum(total, own, "f32")
        first, second = (_fused(a[k + 1], b[k + 1], _fused(a[k], b[k], 1 << 31)) for k in (0, 2))
        total = SINGLE.decode(_sum(_sum(first, own, "f32"), second, "f32"))
        if isinstance(total, float) and math.isnan(total):
            return _NAN["f16"]
        negative = bool(first & own & second & SINGLE.sign)
        return HALF.encode(total, negative_zero=negative)

    return dot


def _fused(x: int, y: int, z: int) -> int:
    a, b, c = HALF.decode(x), HALF.decode(y), SINGLE.decode(z)
    total = a * b + c
    if isinstance(total, float) and math.isnan(total):
        return _NAN["f32"]
    negative = bool((x ^ y) & HALF.sign) and bool(z & SINGLE.sign)
    return SINGLE.encode(total, negative_zero=negative)


def doubles(mode: str) -> Dot:
    """Fused operations in the order of k; NaN passes, B's first, then C's, then A's."""

    def dot(a: Sequence[int], b: Sequence[int], c: int) -> int:
        for x, y in zip(a, b, strict=True):
            passed = next((z for z in (y, c, x) if DOUBLE.is_nan(z)), None)
            if passed is not None:
                c = passed | 1 << 51
                continue
            total = DOUBLE.decode(x) * DOUBLE.decode(y) + DOUBLE.decode(c)
            if isinstance(total, float) and math.isnan(total):
                c = 0xFFF8 << 48
                continue
            product, own = bool((x ^ y) & DOUBLE.sign), bool(c & DOUBLE.sign)
            negative = (product or own) if mode == "rm" else (product and own)
            c = DOUBLE.encode(total, negative_zero=negative, mode=mode)
        return c

    return dot


# ---------------------------------------------------------------------------------------- fragments
def elements(words: np.ndarray, width: int) -> list[list[list[int]]]:
    """Patterns by warp, lane and element, from (warps, registers, lanes)."""
    per = max(1, 32 // width)
    parts = [words.astype(np.uint64) >> np.uint64(width * k) for k in range(per)]
    mask = np.uint64((1 << width) - 1)
    whole = np.stack([part & mask for part in parts], axis=-1)  # warps, registers, lanes, parts
    return whole.transpose(0, 2, 1, 3).reshape(len(words), 32, -1).tolist()


def matrix(parts: list[list[int]], operand: str, shape: tuple[int, int, int], width: int) -> Matrix:
    """A warp's fragment as a matrix, after the figures in the PTX manual."""
    m, n, k = shape
    rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n)}[operand]
    found = [[0] * columns for _ in range(rows)]
    for lane, own in enumerate(parts):
        for i, element in enumerate(own):
            row, column = place(operand, shape, width, lane, i)
            found[row][column] = element
    return found


def place(operand: str, shape: tuple[int, int, int], width: int, lane: int, i: int) -> tuple[int, int]:
    """Row and column of element i of a lane."""
    group, thread = divmod(lane, 4)
    if operand == "c":
        return group + 8 * (i // 2), 2 * thread + i % 2
    per = max(1, 32 // width)  # neighbours in a register
    register, part = divmod(i, per)
    along = per * thread + part
    if operand == "b":
        return along + 4 * per * register, group
    above = 1 if shape[0] == 8 else 2
    return group + 8 * (register % above), along + 4 * per * (register // above)
