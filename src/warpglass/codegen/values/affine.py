"""Affine form: a scalar plus an offset per lane that is known when code is generated.

The scalar itself may be a **line**: step * warp + start, as a thread's index is and what is computed from it
and constants. Rules give the offsets of an operation's result, or its line, from its operands'; None where
the result has no such form. All are modulo the width; operations.py says whose rule each is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from ...isa.types import BITS, is_float
from .value import Line, Offsets, Value, no_offsets, signed

OffsetRule = Callable[[Value, Value], Offsets | None]
LineRule = Callable[[Line, Line], Line | None]


def lane_form(row: np.ndarray, width: int) -> tuple[Offsets | None, int, int]:
    """How a row of the thread table looks from `width` lanes: offsets if all such share them, and bounds."""
    warps = row.reshape(-1, width)
    offsets = warps - warps[:, :1]
    same = bool((offsets == offsets[0]).all())
    return (tuple(offsets[0].tolist()) if same else None), int(row.min()), int(row.max())


def line_through(starts: Sequence[int]) -> Line | None:
    """What the warps start with, if it grows by one step from warp to warp."""
    step = starts[1] - starts[0] if len(starts) > 1 else 0
    return (step, starts[0]) if all(b - a == step for a, b in pairwise(starts)) else None


def line_of(a: Value) -> Line | None:
    """The line of a value's scalar; that of a constant is flat."""
    if is_float(a.type) or a.ok is not None or a.offsets is None:
        return None
    return (0, a.constant) if a.constant is not None else a.line


def regular(offsets: Offsets, size: int) -> bool:
    """Whether all lanes are a whole number of elements apart, so one test of alignment serves all."""
    return all((offset - offsets[0]) % size == 0 for offset in offsets)


def wrapped(offsets: Offsets, width: int) -> Offsets:
    """Offsets modulo the width, read as signed."""
    half, whole = 1 << (width - 1), 1 << width
    if -half <= min(offsets) and max(offsets) < half:
        return offsets
    return tuple((offset + half) % whole - half for offset in offsets)


# ------------------------------------------------------------------------------------ rules
def sum_of(sign: int) -> OffsetRule:
    """Of add, and of sub."""

    def offsets(a: Value, b: Value) -> Offsets | None:
        assert a.offsets is not None
        assert b.offsets is not None
        return tuple([x + sign * y for x, y in zip(a.offsets, b.offsets, strict=True)])

    return offsets


def product(a: Value, b: Value) -> Offsets | None:
    """Of mul: by a constant, or uniform."""
    for value, other in ((a, b), (b, a)):
        if other.constant is not None and value.offsets is not None:
            factor = signed(other.constant, BITS[other.type])
            return tuple([offset * factor for offset in value.offsets])
    return _uniform(a, b)


def shifted(a: Value, b: Value) -> Offsets | None:
    """Of shl: by a constant, or uniform."""
    if b.constant is not None and a.offsets is not None:
        return tuple([offset << b.constant for offset in a.offsets])
    return _uniform(a, b)


def _uniform(a: Value, b: Value) -> Offsets | None:
    assert a.offsets is not None
    return no_offsets(len(a.offsets)) if a.uniform and b.uniform else None


def product_line(a: Line, b: Line) -> Line | None:
    """Of mul."""
    return (a[0] * b[1] + a[1] * b[0], a[1] * b[1]) if 0 in (a[0], b[0]) else None


def shifted_line(a: Line, b: Line) -> Line | None:
    """Of shl."""
    return (a[0] << b[1], a[1] << b[1]) if b[0] == 0 and b[1] < 64 else None
