"""Formatting as the host's C library does it, which is what CUDA's own printf uses."""

from __future__ import annotations

import ctypes
import itertools
import struct

import pytest

from warpglass.engine.cpu.printf import format_printf

INTEGERS = [0, 1, -1, 7, 255, -300, 2**31 - 1, -(2**31), 2**40 + 5, -(2**63)]
FLOATS = [0.0, -0.0, 1.0, -1.5, 0.1, 1e10, 1e-10, 123456.789, 5e-324, 1.7976931348623157e308]
FLOATS += [float("inf"), float("-inf"), float("nan"), 0.5, 2.5, 1.9999999]
FLAGS = ["", "-", "+", " ", "#", "0", "-+", "0+", "# ", "#0"]
SIZES = ["", "1", "12", ".0", ".3", "12.5", "3.1"]


def printed(text: str, packed: bytes) -> bytes:
    """What format_printf makes of a format and packed arguments without strings."""
    return format_printf(text.encode(), lambda at, size: packed[at : at + size], lambda _: b"")[0]


def by_library(text: str, argument: ctypes.c_longlong | ctypes.c_double | ctypes.c_void_p) -> bytes:
    """The same from the C library."""
    buffer = ctypes.create_string_buffer(4096)
    ctypes.CDLL(None).snprintf(buffer, 4096, text.encode(), argument)
    return buffer.value


@pytest.mark.parametrize("conversion", ["d", "i", "u", "o", "x", "X"])
@pytest.mark.parametrize("length", ["", "hh", "h", "l", "ll", "z"])
def test_integers(conversion: str, length: str) -> None:
    wide = length in ("l", "ll", "z")
    for flags, size, value in itertools.product(FLAGS, SIZES, INTEGERS):
        text = f"<%{flags}{size}{length}{conversion}>"
        packed = (value & (1 << 64) - 1).to_bytes(8, "little")[: 8 if wide else 4]
        argument = ctypes.c_longlong(value if wide else int.from_bytes(packed, "little", signed=True))
        assert printed(text, packed) == by_library(text, argument), (text, value)


@pytest.mark.parametrize("conversion", list("eEfFgGaA"))
def test_floats(conversion: str) -> None:
    for flags, size, value in itertools.product(FLAGS, SIZES, FLOATS):
        text = f"<%{flags}{size}{conversion}>"
        assert printed(text, struct.pack("<d", value)) == by_library(text, ctypes.c_double(value)), (
            text,
            value,
        )


@pytest.mark.parametrize("size", ["", "20", "-20"])
def test_pointers(size: str) -> None:
    for value in (0, 1, 2**47 + 16):
        text = f"<%{size}p>"
        assert printed(text, struct.pack("<Q", value)) == by_library(text, ctypes.c_void_p(value))


def test_arguments_are_aligned_to_their_size() -> None:
    packed = struct.pack("<ixxxxdiiq", 1, 2.5, 3, 4, 5)
    assert printed("%d %g %d %d %lld", packed) == b"1 2.5 3 4 5"


def test_width_and_precision_from_arguments() -> None:
    packed = struct.pack("<iid", 9, 2, 3.14159)
    assert printed("%*.*f|", packed) == b"     3.14|"
    assert printed("%*d|", struct.pack("<ii", -4, 7)) == b"7   |"


def test_strings() -> None:
    strings = {16: b"hello", 32: b""}
    packed = struct.pack("<QQQ", 16, 16, 0)
    text = b"%s|%-8.3s|%s|%c|%%|%"
    got, count = format_printf(
        text, lambda at, size: (packed + b"A\0\0\0")[at : at + size], lambda at: strings[at]
    )
    assert got == b"hello|hel     |(null)|A|%|%"
    assert count == 4


def test_unknown_conversions_stand_as_they_are() -> None:
    assert printed("%y %d", struct.pack("<i", 3)) == b"%y 3"


def test_huge_widths_are_cut() -> None:
    assert len(printed("%2000000000d", struct.pack("<i", 3))) == 1 << 16
