"""Which arrays a C++ parameter of a declared type takes, and how values become what it is passed by value.

Belongs here: the rules. The elements of an array must be of the kind and width that the pointer points to:
floating, integer or bool. Integers of either sign are the same, as they are to a kernel that only moves them.
Vector types and complex numbers go by their scalars: a `float4 *` takes float32 in any shape, complex64, or
records of float32; so does a `float *` take records of float32, but no complex64. Pointers to bytes
(char, unsigned char), to void and to structures take anything, but no records of another size than the
structure's; pointers to pointers take addresses, which are integers of 64 bits. bfloat16 is ml_dtypes' or the
bits in an integer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...source.compiled import CType
from .arrays import ArrayView, Misfit
from .values import Parameter, Value, between, converter, describe, structure

# dtype.char by kind and bytes: what an element may be.
_CHARS = {
    ("f", 2): "e",
    ("f", 4): "f",
    ("f", 8): "d",
    ("b", 1): "?bB",
    ("bfloat", 2): "hH",
    **{
        (kind, size): "".join(code for code in "bBhHiIlLqQ" if np.dtype(code).itemsize == size)
        for kind in "iu"
        for size in (2, 4, 8)
    },
    ("pointer", 8): "".join(code for code in "lLqQ" if np.dtype(code).itemsize == 8),
}
_DATES = "mM"  # 64-bit integers to a kernel
_PAIRS = {"f": "F", "d": "D"}


def element_kinds(declared: CType | None) -> frozenset[str] | None:
    """The `dtype.char` that scalars of a type may have in NumPy; None for any."""
    scalars = None if declared is None else _CHARS.get((declared.kind, declared.size))
    if declared is None or scalars is None:
        return None
    return frozenset(scalars + "".join(_PAIRS.get(one, "") for one in scalars if declared.count > 1))


def taken(declared: CType | None, plain: frozenset[str]) -> frozenset[str]:
    """The `dtype.char` of arrays that a parameter takes, of those that are `plain`."""
    if declared is None or not declared.pointer:
        return plain
    kinds = element_kinds(declared)
    if kinds is None:
        return plain
    return kinds.union(_DATES) if declared.kind in "iu" and declared.size == 8 else kinds


def check_elements(declared: CType, plain: frozenset[str], view: ArrayView, arg: object) -> None:
    """Raise Misfit if an array's elements, which are not simply `plain`, are not what a pointer points to."""
    dtype = view.dtype
    if (declared.kind, declared.size) not in _CHARS:
        if not declared.kind and declared.size and dtype is not None and dtype.names:
            _check_records(declared, dtype, arg)
        return
    if dtype is None:  # NumPy has no such type
        fits = view.itemsize == declared.size
    elif declared.kind == "bfloat" and dtype.name == "bfloat16":
        fits = True
    else:
        fits = dtype.names is not None and all(one.isnative and one.char in plain for one in _scalars(dtype))
    if not fits:
        raise Misfit(f"got {describe(arg)}; {_way_out(declared)}")


def _check_records(declared: CType, dtype: np.dtype[Any], arg: object) -> None:
    if dtype.itemsize != declared.size:
        raise Misfit(
            f"got {describe(arg)}, whose records have {dtype.itemsize} bytes; those of a `{declared.text}` "
            f"have {declared.size}: np.dtype(..., align=True) leaves the gaps that C++ leaves"
        )


def declared_converter(parameter: Parameter, declared: CType) -> Callable[[object], Value]:
    """The function that converts what is passed by value for a parameter of this type, or raises Misfit."""
    if parameter.aggregate:
        return _aggregate_converter(parameter.size, declared)
    dtype = declared.dtype
    if declared.count > 1 or dtype is None or dtype.kind == "f" or dtype.itemsize != parameter.size:
        return converter(parameter, None)
    low, high = (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
    if declared.text == "char":  # its sign is the platform's choice
        high = 255
    word = f"{_article(declared.text)} `{declared.text}`"
    return between(low, high, word)


def _aggregate_converter(size: int, declared: CType) -> Callable[[object], Value]:
    """Vector types, complex numbers, half and bfloat16 are also made from numbers; structures are bytes."""
    scalar, count = declared.dtype, declared.count
    if declared.kind == "bfloat":
        scalar = np.dtype(np.float32)
    if scalar is None or declared.size * count > size:
        return lambda value: structure(value, size)
    what = f"{_article(declared.text)} `{declared.text}`" + (f" of {count} numbers" if count > 1 else "")

    def convert(value: object) -> Value:
        parts = _parts(value, count)
        if parts is None:
            return structure(value, size, what)
        try:
            numbers = np.array(parts).astype(scalar, casting="same_kind")
        except (TypeError, ValueError, OverflowError):
            raise Misfit(f"got {describe(value)}; needs {what}") from None
        data = _rounded(numbers).tobytes() if declared.kind == "bfloat" else numbers.tobytes()
        return data.ljust(size, b"\0")

    return convert


def _parts(value: object, count: int) -> list[Any] | None:
    """The numbers that make up a value of `count` scalars; None if it is not made of numbers."""
    if count == 1:
        return [value] if isinstance(value, float | int | np.floating | np.integer) else None
    if count == 2 and isinstance(value, complex) and not isinstance(value, np.generic):
        return [value.real, value.imag]
    plain = isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)
    return list(value) if plain and len(value) == count else None  # type: ignore[arg-type]


def _rounded(numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The bits of bfloat16 numbers: those of float32, rounded to even."""
    bits = numbers.view(np.uint32)
    kept = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return np.where(np.isnan(numbers), 0x7FC0, kept).astype(np.uint16)


def _article(text: str) -> str:
    return "an" if text[:1] in "aeiou" else "a"


def _scalars(dtype: np.dtype[Any]) -> Iterator[np.dtype[Any]]:
    """The types of the scalars that a record is made of."""
    if dtype.subdtype is not None:
        yield from _scalars(dtype.subdtype[0])
    elif dtype.fields is not None:
        for field in dtype.fields.values():
            yield from _scalars(field[0])
    else:
        yield dtype


def _way_out(declared: CType) -> str:
    """What a pointer needs, and how an author hands over other bytes knowingly."""
    if declared.kind == "pointer":
        return f"{_article(declared.text)} `{declared.text}` points to addresses, of uint64"
    name = "uint16" if declared.dtype is None else declared.dtype.name
    kind = "np." + name + ("_" if name == "bool" else "")
    what = "bfloat16 (ml_dtypes, or np.uint16 for its bits)" if declared.kind == "bfloat" else name
    pointer = f"{_article(declared.text)} `{declared.text}`"
    return (
        f"{pointer} points to {what}: make the array with dtype={kind}, or pass x.view({kind}) if its bytes "
        "are meant"
    )
