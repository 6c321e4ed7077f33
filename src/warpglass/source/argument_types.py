"""The types of Python arguments, told without importing a compiler.

Belongs here: the type of one argument and how to read it off a value. It agrees with numba's `typeof` where a
kernel can tell the difference, with one exception: read-only arrays are typed as writable, so that a write is
found where it happens and no second kernel is compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentError


@dataclass(frozen=True, slots=True)
class ArgumentType:
    """An array (`layout` "C", "F" or "A" for any strides) or a scalar (`layout` "")."""

    dtype: np.dtype[Any]
    ndim: int = 0
    layout: str = ""

    @property
    def is_array(self) -> bool:
        return self.layout != ""

    def key(self) -> str:
        """A text that tells this type from all others, the same on every machine."""
        described = (
            self.dtype.str if self.dtype.names is None else repr((self.dtype.descr, self.dtype.itemsize))
        )
        return f"{described}/{self.ndim}{self.layout}"

    def __str__(self) -> str:
        return f"{self.dtype}[{self.ndim}d, {self.layout}]" if self.is_array else str(self.dtype)


def type_of(value: object, label: str = "argument") -> ArgumentType:
    """Return the type of one argument; `label` names it in the ArgumentError for what no kernel takes."""
    if isinstance(value, np.ndarray):
        _refuse_dtype(value.dtype, label)
        return ArgumentType(value.dtype, value.ndim, _layout_of(value))
    if isinstance(value, np.generic):
        _refuse_dtype(value.dtype, label)
        return ArgumentType(value.dtype)
    if isinstance(value, bool):
        return ArgumentType(np.dtype(np.bool_))
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise ArgumentError(f"{label}: {value} does not fit into 64 bits")
        return ArgumentType(np.dtype(np.int64 if value < 2**63 else np.uint64))
    if isinstance(value, float):
        return ArgumentType(np.dtype(np.float64))
    if isinstance(value, complex):
        return ArgumentType(np.dtype(np.complex128))
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
        "__cuda_array_interface__, NumPy scalars and Python numbers"
    )


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
    if dtype.names is None and (dtype.kind not in "biufc" or dtype.itemsize > 16 or dtype == np.longdouble):
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
