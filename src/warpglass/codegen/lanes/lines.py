"""What code generation knows of the scalar of an affine value (values.py) besides its bounds.

A **line** (step, start) says that the scalar is step * warp + start, modulo the width: so it is with a
thread's index and what is computed from it and constants. Then all lanes of all warps are known, and whatever
is computed from such values alone is computed here. Of other scalars the low bits may be known to be zero, as
those of blockIdx.x * blockDim.x + threadIdx.x: then operations on bits act on the scalar and on the lanes'
offsets apart. Nothing is emitted here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ...isa.types import BITS, is_float
from .forms import wrapped
from .values import Line, Offsets, Value, one_value

# All lanes of all warps: bit patterns, of shape (warps, lanes).
Table = np.ndarray[tuple[int, int], np.dtype[np.uint64]]


def line_of(a: Value) -> Line | None:
    """A value's line; that of a constant is flat."""
    if is_float(a.type) or a.ok is not None or a.offsets is None:
        return None
    return (0, a.constant) if a.constant is not None else a.line


def zeros_of(a: Value) -> int:
    """How many low bits are zero for certain: of a value's scalar, or of every lane of a general vector."""
    if is_float(a.type):
        return 0
    width, line = BITS[a.type], line_of(a)
    return a.zeros if line is None else min(_zeros(part, width) for part in line)


def _zeros(number: int, width: int) -> int:
    number &= (1 << width) - 1
    return (number & -number).bit_length() - 1 if number else width


def lane_zeros(a: Value) -> int:
    """How many low bits are zero in all lanes for certain."""
    zeros, width = zeros_of(a), BITS[a.type]
    if a.offsets is None or one_value(a.offsets):
        return zeros
    return min(zeros, *(_zeros(offset, width) for offset in set(a.offsets)))


def result_zeros(operation: str, operands: tuple[Value, ...], zeros: Callable[[Value], int]) -> int:
    """How many low bits of a result are zero, given how many of the operands' are."""
    if len(operands) != 2 or is_float(operands[0].type):
        return 0
    a, b = operands
    match operation:
        case "add" | "sub" | "or" | "xor":
            return min(zeros(a), zeros(b))
        case "mul":
            return min(zeros(a) + zeros(b), BITS[a.type])
        case "and":
            return max(zeros(a), zeros(b))
        case "shl" if b.constant is not None:
            return min(zeros(a) + b.constant, BITS[a.type])
    return 0


def scalar_facts(operation: str, operands: tuple[Value, ...]) -> tuple[Line | None, int]:
    """Line and zeros of what an operation makes of the scalars of its operands."""
    if len(operands) != 2 or is_float(operands[0].type):
        return None, 0
    a, b = operands
    width, one, two = BITS[a.type], line_of(a), line_of(b)
    line = _LINES[operation](one, two) if operation in _LINES and one and two else None
    if line is not None:
        whole = (1 << width) - 1
        return (line[0] & whole, line[1] & whole), 0
    return None, result_zeros(operation, operands, zeros_of)


def _product(a: Line, b: Line) -> Line | None:
    return (a[0] * b[1] + a[1] * b[0], a[1] * b[1]) if 0 in (a[0], b[0]) else None


_LINES: dict[str, Callable[[Line, Line], Line | None]] = {
    "add": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "sub": lambda a, b: (a[0] - b[0], a[1] - b[1]),
    "mul": _product,
    "shl": lambda a, b: (a[0] << b[1], a[1] << b[1]) if b[0] == 0 and b[1] < 64 else None,
}


# ------------------------------------------------------------------------------------ all lanes of all warps
def table(a: Value, warps: int) -> Table | None:
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


def _ones(width: int) -> np.uint64:
    return np.uint64((1 << width) - 1)


def _signed(patterns: Table, width: int) -> np.ndarray:
    room = np.uint64(64 - width)
    return (patterns << room).astype(np.int64) >> np.int64(64 - width)


def operates(operation: str) -> bool:
    """Whether `operate` knows an operation."""
    return operation in _BITWISE or operation in ("lshr", "ashr", "udiv", "urem")


def operate(operation: str, a: Table, b: Table, width: int) -> Table | None:
    """An operation on all lanes; None where a lane's operand has no meaning for LLVM."""
    if operation in _BITWISE:
        return _BITWISE[operation](a, b)
    if operation in ("lshr", "ashr"):
        if not (b < width).all():
            return None
        moved = a >> b if operation == "lshr" else _signed(a, width) >> b.astype(np.int64)
        return moved.astype(np.uint64) & _ones(width)
    if not (b > 0).all():
        return None
    return a // b if operation == "udiv" else a % b


_BITWISE: dict[str, Callable[[Table, Table], Table]] = {"and": np.bitwise_and, "or": np.bitwise_or}
_BITWISE |= {"xor": np.bitwise_xor, "llvm.umin": np.minimum, "llvm.umax": np.maximum}


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


# ------------------------------------------------------------------------------------ bits
def divide_bits(operation: str, a: Value, b: Value) -> tuple[int, Offsets] | None:
    """How `and`, `or` or `xor` acts on scalars and offsets apart, if it may.

    Returns the number of low bits that the offsets have to themselves, and the result's offsets. The scalar
    of a constant has the bits above those.
    """
    if a.offsets is None or b.offsets is None:
        return None
    ends = [_low_bits(value) for value in (a, b)]
    bits, room = max(least for least, _ in ends), min(most for _, most in ends)
    if bits > room:
        return None
    below = (1 << bits) - 1
    one, two = (
        offsets if value.constant is None else (value.constant & below,) * len(offsets)
        for value, offsets in ((a, a.offsets), (b, b.offsets))
    )
    act = {"and": int.__and__, "or": int.__or__, "xor": int.__xor__}[operation]
    return bits, tuple(act(x, y) for x, y in zip(one, two, strict=True))


def _low_bits(a: Value) -> tuple[int, int]:
    """How many low bits a value's offsets take at least, and how many its scalar leaves to them."""
    if a.constant is not None:
        return 0, BITS[a.type]
    assert a.offsets is not None
    if min(a.offsets) < 0:
        return BITS[a.type] + 1, 0
    return max(a.offsets).bit_length(), zeros_of(a)
