"""What printf makes of a format and packed arguments, as the host's C library formats them.

CUDA packs the arguments of a device printf as a structure: 4-byte integers, 8-byte integers and pointers,
doubles, each aligned to its size. Conversions: d i u o x X c s p e E f F g G a A %, with flags, width,
precision (also `*`) and length; anything else is printed as it stands.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass

# Wider fields are cut: a kernel must not be able to fill the host's memory with blanks.
_WIDEST = 1 << 16
# What one call prints at most; a format may ask for many long strings.
_LONGEST = 1 << 20
_SPEC = re.compile(
    rb"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?"
    rb"(?P<length>hh|h|ll|l|j|z|t|L|q)?(?P<conversion>.)",
    re.DOTALL,
)
_LONG = (b"l", b"ll", b"j", b"z", b"t", b"q")


@dataclass(frozen=True, slots=True)
class Spec:
    """One conversion with its numbers known."""

    flags: str
    width: int
    precision: int | None
    length: bytes
    conversion: str


class Arguments:
    """Reads packed arguments one after another; `read(offset, size)` gives their bytes."""

    def __init__(self, read: Callable[[int, int], bytes]):
        self._read = read
        self._at = 0
        self.count = 0

    def take(self, size: int) -> bytes:
        """The next argument of 4 or 8 bytes."""
        start = -(-self._at // size) * size
        self._at = start + size
        self.count += 1
        return self._read(start, size)

    def integer(self) -> int:
        """The next 4-byte integer."""
        return int.from_bytes(self.take(4), "little", signed=True)


def format_printf(
    text: bytes, read: Callable[[int, int], bytes], string: Callable[[int], bytes]
) -> tuple[bytes, int]:
    """The bytes printed, and the number of arguments used; `string` reads a C string at an address."""
    arguments = Arguments(read)
    printed = bytearray()
    end = 0
    for found in _SPEC.finditer(text):
        printed += text[end : found.start()]
        end = found.end()
        printed += _convert(found, arguments, string)
        if len(printed) > _LONGEST:
            return bytes(printed[:_LONGEST]), arguments.count
    printed += text[end:]
    return bytes(printed), arguments.count


def _convert(found: re.Match[bytes], arguments: Arguments, string: Callable[[int], bytes]) -> bytes:
    conversion = found["conversion"].decode("latin-1")
    if conversion == "%":
        return b"%"
    make = _CONVERSIONS.get(conversion)
    if make is None:
        return found[0]
    spec = _read_spec(found, arguments)
    if conversion == "s":
        address = int.from_bytes(arguments.take(8), "little")
        body = string(address) if address else b"(null)"
        return _pad(body[: spec.precision] if spec.precision is not None else body, spec)
    if conversion == "c":
        return _pad(bytes([arguments.integer() & 0xFF]), spec)
    return make(spec, arguments).encode()


def _read_spec(found: re.Match[bytes], arguments: Arguments) -> Spec:
    flags = found["flags"].decode()
    width = arguments.integer() if found["width"] == b"*" else int(found["width"] or 0)
    if width < 0:
        flags, width = flags + "-", -width
    precision = None
    if found["precision"] is not None:
        precision = arguments.integer() if found["precision"] == b"*" else int(found["precision"] or 0)
        precision = None if precision < 0 else min(precision, _WIDEST)
    return Spec(flags, min(width, _WIDEST), precision, found["length"] or b"", found["conversion"].decode())


def _pad(body: bytes, spec: Spec) -> bytes:
    return body.ljust(spec.width) if "-" in spec.flags else body.rjust(spec.width)


def _assemble(sign: str, digits: str, spec: Spec, zeros: bool) -> str:
    """Sign or prefix and digits, padded: with zeros between them, or blanks before or behind."""
    if zeros and "0" in spec.flags and "-" not in spec.flags:
        digits = digits.rjust(spec.width - len(sign), "0")
    whole = sign + digits
    return whole.ljust(spec.width) if "-" in spec.flags else whole.rjust(spec.width)


def _sign(negative: bool, spec: Spec) -> str:
    return "-" if negative else "+" if "+" in spec.flags else " " if " " in spec.flags else ""


def _integer(spec: Spec, arguments: Arguments) -> str:
    signed = spec.conversion in "di"
    value = int.from_bytes(arguments.take(8 if spec.length in _LONG else 4), "little", signed=signed)
    width = {b"h": 16, b"hh": 8}.get(spec.length)
    if width is not None:
        value &= (1 << width) - 1
        value -= (value >> (width - 1) << width) if signed else 0
    digits = format(abs(value), {"o": "o", "x": "x", "X": "X"}.get(spec.conversion, "d"))
    if spec.precision is not None:
        digits = digits.rjust(spec.precision, "0") if value or spec.precision else ""
    prefix = _sign(value < 0, spec) if signed else ""
    if "#" in spec.flags and spec.conversion == "o" and not digits.startswith("0"):
        digits = "0" + digits
    if "#" in spec.flags and spec.conversion in "xX" and value:
        prefix = "0" + spec.conversion
    return _assemble(prefix, digits, spec, zeros=spec.precision is None)


def _pointer(spec: Spec, arguments: Arguments) -> str:
    value = int.from_bytes(arguments.take(8), "little")
    return _assemble("", f"0x{value:x}" if value else "(nil)", spec, zeros=False)


def _float(spec: Spec, arguments: Arguments) -> str:
    pattern = arguments.take(8)
    (value,) = struct.unpack("<d", pattern)
    sign = _sign(bool(pattern[7] & 0x80), spec)
    if math.isnan(value) or math.isinf(value):
        word = "nan" if math.isnan(value) else "inf"
        return _assemble(sign, word.upper() if spec.conversion.isupper() else word, spec, zeros=False)
    if spec.conversion in "aA":
        digits = _hexadecimal(abs(value), spec)
        return _assemble(sign + digits[:2], digits[2:], spec, zeros=True)
    precision = 6 if spec.precision is None else spec.precision
    digits = f"%{'#' if '#' in spec.flags else ''}.{precision}{spec.conversion}" % abs(value)
    return _assemble(sign, digits, spec, zeros=True)


def _hexadecimal(value: float, spec: Spec) -> str:
    """`%a` of a number that is not negative: as few digits as are exact, or as many as asked for."""
    mantissa, _, exponent = value.hex()[2:].partition("p")
    lead, _, fraction = mantissa.partition(".")
    if spec.precision is None:
        fraction = fraction.rstrip("0")
    elif spec.precision < len(fraction):
        drop = 4 * (len(fraction) - spec.precision)
        whole = int(lead + fraction, 16)
        rest, half = whole & ((1 << drop) - 1), 1 << (drop - 1)
        whole >>= drop
        whole += rest > half or (rest == half and whole & 1)
        digits = f"{whole:x}".rjust(spec.precision + 1, "0")
        lead, fraction = digits[: len(digits) - spec.precision], digits[len(digits) - spec.precision :]
    else:
        fraction = fraction.ljust(spec.precision, "0")
    point = "." if fraction or "#" in spec.flags else ""
    text = f"0x{lead}{point}{fraction}p{exponent}"
    return text.upper() if spec.conversion == "A" else text


_CONVERSIONS: dict[str, Callable[[Spec, Arguments], str]] = {
    **dict.fromkeys("diuoxX", _integer),
    **dict.fromkeys("eEfFgGaA", _float),
    **dict.fromkeys("pcs", _pointer),
}
