"""The types of Python arguments, told without importing a compiler.

Belongs here: the type of one argument and how to read it off a value. It agrees with numba's `typeof` where a
kernel can tell the difference, with one exception: read-only arrays are typed as writable, so that a write is
found where it happens and no second kernel is compiled. Both packages pass a tuple as its elements in turn,
an enum's member as its value, a date as 64 bits and a record by its address: `leaves` does to values what
`ArgumentType.leaves` does to types.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError


@dataclass(frozen=True, slots=True)
class ArgumentType:
    """An array (`layout` "C", "F" or "A" for any strides), a scalar (`layout` "") or a tuple of `items`.

    `python` is the class of a tuple or of an enum's member, which NumPy has no type for; `dtype` is then that
    of the member's value, and means nothing for a tuple.
    """

    dtype: np.dtype[Any]
    ndim: int = 0
    layout: str = ""
    items: tuple[ArgumentType, ...] = ()
    python: type | None = None

    @property
    def is_array(self) -> bool:
        return self.layout != ""

    @property
    def is_tuple(self) -> bool:
        return self.python is not None and issubclass(self.python, tuple)

    @property
    def is_record(self) -> bool:
        return self.dtype.names is not None and not self.is_array

    def leaves(self, name: str) -> Iterator[tuple[str, ArgumentType]]:
        """Yield what an argument of this type is passed as, each part with its name: `pair[1]`, `point.x`."""
        if not self.is_tuple:
            yield name, self
            return
        fields: tuple[str, ...] = getattr(self.python, "_fields", ())
        for index, item in enumerate(self.items):
            yield from item.leaves(f"{name}.{fields[index]}" if fields else f"{name}[{index}]")

    def key(self) -> str | None:
        """A text that tells this type from all others, the same on every machine; None if there is none."""
        if self.python is not None or self.dtype.names is not None:
            return None
        return f"{self.dtype.str}/{self.ndim}{self.layout}"

    def __str__(self) -> str:
        if self.is_tuple:
            return f"({', '.join(map(str, self.items))})"
        if self.python is not None:
            return self.python.__name__
        return f"{self.dtype}[{self.ndim}d, {self.layout}]" if self.is_array else str(self.dtype)


def kinds_of_usual(args: Sequence[object]) -> Hashable:
    """What types of arrays and of Python's numbers follow from, soon told; None if there are others."""
    kinds: list[Hashable] = []
    for arg in args:
        kind = type(arg)
        if kind is np.ndarray:
            flags = arg.flags  # type: ignore[attr-defined]
            kinds.append((arg.dtype, arg.ndim, flags.c_contiguous, flags.f_contiguous))  # type: ignore[attr-defined]
        elif kind is float or kind is bool or (kind is int and -(2**63) <= arg < 2**63):  # type: ignore[operator]
            kinds.append(kind)
        else:
            return None
    return tuple(kinds)


def leaves(args: Sequence[object]) -> Iterator[object]:
    """Yield arguments as they are passed: tuples taken apart, members of enums, dates and records as data."""
    for arg in args:
        if isinstance(arg, tuple):
            yield from leaves(arg)
        elif isinstance(arg, enum.Enum):
            yield arg.value
        elif isinstance(arg, np.datetime64 | np.timedelta64):
            yield arg.view(np.int64)
        else:
            yield np.asarray(arg) if isinstance(arg, np.void) else arg


def passed_dtype(leaf: ArgumentType) -> np.dtype[Any]:
    """Return the type that an array's elements or a scalar have as a parameter: scalar dates are numbers."""
    return np.dtype(np.int64) if leaf.dtype.kind in "mM" and not leaf.is_array else leaf.dtype


def type_of(value: object, label: str = "argument") -> ArgumentType:
    """Return the type of one argument; `label` names it in the ArgumentError for what no kernel takes."""
    if isinstance(value, np.ndarray):
        _refuse_dtype(value.dtype, label)
        return ArgumentType(value.dtype, value.ndim, _layout_of(value))
    if isinstance(value, np.generic):
        _refuse_dtype(value.dtype, label)
        return ArgumentType(value.dtype)
    if isinstance(value, tuple):
        items = tuple(type_of(item, f"{label}, element {index}") for index, item in enumerate(value))
        return ArgumentType(np.dtype("V"), items=items, python=type(value))
    if isinstance(value, enum.Enum):
        if type(value.value) not in (int, float):
            raise ArgumentError(f"{label}: {value}, whose value is no number; kernels take enums of numbers")
        return ArgumentType(_number_dtype(value.value, label), python=type(value))
    if isinstance(value, bool | int | float | complex):
        return ArgumentType(_number_dtype(value, label))
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        dtype = _interface_dtype(interface)
        _refuse_dtype(dtype, label)
        shape, strides = tuple(interface["shape"]), interface.get("strides")
        return ArgumentType(dtype, len(shape), layout_of_strides(shape, strides, dtype.itemsize))
    if hasattr(value, "__dlpack__"):
        try:
            return type_of(np.from_dlpack(value), label)  # type: ignore[arg-type]
        except (BufferError, RuntimeError, TypeError) as error:
            raise ArgumentError(f"{label}: cannot be read through DLPack: {error}") from None
    raise ArgumentError(
        f"{label}: a {type(value).__name__}; kernels take NumPy arrays, arrays with DLPack or "
        "__cuda_array_interface__, NumPy scalars, Python numbers, and tuples of these"
    )


def _number_dtype(value: bool | int | float | complex, label: str) -> np.dtype[Any]:
    """Return the type that numba gives a Python number."""
    if isinstance(value, bool):
        return np.dtype(np.bool_)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise ArgumentError(f"{label}: {value} does not fit into 64 bits")
        return np.dtype(np.int64 if value < 2**63 else np.uint64)
    return np.dtype(np.float64 if isinstance(value, float) else np.complex128)


def layout_of_strides(shape: Sequence[int], strides: Sequence[int] | None, itemsize: int) -> str:
    """Return "C", "F" or "A" for an array with these strides in bytes (None: C-contiguous)."""
    if strides is None or 0 in shape:
        return "C"
    for order, dimensions in (("C", range(len(shape) - 1, -1, -1)), ("F", range(len(shape)))):
        expected = itemsize
        for dimension in dimensions:
            if shape[dimension] != 1 and strides[dimension] != expected:
                break
            expected *= shape[dimension]
        else:
            return order
    return "A"


def _layout_of(array: np.ndarray[Any, Any]) -> str:
    return "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else "A"


def _interface_dtype(interface: dict[str, Any]) -> np.dtype[Any]:
    descr = interface.get("descr")
    structured = interface["typestr"][1] == "V" and descr
    return np.dtype(descr if structured else interface["typestr"])


def _refuse_dtype(dtype: np.dtype[Any], label: str) -> None:
    if dtype.names is None and (dtype.kind not in "biufcmM" or dtype.itemsize > 16 or dtype == np.longdouble):
        raise ArgumentError(f"{label}: no kernel takes elements of type {dtype}")
    if not dtype.isnative:
        raise ArgumentError(f"{label}: its elements are not in this machine's byte order ({dtype.str})")


def choose_signature(
    types: tuple[ArgumentType, ...], signatures: Sequence[tuple[ArgumentType, ...]], name: str
) -> tuple[ArgumentType, ...]:
    """Return the explicit signature that numba would choose for arguments of these types.

    Arrays must match (a signature's "A" takes every layout); scalars convert, the closest fit first.
    """
    fits = [(cost, index) for index, s in enumerate(signatures) if (cost := _cost(types, s)) is not None]
    if fits:
        return signatures[min(fits)[1]]
    wanted = "; ".join(f"({', '.join(map(str, signature))})" for signature in signatures)
    raise ArgumentError(
        f"{name}: no explicit signature takes ({', '.join(map(str, types))}); it has {wanted}"
    )


def _cost(types: tuple[ArgumentType, ...], signature: tuple[ArgumentType, ...]) -> tuple[int, ...] | None:
    """Return how many conversions of each rank are needed, the worst first; None if impossible."""
    if len(types) != len(signature):
        return None
    ranks = [0, 0, 0]  # unsafe, same kind, safe
    for given, wanted in zip(types, signature, strict=True):
        if given == wanted:
            continue
        if given.python is not None or wanted.python is not None:
            return None
        if given.is_array or wanted.is_array:
            loose = given.is_array and wanted.layout in ("A", given.layout)
            flat = given.ndim <= 1 and given.layout in ("C", "F") and wanted.layout in ("C", "F")
            if not ((loose or flat) and given.dtype == wanted.dtype and given.ndim == wanted.ndim):
                return None
            continue
        if given.dtype.kind == "c" and wanted.dtype.kind != "c":
            return None
        safe = np.can_cast(given.dtype, wanted.dtype, "safe")
        ranks[2 if safe else 1 if np.can_cast(given.dtype, wanted.dtype, "same_kind") else 0] += 1
    return tuple(ranks)
