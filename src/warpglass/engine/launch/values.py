"""How one scalar or structure that is passed by value becomes the value of a PTX parameter.

Belongs here: Parameter, the rules by which Python and NumPy values convert, and their refusals (Misfit).
Arrays are arrays.py; which argument meets which parameter is arguments.py.

PTX does not say whether a C++ integer is signed (NVRTC writes `.u32` for int), so an n-bit parameter
takes every integer from -2**(n-1) to 2**n - 1 unless the front end knows the type. Integers convert to
floating parameters and float64 to f32 as in C++; what C++ would do silently and wrongly (a float for an
integer, a number out of range, a bool for a float) is refused.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Misfit

Value = int | float | bytes


@dataclass(frozen=True, slots=True)
class Parameter:
    """One PTX parameter: its type without the dot, and its place in the parameter block in bytes.

    A structure passed by value is `b8` with a size above 1. `pointer` is True where the PTX says `.ptr`.
    """

    name: str
    type: str
    size: int
    align: int
    offset: int
    pointer: bool = False
    aggregate: bool = False


_FLOAT32_LIMIT = 3.4028235677973366e38  # the first double that rounds to infinity
_FLOAT16_LIMIT = 65520.0
_LIMITS = {"f64": math.inf, "f32": _FLOAT32_LIMIT, "f16": _FLOAT16_LIMIT}
_INTEGERS = (int, np.integer)
_FLOATS = (float, np.floating)
_BOOLS = (bool, np.bool_)
_BUFFERS = (bytes, bytearray, memoryview, ctypes.Structure, ctypes.Union, ctypes.Array)
# What C++ and Python authors call a parameter of that PTX type.
_WORDS = {"f64": "a double (f64)", "f32": "a float (f32)", "f16": "a half (f16)"}


def describe(value: object) -> str:
    """A short description of an argument for an error message: what it is, not all that it holds."""
    if value is None:
        return "None"
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if isinstance(value, np.generic):
        return f"the NumPy {dtype} {value!s:.40}"
    if isinstance(shape, tuple):
        return f"an array of {dtype} and shape {shape}"
    if isinstance(value, bytes | bytearray | memoryview):
        return f"{len(value)} bytes"
    if isinstance(value, bool | int | float | complex | str):
        return f"the {type(value).__name__} {value!r:.40}"
    return f"a {type(value).__name__}"


def converter(parameter: Parameter, dtype: np.dtype[Any] | None) -> Callable[[object], Value]:
    """The function that converts a value for this parameter, or raises Misfit.

    `dtype` is the type that the front end knows, or None: then the PTX type alone decides.
    """
    if dtype is not None and dtype.kind not in "iufb":
        return _typed_bits(parameter, dtype)
    if parameter.aggregate:
        return lambda value: structure(value, parameter.size)
    if parameter.type in _LIMITS:
        return lambda value: _floating(value, parameter.type)
    if dtype is not None and dtype.kind == "f":  # a front end that passes floats by their bits
        return lambda value: _float_bits(value, dtype)
    bits = 8 * parameter.size
    if dtype is not None and dtype.kind == "b":
        return between(0, 1, "a bool (0 or 1)")
    if dtype is not None:
        info = np.iinfo(dtype)
        return between(int(info.min), int(info.max), f"an integer ({dtype})")
    low, high, word = -(1 << (bits - 1)), (1 << bits) - 1, f"an integer of {bits} bits ({parameter.type})"
    if parameter.type in ("b16", "u16"):
        return lambda value: _half_or_integer(value, low, high, word)
    return between(low, high, word)


def between(low: int, high: int, word: str) -> Callable[[object], int]:
    """The function that converts to an integer between two bounds, as `integer` does."""

    def convert(value: object) -> int:
        if type(value) is int and low <= value <= high:
            return value
        return integer(value, low, high, word)

    return convert


def integer(value: object, low: int, high: int, word: str) -> int:
    """An integer between two bounds, or Misfit; `word` says what is needed."""
    if type(value) is int and low <= value <= high:
        return value
    if isinstance(value, (*_INTEGERS, np.bool_)):
        number = int(value)
        if low <= number <= high:
            return number
        raise Misfit(f"got {describe(value)}, which does not fit {word}: it holds {low} to {high}")
    if isinstance(value, _FLOATS):
        raise Misfit(f"got {describe(value)} for {word}; pass int(x) if cutting off the fraction is meant")
    raise Misfit(f"got {describe(value)}; needs {word}{_scalar_hint(value)}")


def _half_or_integer(value: object, low: int, high: int, word: str) -> int:
    if isinstance(value, np.generic) and value.dtype == np.float16:
        return int(value.view(np.uint16))
    return integer(value, low, high, word)


def _floating(value: object, kind: str) -> float:
    if isinstance(value, (*_FLOATS, *_INTEGERS)) and not isinstance(value, bool):
        limit = _LIMITS[kind]
        try:
            number = float(value)
        except OverflowError:
            raise Misfit(
                f"got an int of {int(value).bit_length()} bits, too large for {_WORDS[kind]}"
            ) from None
        if -limit < number < limit or math.isinf(number) or math.isnan(number):
            return number
        raise Misfit(f"got {describe(value)}, which would become infinite in {_WORDS[kind]}")
    if isinstance(value, _BOOLS):
        raise Misfit(f"got {describe(value)} for {_WORDS[kind]}; pass float(x) if that is meant")
    raise Misfit(f"got {describe(value)}; needs {_WORDS[kind]}{_scalar_hint(value)}")


def _float_bits(value: object, dtype: np.dtype[Any]) -> int:
    number = _floating(value, f"f{8 * dtype.itemsize}")
    return int(np.array(number, dtype).view(f"u{dtype.itemsize}"))


def _typed_bits(parameter: Parameter, dtype: np.dtype[Any]) -> Callable[[object], Value]:
    """Complex numbers, dates and records of a known dtype: NumPy converts, the bits are passed."""

    def convert(value: object) -> Value:
        if isinstance(value, np.ndarray) and value.ndim:
            raise Misfit(f"got {describe(value)}; needs a single {dtype}{_scalar_hint(value)}")
        try:
            data = np.asarray(value).astype(dtype, casting="same_kind").tobytes()
        except (TypeError, ValueError):
            raise Misfit(f"got {describe(value)}; needs a {dtype}") from None
        if len(data) != parameter.size:
            raise Misfit(f"needs {parameter.size} bytes in PTX, but {dtype} has {len(data)}")
        return data if parameter.aggregate else int.from_bytes(data, "little")

    return convert


def structure(value: object, size: int, what: str = "") -> bytes:
    """The bytes of a structure of this size, or Misfit; `what` names it where it has a better name."""
    data: bytes | None = None
    if isinstance(value, _BUFFERS):
        data = bytes(value)
    elif isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        if value.dtype.hasobject:
            raise Misfit(f"got {describe(value)}, which holds Python objects")
        data = value.tobytes()
    if data is None:
        if what:
            raise Misfit(f"got {describe(value)}; needs {what}")
        raise Misfit(
            f"got {describe(value)}; needs a structure of {size} bytes: bytes, a ctypes.Structure or a NumPy "
            f"record (np.void, e.g. x[0] of a structured array, or np.complex64 for float2)"
        )
    if len(data) != size:
        raise Misfit(f"got {describe(value)} of {len(data)} bytes; the structure has {size} bytes")
    return data


def _scalar_hint(value: object) -> str:
    """What to do with an array that stands where a number belongs."""
    shape = getattr(value, "shape", None)
    if shape == ():
        return "; pass x.item()"
    return ", not an array" if isinstance(shape, tuple) and not isinstance(value, np.generic) else ""
