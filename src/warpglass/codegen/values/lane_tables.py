"""All lanes of all warps of values that the warp's number decides: affine values whose scalar is a line.

Whatever is computed from such values alone is computed here: `t ^ 8`, `t % 2` and `t < 64` have a form then,
a static pattern of the lanes, or one truth for a whole warp.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ...isa.types import BITS
from .affine import line_of, wrapped
from .value import Line, Offsets, Value

# Bit patterns, of shape (warps, lanes).
Table = np.ndarray[tuple[int, int], np.dtype[np.uint64]]
Rule = Callable[[Table, Table, int], Table | None]


def table_of(a: Value, warps: int) -> Table | None:
    """The bit patterns of all lanes, if they are known."""
    line = line_of(a)
    if line is None or a.offsets is None or BITS[a.type] > 64:
        return None
    return _table(line, a.offsets, warps, BITS[a.type])


@lru_cache(maxsize=1 << 10)  # the same few are asked for again and again
def _table(line: Line, offsets: Offsets, warps: int, width: int) -> Table:
    step, start = (part % (1 << 64) for part in line)
    distances = np.array([offset % (1 << 64) for offset in offsets], np.uint64)
    scalars = np.arange(warps, dtype=np.uint64) * np.uint64(step) + np.uint64(start)
    found = (scalars[:, None] + distances[None, :]) & _ones(width)
    found.flags.writeable = False
    return found


def form_of(patterns: Table, width: int) -> tuple[Line, Offsets] | None:
    """Scalar and offsets of known lanes, the lowest lane's offset zero, if they have such a form."""
    return _form_of(patterns.tobytes(), patterns.shape[1], width)


@lru_cache(maxsize=1 << 8)
def _form_of(content: bytes, lanes: int, width: int) -> tuple[Line, Offsets] | None:
    patterns = np.frombuffer(content, np.uint64).reshape(-1, lanes)
    ones = _ones(width)
    lowest = int(np.argmin(_signed(patterns, width)[0]))
    scalars = patterns[:, lowest]
    distances = (patterns - scalars[:, None]) & ones
    steps = np.diff(scalars) & ones
    if (distances != distances[0]).any() or (steps[1:] != steps[:1]).any():
        return None
    step = int(steps[0]) if len(steps) else 0
    return (step, int(scalars[0])), wrapped(tuple(map(int, distances[0])), width)


def _ones(width: int) -> np.uint64:
    return np.uint64((1 << width) - 1)


def _signed(patterns: Table, width: int) -> np.ndarray:
    room = np.uint64(64 - width)
    return (patterns << room).astype(np.int64) >> np.int64(64 - width)


# ------------------------------------------------------------------------------------ rules
# Each takes both operands' tables and the width, and gives None where an operand of some lane has no meaning
# for LLVM.
def plain(function: Callable[[Table, Table], Table]) -> Rule:
    """Of an operation that numpy has and that never leaves the width."""
    return lambda a, b, width: function(a, b)


def shifted_right(a: Table, b: Table, width: int) -> Table | None:
    """Of lshr."""
    return a >> b if (b < width).all() else None


def shifted_right_signed(a: Table, b: Table, width: int) -> Table | None:
    """Of ashr."""
    if not (b < width).all():
        return None
    return (_signed(a, width) >> b.astype(np.int64)).astype(np.uint64) & _ones(width)


def quotient(a: Table, b: Table, width: int) -> Table | None:
    """Of udiv."""
    return a // b if (b > 0).all() else None


def remainder(a: Table, b: Table, width: int) -> Table | None:
    """Of urem."""
    return a % b if (b > 0).all() else None


def extend(operation: str, a: Table, width: int, wider: int) -> Table:
    """Patterns sign- or zero-extended or truncated."""
    whole = _signed(a, width).astype(np.uint64) if operation == "sext" else a
    return whole & _ones(wider)


def compare(predicate: str, a: Table, b: Table, width: int) -> np.ndarray:
    """An icmp predicate for all lanes."""
    if predicate[0] == "s":
        return _HOLDS[predicate[1:]](_signed(a, width), _signed(b, width))
    return _HOLDS[predicate.removeprefix("u")](a, b)


_HOLDS = {"eq": np.equal, "ne": np.not_equal}
_HOLDS |= {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
