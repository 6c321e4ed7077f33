"""Minima and maxima of numbers as one instruction of AVX-512: a NaN gives the other operand, -0 is below +0.

Of LLVM's operation (22) come six, as older instructions know neither. A signalling NaN would give itself, so
values that may hold one are made quiet first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...isa.types import BITS
from ..builder import vector
from ..machine.target import finds_extremes
from ..values.value import EXACT_NAN, Value

if TYPE_CHECKING:
    from .arithmetic import FastArithmetic

# The operations, and the instruction's operand: which one, and that the sign is that of the result.
EXTREMES = {"llvm.minimumnum": 4, "llvm.maximumnum": 5}
_REGISTER = 512  # bits
_AS_TOLD = 4  # how to round: as the mode says, which nothing here looks at


def extreme(lanes: FastArithmetic, name: str, one: Value, other: Value) -> Value | None:
    """The smaller or the greater of numbers; None where LLVM's operation is as good, as with a constant."""
    b, type_ = lanes.builder, one.type
    size = _REGISTER // BITS[type_] if type_ in _NAMES else 0
    constant = one.constant is not None or other.constant is not None
    if not size or b.width % size or constant or not finds_extremes():
        return None
    given = [_quiet(lanes, value) for value in (one, other)]
    nothing = vector(type_, size), "zeroinitializer"
    others = ("i32", str(EXTREMES[name])), nothing, (f"i{size}", "-1"), ("i32", str(_AS_TOLD))
    instruction = f"llvm.x86.avx512.mask.range.{_NAMES[type_]}.512"
    return Value(type_, b.by_registers(type_, size, instruction, given, *others))


_NAMES = {"float": "ps", "double": "pd"}


def _quiet(lanes: FastArithmetic, a: Value) -> str:
    """A vector of numbers, none of them a signalling NaN."""
    text, b = lanes.as_vector(a).ir, lanes.builder
    if a.nan != EXACT_NAN and a.type == "float":  # of doubles that is not known
        return text
    return b.intrinsic("canonicalize", a.type, text, lanes=b.width)
