"""Floats to integers in lanes, held at the ends of the integer's range: NaN gives zero.

LLVM takes a vector apart for that. Here what fits is converted, as hosts do it for a vector, and the rest is
told by comparisons.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from ...isa.types import BITS
from ..values.value import Value

if TYPE_CHECKING:
    from .arithmetic import FastArithmetic

# The conversions by their saturating forms' names, and whether the integer is signed.
SATURATING = {"llvm.fptosi.sat": ("fptosi", True), "llvm.fptoui.sat": ("fptoui", False)}


def saturated(lanes: FastArithmetic, name: str, a: Value, type_: str) -> Value:
    """A vector of floats or doubles as integers."""
    conversion, signed = SATURATING[name]
    width = BITS[type_]
    least, end = (-(1 << (width - 1)), 1 << (width - 1)) if signed else (0, 1 << width)
    low, high, zero = (_real(lanes, a.type, limit) for limit in (least, end, 0))
    over, under = lanes.emit("fcmp oge", a, high), lanes.emit("fcmp olt", a, low)
    fits = lanes.emit("and", lanes.emit("fcmp oge", a, low), lanes.emit("fcmp olt", a, high))
    found = lanes.emit(conversion, lanes.emit("select", fits, a, zero), type_=type_)
    found = lanes.emit("select", over, lanes.as_vector(lanes.constant(type_, end - 1)), found)
    if not signed:
        return found
    return lanes.emit("select", under, lanes.as_vector(lanes.constant(type_, least)), found)


def _real(lanes: FastArithmetic, type_: str, number: int) -> Value:
    """A number that is zero or a power of two, in all lanes."""
    pattern = int.from_bytes(struct.pack(">d" if type_ == "double" else ">f", number))
    return lanes.as_vector(lanes.constant(type_, pattern))
