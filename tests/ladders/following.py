"""Runs a plan of launches on arrays that no case of a ladder has: of other shapes, at odd addresses."""

from __future__ import annotations

from typing import Any

import numpy as np

import warpglass as wg
from warpglass.ladders.plan import Plan

Array = np.ndarray[Any, np.dtype[Any]]


def follow(plan: Plan, **arrays: Array) -> None:
    """Make the launches of a plan without scratch memory on these arrays."""
    assert not plan.scratch
    for step in plan.steps:
        kernel = wg.load(step.file, step.kernel)
        args = [arrays[one] if isinstance(one, str) else one for one in step.arguments]
        wg.run(kernel, step.grid, step.block, args, shared=step.shared)


def apart(array: Array, elements: int) -> Array:
    """A copy that begins so many elements behind a boundary of 64 bytes."""
    room = np.zeros(array.size + elements + 64, array.dtype)
    first = -room.ctypes.data % 64 // array.itemsize + elements
    copy = room[first : first + array.size].reshape(array.shape)
    copy[...] = array
    return copy
