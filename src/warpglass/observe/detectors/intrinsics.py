"""Raw memory and function pointers: what native functions need and Python has no words for."""

from __future__ import annotations

import ctypes
from typing import Any

from ..natives import Intrinsic

_PLACE = "%at = inttoptr i64 %0 to ptr"
_HOST_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 3)


def _loader(name: str, integer: Any, extended: str = "zext i{bits} %found to i64") -> Intrinsic:
    """Loads an integer at an address, which need not be aligned, as a word."""
    bits = 8 * ctypes.sizeof(integer)
    word = extended.format(bits=bits)
    body = f"{_PLACE}\n%found = load i{bits}, ptr %at, align 1\n%word = {word}\nret i64 %word"
    return Intrinsic(name, 1, body, lambda at: integer.from_address(at).value)


def _storer(name: str, integer: Any, narrowed: str = "trunc i64 %1 to i{bits}") -> Intrinsic:
    """Puts the lowest bits of a word at an address, which need not be aligned."""
    bits = 8 * ctypes.sizeof(integer)
    narrow = narrowed.format(bits=bits)
    body = f"{_PLACE}\n%narrow = {narrow}\nstore i{bits} %narrow, ptr %at, align 1\nret void"

    def python(at: int, value: int) -> None:
        integer.from_address(at).value = value

    return Intrinsic(name, 2, body, python, results=0)


load = _loader("load", ctypes.c_int64, "add i64 %found, 0")
load_byte = _loader("load_byte", ctypes.c_uint8)
load_half = _loader("load_half", ctypes.c_int32, "sext i32 %found to i64")
store = _storer("store", ctypes.c_int64, "add i64 %1, 0")
store_byte, store_half = _storer("store_byte", ctypes.c_uint8), _storer("store_half", ctypes.c_int32)
# Calls a host function of three words that returns one.
ask = Intrinsic(
    "ask",
    4,
    """%function = inttoptr i64 %0 to ptr
%answer = call i64 %function(i64 %1, i64 %2, i64 %3)
ret i64 %answer""",
    lambda function, *words: _HOST_FUNCTION(function)(*words),
)
