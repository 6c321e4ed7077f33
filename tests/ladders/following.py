"""Runs a plan of launches on arrays that no case of a ladder has: other shapes and types, odd addresses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpglass as wg
from warpglass.ladders.plan import Plan

Array = np.ndarray[Any, np.dtype[Any]]


def follow(plan: Plan, times: int = 1, device: str = "cpu", **arrays: Any) -> None:
    """Make the launches of a plan on these arrays, so many times on the same scratch memory.

    What is `zeroed` must be zeros again afterwards. The arrays of a GPU are CuPy's.
    """
    scratch: dict[str, Any] = {one.name: np.zeros(one.size, one.dtype) for one in plan.scratch}
    if device == "gpu":
        cupy = pytest.importorskip("cupy")
        scratch = {name: cupy.asarray(array) for name, array in scratch.items()}
    for step in plan.steps * times:
        kernel = wg.load(step.file, step.kernel)
        args = [(scratch | arrays)[one] if isinstance(one, str) else one for one in step.arguments]
        wg.run(kernel, step.grid, step.block, args, shared=step.shared, device=device)
    assert not any(bool(scratch[one.name].any()) for one in plan.scratch if one.zeroed)


def apart(array: Array, elements: int) -> Array:
    """A copy that begins so many elements behind a boundary of 64 bytes."""
    room = np.zeros(array.size + elements + 64, array.dtype)
    first = -room.ctypes.data % 64 // array.itemsize + elements
    copy = room[first : first + array.size].reshape(array.shape)
    copy[...] = array
    return copy
