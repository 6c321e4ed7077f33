"""Numbers of PTX: literals of every base, and floating literals as bits."""

from __future__ import annotations

import re
import struct

from .tree import Float, Integer

_INTEGER = re.compile(r"(?:0[xX]([0-9a-fA-F]{1,16})|0[bB]([01]{1,64})|0([0-7]{1,22})|(0|[1-9][0-9]{0,19}))U?")
_BITS = re.compile(r"0(?:[fF]([0-9a-fA-F]{8})|[dD]([0-9a-fA-F]{16}))")
_DECIMAL = re.compile(r"(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d{1,4})?")
_BASES = (16, 2, 8, 10)

LARGEST = 2**64 - 1
SMALLEST = -(2**63)


def parse_number(token: str) -> Integer | Float | None:
    """A literal without sign, or None if the token is none."""
    if match := _INTEGER.fullmatch(token):
        digits = match[match.lastindex or 0]
        value = int(digits, _BASES[(match.lastindex or 1) - 1])
        return Integer(value) if value <= LARGEST else None
    if match := _BITS.fullmatch(token):
        return Float(int(match[1], 16), 32) if match[1] else Float(int(match[2], 16), 64)
    if _DECIMAL.fullmatch(token) and len(token) < 400:
        return Float(int.from_bytes(struct.pack(">d", float(token))), 64)
    return None


def negate(value: Integer | Float) -> Integer | Float:
    """A literal behind a minus sign."""
    if isinstance(value, Integer):
        return Integer(-value.value)
    return Float(value.bits ^ (1 << (value.width - 1)), value.width)
