"""Arithmetic on the forms of values (values.py): lane offsets, constants and bounds; nothing is emitted."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...isa.types import BITS
from . import ranges
from .values import Offsets, Value, no_offsets, replace


def lane_form(row: np.ndarray, width: int) -> tuple[Offsets | None, int, int]:
    """How a row of the thread table looks from `width` lanes: offsets if all such share them, and bounds."""
    warps = row.reshape(-1, width)
    offsets = warps - warps[:, :1]
    same = bool((offsets == offsets[0]).all())
    return (tuple(offsets[0].tolist()) if same else None), int(row.min()), int(row.max())


def range_of(a: Value) -> ranges.Range:
    return None if a.low is None or a.high is None else (a.low, a.high)


def clipped(a: Value, bounds: tuple[int, int] | None) -> Value:
    """A value with bounds that hold in the lanes that act, one at least.

    Of what others hold nothing is known, unless all are at known distances from those. A value without a form
    keeps its own bounds; where bounds leave one number, it is that, whatever its form.
    """
    if bounds is None or a.offsets is None or a.ok is not None:
        return a
    spread = max(a.offsets) - min(a.offsets)
    wide = ranges.fit(bounds[0] - spread, bounds[1] + spread, BITS[a.type])
    if wide is None:
        return a
    own = range_of(a) or wide
    return replace(a, low=max(own[0], wide[0]), high=min(own[1], wide[1]))


def join(a: ranges.Range, b: ranges.Range) -> ranges.Range:
    return None if a is None or b is None else (min(a[0], b[0]), max(a[1], b[1]))


def regular(offsets: Offsets, size: int) -> bool:
    """Whether all lanes are a whole number of elements apart, so one test of alignment serves all."""
    return all((offset - offsets[0]) % size == 0 for offset in offsets)


def wrapped(offsets: Offsets, width: int) -> Offsets:
    """Offsets modulo the width, read as signed."""
    half, whole = 1 << (width - 1), 1 << width
    if -half <= min(offsets) and max(offsets) < half:
        return offsets
    return tuple((offset + half) % whole - half for offset in offsets)


def _signed(value: Value) -> int | None:
    if value.constant is None:
        return None
    width = BITS[value.type]
    return value.constant - (1 << width) if value.constant >> (width - 1) else value.constant


def _same(a: Value) -> Offsets:
    assert a.offsets is not None
    return no_offsets(len(a.offsets))


def _scaled(a: Value, b: Value) -> Offsets | None:
    for value, factor in ((a, _signed(b)), (b, _signed(a))):
        if factor is not None and value.offsets is not None:
            return tuple(offset * factor for offset in value.offsets)
    return None


def _shifted(a: Value, b: Value) -> Offsets | None:
    if b.constant is None or a.offsets is None:
        return None
    return tuple(offset << b.constant for offset in a.offsets)


def _sum(sign: int) -> Callable[[Value, Value], Offsets | None]:
    def offsets(a: Value, b: Value) -> Offsets | None:
        assert a.offsets is not None
        assert b.offsets is not None
        return tuple(x + sign * y for x, y in zip(a.offsets, b.offsets, strict=True))

    return offsets


# Operations that keep scalar-plus-offsets form: the lane offsets of the result, None if they are not known.
AFFINE: dict[str, Callable[..., Offsets | None]] = {
    "add": _sum(1),
    "sub": _sum(-1),
    "mul": lambda a, b: _same(a) if a.uniform and b.uniform else _scaled(a, b),
    "shl": lambda a, b: _same(a) if a.uniform and b.uniform else _shifted(a, b),
}

_FOLD: dict[str, Callable[[int, int, int], int]] = {
    "add": lambda a, b, w: a + b,
    "sub": lambda a, b, w: a - b,
    "mul": lambda a, b, w: a * b,
    "and": lambda a, b, w: a & b,
    "or": lambda a, b, w: a | b,
    "xor": lambda a, b, w: a ^ b,
    "shl": lambda a, b, w: a << b,
    "lshr": lambda a, b, w: a >> b,
    "ashr": lambda a, b, w: (a - (1 << w) if a >> (w - 1) else a) >> b,
    "llvm.umin": lambda a, b, w: min(a, b),
    "llvm.umax": lambda a, b, w: max(a, b),
}


def fold(operation: str, a: Value, b: Value) -> int | None:
    if a.constant is None or b.constant is None or operation not in _FOLD:
        return None
    width = BITS[a.type]
    if operation in ("shl", "lshr", "ashr") and b.constant >= width:
        return None
    return _FOLD[operation](a.constant, b.constant, width) & ((1 << width) - 1)


def identity(operation: str, a: Value, b: Value) -> Value | None:
    """Operations with a constant that need no instruction."""
    ones = (1 << BITS[a.type]) - 1
    if b.constant == 0 and operation in ("add", "sub", "or", "xor", "shl", "lshr", "ashr"):
        return a
    if a.constant == 0 and operation in ("add", "or", "xor"):
        return b
    if operation == "mul" and 1 in (a.constant, b.constant):
        return b if a.constant == 1 else a
    if operation in ("mul", "and") and 0 in (a.constant, b.constant):
        return a if a.constant == 0 else b
    if operation == "and" and ones in (a.constant, b.constant):
        return b if a.constant == ones else a
    return None


CONVERT_CONSTANT: dict[str, Callable[[int, int], int]] = {
    "trunc": lambda pattern, width: pattern,
    "zext": lambda pattern, width: pattern,
    "sext": lambda pattern, width: pattern - (1 << width) if pattern >> (width - 1) else pattern,
    "bitcast": lambda pattern, width: pattern,
}


def compare_constants(predicate: str, a: Value, b: Value) -> bool | None:
    assert a.constant is not None
    assert b.constant is not None
    plain = "s" + predicate[1:] if predicate[0] == "u" else predicate  # the patterns are not negative
    return ranges.decide(plain, (a.constant, a.constant), (b.constant, b.constant))
