"""Memory of programs as arrays: vectors with increments, matrices stored by columns, scalars.

Views share the memory. What a library writes counts as written for the checker (numba_device/written.py).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..numba_device.device import VirtualDevice
from ..numba_device.memory_calls import either_place

Array = np.ndarray[Any, Any]
_NUMBER = 16  # bytes of the largest


class Memory:
    """The memory that a library's functions reach: of the device, or of the host where C may pass either."""

    def __init__(self, device: VirtualDevice):
        self._device = device
        self._copies: list[Any] = []  # of what captured work needs

    def flat(self, address: int, count: int, dtype: Any, *, written: bool = False) -> Array:
        """`count` elements at an address; raises Refusal where they leave their allocation."""
        dtype = np.dtype(dtype)
        size = count * dtype.itemsize
        if size <= 0:
            return np.zeros(0, dtype)
        place = either_place(self._device, address, size)
        if written:
            self._device.memory.define(address, size)
        content: Any = (ctypes.c_uint8 * size).from_address(place)
        return np.frombuffer(content, dtype)

    def vector(self, address: int, count: int, step: int, dtype: Any, *, written: bool = False) -> Array:
        """A vector as BLAS passes it: a negative step begins at the end, 0 repeats one element."""
        if count <= 0:
            return np.zeros(0, dtype)
        if step == 0:
            return np.broadcast_to(self.flat(address, 1, dtype, written=written), count)
        found = self.flat(address, (count - 1) * abs(step) + 1, dtype, written=written)
        return found[::step]

    def matrix(
        self, address: int, rows: int, columns: int, leading: int, dtype: Any, *, written: bool = False
    ) -> Array:
        """A matrix stored by columns, `leading` elements apart."""
        dtype = np.dtype(dtype)
        if rows <= 0 or columns <= 0:
            return np.zeros((max(rows, 0), max(columns, 0)), dtype)
        found = self.flat(address, (columns - 1) * leading + rows, dtype, written=written)
        return np.lib.stride_tricks.as_strided(
            found, (rows, columns), (dtype.itemsize, leading * dtype.itemsize), writeable=True
        )

    def strided(
        self,
        address: int,
        shape: tuple[int, ...],
        steps: tuple[int, ...],
        dtype: Any,
        *,
        written: bool = False,
    ) -> Array:
        """An array of any dimensions, with its steps in elements."""
        dtype = np.dtype(dtype)
        if 0 in shape:
            return np.zeros(shape, dtype)
        last = sum((extent - 1) * step for extent, step in zip(shape, steps, strict=True))
        found = self.flat(address, last + 1, dtype, written=written)
        return np.lib.stride_tricks.as_strided(
            found, shape, tuple(step * dtype.itemsize for step in steps), writeable=True
        )

    def pointers(self, address: int, count: int) -> list[int]:
        """An array of pointers."""
        return [int(one) for one in self.flat(address, count, "u8")]

    def kept(self, arguments: Sequence[Any], host: Sequence[bool]) -> tuple[Any, ...]:
        """Arguments of which those that point to a number of the host point to a copy of it."""
        found = list[Any]()
        for value, may_be in zip(arguments, host, strict=True):
            if may_be and value and self._device.memory.find(value) is None:
                self._copies.append(ctypes.create_string_buffer(ctypes.string_at(value, _NUMBER), _NUMBER))
                value = ctypes.addressof(self._copies[-1])
            found.append(value)
        return tuple(found)

    def scalar(self, address: int, dtype: Any) -> Any:
        """One element, of the host or of the device."""
        return self.flat(address, 1, dtype)[0]

    def put(self, address: int, value: Any, dtype: Any) -> None:
        """Write one element, on the host or on the device; nowhere if the pointer is null."""
        if address:
            self.flat(address, 1, dtype, written=True)[0] = value
