"""How a function of the CUDA runtime API is written here: as one of the driver's (numba_device/calls.py).

Its first parameter is the Runtime. What programs pass by value is a structure below.
"""

from __future__ import annotations

import ctypes
import inspect
from copy import copy
from typing import Any

from ..numba_device.calls import CALLS as DRIVER
from ..numba_device.calls import Calls, Function, by_value
from .runtime import Runtime

CALLS = Calls()
call, call_anywhere, also = CALLS.call, CALLS.call_anywhere, CALLS.also
still, moves = CALLS.still, CALLS.moves
# Functions that have another form in a release, by its name: those of CUDA 12 that 13 has changed.
OF_RELEASE_12 = Calls()


@by_value
class Dim3(ctypes.Structure):
    """dim3."""

    _fields_ = [(axis, ctypes.c_uint32) for axis in "xyz"]

    @property
    def extents(self) -> tuple[int, int, int]:
        """The three extents."""
        return self.x, self.y, self.z


@by_value
class Position(ctypes.Structure):
    """cudaPos: bytes or elements in a row, rows, slices."""

    _fields_ = [(axis, ctypes.c_size_t) for axis in "xyz"]


@by_value
class Extent(ctypes.Structure):
    """cudaExtent: bytes or elements of a row, rows, slices."""

    _fields_ = [(name, ctypes.c_size_t) for name in ("width", "height", "depth")]


@by_value
class PitchedPointer(ctypes.Structure):
    """cudaPitchedPtr: rows of `pitch` bytes, of which `width` are used; `height` rows make a slice."""

    _fields_ = [
        ("address", ctypes.c_uint64),
        ("pitch", ctypes.c_size_t),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    ]


@by_value
class Location(ctypes.Structure):
    """cudaMemLocation."""

    _fields_ = [("kind", ctypes.c_int32), ("number", ctypes.c_int32)]


def same_as_driver(*names: str) -> None:
    """Register functions that are the driver's but for their names, which begin with "cu" there.

    `cudaEventRecord=cuEventRecordWithFlags` names both where more differs.
    """
    for pair in names:
        name, _, other = pair.partition("=")
        below = DRIVER[other or f"cu{name.removeprefix('cuda')}"]
        CALLS[name] = one = copy(below)
        one.name, one.function = name, _on_device(below.function)


def _on_device(function: Function) -> Function:
    def called(runtime: Runtime, *arguments: Any) -> Any:
        return function(runtime.device, *arguments)

    called.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    return called


def release_12(function: Function) -> Function:
    """Say of a function, registered under a name that ends in _12, that it is CUDA 12's form of another."""
    OF_RELEASE_12[function.__name__.removesuffix("_12")] = CALLS.pop(function.__name__)
    return function
