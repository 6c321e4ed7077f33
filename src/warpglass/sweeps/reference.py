"""What a launch should have left in its arrays: what a Python function says, and comparing with it."""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import ArgumentError
from ..records.marks import unmark


def call_reference(reference: str, args: Sequence[Any]) -> list[Any]:
    """What FILE.py:FUNCTION makes of copies of a launch's arguments: an array for each of theirs, or None.

    A function that returns one array means the last that the kernel can write. Raises ArgumentError for what
    the function raises, and for another number of arrays.
    """
    path, _, name = reference.rpartition(":")
    before = [np.copy(value) if isinstance(value, np.ndarray) else value for value in unmark(args)]
    try:
        made = runpy.run_path(path)[name](*before)
    except Exception as problem:  # it is the user's code: whatever it raises is its error
        raise ArgumentError(f"{reference}: {type(problem).__name__}: {problem}") from None
    wanted: list[Any] = list(made) if isinstance(made, (tuple, list)) else [made]  # pyright: ignore[reportUnknownArgumentType]
    count = sum(isinstance(value, np.ndarray) for value in before)
    if len(wanted) == 1:
        wanted = [*([None] * (count - 1)), wanted[0]]
    if len(wanted) != count:
        raise ArgumentError(f"{reference} returned {len(wanted)} arrays; the launch has {count}")
    return wanted


def difference(array: np.ndarray[Any, Any], right: Any, tolerance: float, name: str) -> str:
    """How an array differs from the right one, in words that begin with its name; empty if it does not.

    `tolerance` is the largest relative difference of floating-point values, 0 for that of their type.
    """
    right = np.asarray(right)
    if right.shape != array.shape:
        return f"{name} has shape {array.shape}, expected {right.shape}"
    exact = array.dtype.kind not in "fc"
    share = 0.0 if exact else tolerance or 32 * float(np.finfo(array.dtype).eps)
    scale = share * max(1.0, float(np.max(np.abs(right), initial=0.0))) if not exact else 0.0
    good = np.isclose(array, right, rtol=share, atol=scale, equal_nan=True)
    if good.all():
        return ""
    index = tuple(map(int, np.argwhere(~good)[0]))
    place = ", ".join(map(str, index))
    return f"{name}: [{place}] is {array[index]}, expected {right[index]}"
