"""Floats to integers in lanes, held at the ends of the integer's range: NaN gives zero.

LLVM takes a vector apart for that. Here what fits is converted, as hosts do it for a vector, and the rest is
told by comparisons. AVX-512's conversions say themselves what they make of the rest, which is one pattern:
the least integer if it is signed, the greatest if not.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from ...isa.types import BITS
from ..builder import vector
from ..machine.target import converts_any
from ..values.value import Value

if TYPE_CHECKING:
    from .arithmetic import FastArithmetic

# The conversions by their saturating forms' names, and whether the integer is signed.
SATURATING = {"llvm.fptosi.sat": ("fptosi", True), "llvm.fptoui.sat": ("fptoui", False)}


def saturated(lanes: FastArithmetic, name: str, a: Value, type_: str) -> Value:
    """A vector of floats or doubles as integers."""
    conversion, signed = SATURATING[name]
    width, size = BITS[type_], _REGISTER // BITS[a.type]
    if converts_any() and type_ == "i32" and lanes.width % size == 0:
        return _by_instruction(lanes, a, size, signed=signed)
    least, end = (-(1 << (width - 1)), 1 << (width - 1)) if signed else (0, 1 << width)
    low, high, zero = (_real(lanes, a.type, limit) for limit in (least, end, 0))
    over, under = lanes.emit("fcmp oge", a, high), lanes.emit("fcmp olt", a, low)
    fits = lanes.emit("and", lanes.emit("fcmp oge", a, low), lanes.emit("fcmp olt", a, high))
    found = lanes.emit(conversion, lanes.emit("select", fits, a, zero), type_=type_)
    found = lanes.emit("select", over, lanes.as_vector(lanes.constant(type_, end - 1)), found)
    if not signed:
        return found
    return lanes.emit("select", under, lanes.as_vector(lanes.constant(type_, least)), found)


_REGISTER = 512  # bits
_AS_TOLD = 4  # how to round: as the mode says, which a conversion that truncates does not look at


def _by_instruction(lanes: FastArithmetic, a: Value, size: int, *, signed: bool) -> Value:
    """Floats or doubles as integers of 32 bits, where one register holds `size` of the former."""
    b, zero = lanes.builder, _real(lanes, a.type, 0)
    # None is converted that is NaN, nor one below what is unsigned: zero takes its place.
    taken = lanes.emit("fcmp ord", a, a) if signed else lanes.emit("fcmp oge", a, zero)
    name = f"llvm.x86.avx512.mask.cvtt{'ps' if a.type == 'float' else 'pd'}2{'' if signed else 'u'}dq.512"
    whole, parts = vector("i32", size), list[str]()
    for first in range(0, b.width, size):
        picks = range(first, first + size)
        acts = b.mask_bits(b.shuffle("i1", b.width, taken.ir, picks), size)
        given = vector(a.type, size), b.shuffle(a.type, b.width, a.ir, picks)
        args = [given, (whole, "zeroinitializer"), (f"i{size}", acts), ("i32", str(_AS_TOLD))]
        parts.append(b.call(whole, name, args))
    found = Value("i32", b.joined("i32", parts, size))
    if not signed:
        return found
    over = lanes.emit("fcmp oge", a, _real(lanes, a.type, 1 << 31))
    return lanes.emit("select", over, lanes.as_vector(lanes.constant("i32", (1 << 31) - 1)), found)


def _real(lanes: FastArithmetic, type_: str, number: int) -> Value:
    """A number that is zero or a power of two, in all lanes."""
    pattern = int.from_bytes(struct.pack(">d" if type_ == "double" else ">f", number))
    return lanes.as_vector(lanes.constant(type_, pattern))
