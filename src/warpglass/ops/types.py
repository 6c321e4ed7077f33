"""Element types: what NumPy computes with, and what a caller may name.

Belongs here: NumPy's rules for the type of a result. What kernels there are is the operations' business.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..ladders.problem import C_NAMES
from .layout import C_TYPES

HALF, SINGLE = np.dtype(np.float16), np.dtype(np.float32)


def accumulator(dtype: np.dtype[Any], wanted: np.dtype[Any] | None) -> np.dtype[Any]:
    """The type of a sum of elements: integers narrower than 64 bits become as wide, as in NumPy."""
    if wanted is not None:
        return wanted
    if dtype.kind == "b" or (dtype.kind == "i" and dtype.itemsize < 8):
        return np.dtype(np.int64)
    return np.dtype(np.uint64) if dtype.kind == "u" else dtype


def computed_in(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of four or eight bytes in which kernels compute what is then cut off or rounded."""
    if dtype.kind == "f":
        return SINGLE if dtype == HALF else dtype
    return np.dtype(f"{dtype.kind}{max(4, dtype.itemsize)}")


def loaded_as(dtype: np.dtype[Any], adds: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which a kernel that converts loads elements: their own, where it knows that."""
    return dtype if dtype.name in C_NAMES and dtype != HALF else adds


def element_type(dtype: Any) -> np.dtype[Any] | None:
    """The NumPy type that a caller names, in NumPy's way or PyTorch's; None stays None."""
    if dtype is None:
        return None
    text = str(dtype)
    try:
        found = np.dtype(text.removeprefix("torch.") if text.startswith("torch.") else dtype)
    except TypeError:
        found = None
    if found is None or found.name not in C_TYPES or found.kind == "b":
        known = ", ".join(name for name in C_TYPES if name != "bool")
        raise ArgumentError(f"dtype {dtype!r}: a result has one of {known}")
    return found
