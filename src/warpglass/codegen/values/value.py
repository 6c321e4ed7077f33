"""A value of all lanes as code generation knows it: where it stands, its form, and what is known of it."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache
from operator import attrgetter
from typing import Any

from ...isa.rounding import INFINITY, NAN
from ...isa.types import BITS, is_float
from ..builder import WIDTH

Offsets = tuple[int, ...]
Line = tuple[int, int]  # step and start

# What NaNs of type float a value may hold. Of two sorts that a register is given the greater is its own.
ONE_NAN, LOOSE_NAN, EXACT_NAN = range(3)
SINGLE = ("float", "i32")  # LLVM's types of a value of single precision
UNIFORM: Offsets = (0,) * WIDTH


@lru_cache
def no_offsets(width: int) -> Offsets:
    """The offsets of so many lanes that all have one value."""
    return (0,) * width


def one_value(offsets: Offsets | None) -> bool:
    """Whether lanes at these offsets all have one value."""
    return offsets is not None and not any(offsets)


# Nobody changes a value once it is handed on; but a kernel takes thousands, and frozen ones thrice the time
# to make.
@dataclass(slots=True, unsafe_hash=True)
class Value:
    """The lanes of one LLVM scalar type.

    `offsets` is None for a general vector (`ir` names an LLVM vector); else `ir` names a scalar and lane l
    holds it plus `offsets[l]`, modulo the width: all zeros is a uniform value, anything else affine.
    `constant` is the bit pattern, if known, of a uniform value. `low` and `high` bound the lanes' values read
    as signed integers, None if unknown.

    A guarded value has its form only if the i1 named by `ok` holds at run time (some lane might have wrapped
    before the others); `lanes` gives the vector that is right in any case.

    `nan` says what a NaN in a lane of type float stands for: itself (EXACT_NAN), the hardware's NaN, whatever
    its payload (LOOSE_NAN), or there is no other than the hardware's (ONE_NAN).

    `line` says that the scalar is step * warp + start, modulo the width; `zeros`, if that is not known, how
    many of its low bits are zero, or of every lane's in a general vector (known_bits.py).

    Where facts are all that is asked for, names are empty: `ir`, and the `ok` of a guarded value.
    """

    type: str
    ir: str
    offsets: Offsets | None = None
    constant: int | None = None
    low: int | None = None
    high: int | None = None
    ok: str | None = None
    lanes: Callable[[], str] | None = None
    nan: int = EXACT_NAN
    line: Line | None = None
    zeros: int = 0

    @property
    def uniform(self) -> bool:
        """Whether one scalar is every lane's value, for certain."""
        return self.ok is None and one_value(self.offsets)


def replace(value: Value, **changes: Any) -> Value:
    """`dataclasses.replace`, which takes several times as long; the value itself where nothing changes."""
    for name, content in changes.items():
        if getattr(value, name) is not content:
            break
    else:
        return value
    new = Value(*_contents(value))
    for name, content in changes.items():
        setattr(new, name, content)
    return new


_contents = attrgetter(*(field.name for field in fields(Value)))


@lru_cache(maxsize=1 << 12)
def constant(type_: str, pattern: int, width: int) -> Value:
    """The same bits in each of `width` lanes."""
    bits = BITS[type_]
    pattern &= (1 << bits) - 1
    low = high = None if is_float(type_) else signed(pattern, bits) if bits > 1 else pattern
    other_nan = pattern != NAN["float"] and pattern & _MAGNITUDE > INFINITY["float"]
    nan = ONE_NAN if type_ in SINGLE and not other_nan else EXACT_NAN
    return Value(type_, literal(type_, pattern, bits), no_offsets(width), pattern, low, high, nan=nan)


_MAGNITUDE = 0x7FFFFFFF  # of a float


def signed(number: int, width: int) -> int:
    """A number modulo 2 to the `width`, read as signed."""
    half = 1 << (width - 1)
    return (number + half) % (2 * half) - half


def literal(type_: str, pattern: int, width: int) -> str:
    """A bit pattern as an LLVM constant of a scalar type."""
    pattern &= (1 << width) - 1
    if type_ == "i1":
        return "true" if pattern else "false"
    if type_[0] == "i":
        return str(signed(pattern, width))
    if type_ == "double":
        return f"0x{pattern:016X}"
    if type_ == "float":
        return f"0x{_widen_single(pattern):016X}"
    return f"0x{'H' if type_ == 'half' else 'R'}{pattern:04X}"


def _widen_single(pattern: int) -> int:
    """LLVM writes a float constant as the double of the same value; NaN payloads move with it."""
    if (pattern >> 23) & 0xFF == 0xFF:
        return (pattern >> 31) << 63 | 0x7FF << 52 | (pattern & 0x7FFFFF) << 29
    return int.from_bytes(struct.pack(">d", struct.unpack(">f", pattern.to_bytes(4, "big"))[0]), "big")
