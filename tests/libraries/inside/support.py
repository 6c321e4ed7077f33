"""Calling a virtual library from C's side: arrays on the device, and functions by name."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from warpglass import libraries
from warpglass.numba_device import activate
from warpglass.numba_device.device import Context, VirtualDevice

Array = np.ndarray[Any, Any]
KINDS = {"S": "f4", "D": "f8", "C": "c8", "Z": "c16"}


def device() -> VirtualDevice:
    return activate()


class OnDevice:
    """An array in memory of the device, stored by columns; `now` is what it holds."""

    def __init__(self, content: Any):
        self.start = np.asfortranarray(content)
        self.block = device().memory.allocate(max(1, self.start.nbytes))
        ctypes.memmove(self.block.host, self.start.ctypes.data, self.start.nbytes)

    @property
    def now(self) -> Array:
        raw = (ctypes.c_uint8 * self.start.nbytes).from_address(self.block.host)
        return np.frombuffer(bytearray(raw), self.start.dtype).reshape(self.start.shape, order="F")

    def __int__(self) -> int:
        return self.block.base


def library(soname: str) -> Any:
    """A library as a program finds it: by its name."""
    device().initialized = True
    device().stack[:] = [device().add(Context())]
    libraries.activate(device(), [soname])
    return ctypes.CDLL(soname)


def call(function: Any, *arguments: Any) -> int:
    """Call a function; arrays stand for their addresses, NumPy scalars for addresses of the host."""
    kept, given = [], []
    for one in arguments:
        if isinstance(one, np.ndarray | np.generic):
            kept.append(np.ascontiguousarray(one))
            given.append(ctypes.c_void_p(kept[-1].ctypes.data))
        elif isinstance(one, OnDevice):
            given.append(ctypes.c_void_p(int(one)))
        elif isinstance(one, int) and not isinstance(one, bool):
            given.append(ctypes.c_int64(one))
        else:
            given.append(one)
    return int(function(*given))


def random(shape: tuple[int, ...], kind: Any, seed: int = 1) -> Array:
    rng = np.random.default_rng(seed)
    found = rng.standard_normal(shape)
    if np.dtype(kind).kind == "c":
        found = found + 1j * rng.standard_normal(shape)
    return found.astype(kind)


def close(found: Any, right: Any) -> None:
    tight = np.asarray(found).dtype.char in "dD"
    np.testing.assert_allclose(found, right, rtol=1e-9 if tight else 2e-4, atol=1e-9 if tight else 2e-4)
