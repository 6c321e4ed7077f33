"""Arithmetic in another mode than to nearest, where the host's instructions can say so: AVX-512.

Elsewhere the meaning in isa/directed.py stands, which computes with wider numbers and takes ten to fifty
times as long. Both round the exact result once, so they give the same; whoever asks settles NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...isa.types import BITS
from ..builder import Builder, vector
from ..machine.target import rounds_as_told
from ..values.value import Value

if TYPE_CHECKING:
    from .arithmetic import FastArithmetic

# Bits of the instructions' operand: the mode, and that no exception is noted.
_MODES = {"rm": 9, "rp": 10, "rz": 11}
_NAMES = {"add": "add", "mul": "mul", "div": "div", "sqrt": "sqrt", "fma": "vfmadd"}
_BITS = 512  # of the only registers for which they can


def rounded(lanes: FastArithmetic, operation: str, mode: str, operands: tuple[Value, ...]) -> Value | None:
    """A sum, product, quotient, root or fma of floats or doubles; None where the host lacks it."""
    if not rounds_as_told() or mode not in _MODES:
        return None
    type_, b = operands[0].type, lanes.builder
    size = _BITS // BITS[type_]
    if all(value.uniform for value in operands):
        given = [b.splat(type_, value.ir, size) for value in operands]
        found = _call(b, operation, mode, type_, given)
        return Value(type_, b.value(f"extractelement {vector(type_, size)} {found}, i32 0"), lanes.same)
    whole = [value.ir for value in lanes.vectors(*operands)]
    parts: list[str] = []
    for first in range(0, b.width, size):
        # Where a register has room for more lanes than there are, the last one fills it.
        picks = [min(lane, b.width - 1) for lane in range(first, first + size)]
        given = [b.shuffle(type_, b.width, text, picks) for text in whole]
        parts.append(_call(b, operation, mode, type_, given))
    if b.width < size:
        return Value(type_, b.shuffle(type_, size, parts[0], range(b.width)))
    return Value(type_, b.joined(type_, parts, size))


def _call(b: Builder, operation: str, mode: str, type_: str, given: list[str]) -> str:
    whole = vector(type_, _BITS // BITS[type_])
    name = f"llvm.x86.avx512.{_NAMES[operation]}.{'ps' if type_ == 'float' else 'pd'}.512"
    return b.call(whole, name, [*((whole, text) for text in given), ("i32", str(_MODES[mode]))])
