"""Arrays of CuPy: on its current stream, new ones from its memory pool."""

from __future__ import annotations

import importlib
from collections.abc import Hashable
from typing import Any

import numpy as np

from ..task import Operand
from .strides import strides_unless_packed


class CuPy:
    """The library CuPy."""

    name = "CuPy"

    def __init__(self) -> None:
        cupy = importlib.import_module("cupy")
        self._array: Any = cupy.ndarray
        self._current_stream: Any = cupy.cuda.get_current_stream
        self._current_device: Any = cupy.cuda.runtime.getDevice
        self._device: Any = cupy.cuda.Device

    def on_gpu(self, array: Any) -> bool:
        """Every CuPy array does."""
        return hasattr(array, "data")  # sparse matrices are none of ours

    def looks(self, array: Any) -> Hashable:
        """Type, shape, strides, device."""
        return array.dtype, array.shape, array.strides, array.data.device_id

    def device(self, array: Any) -> int:
        """The device of its memory."""
        return int(array.data.device_id)

    def operand(self, name: str, array: Any) -> Operand:
        """An array as an operation sees it."""
        strides = strides_unless_packed(array.shape, array.strides, array.dtype.itemsize)
        return Operand(name, array.shape, array.dtype, strides)

    def address(self, array: Any) -> int:
        """The device address of the first element."""
        return array.data.ptr

    def readonly(self, array: Any) -> bool:
        """CuPy has no read-only arrays."""
        return False

    def stream(self, device: int, array: Any) -> int:
        """The calling thread's current stream on the device."""
        if self._current_device() == device:
            return self._current_stream().ptr
        with self._device(device):
            return self._current_stream().ptr

    def new(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Any:
        """An array from CuPy's allocator."""
        if self._current_device() == device:
            return self._array(shape, dtype)
        with self._device(device):
            return self._array(shape, dtype)


def library_for(kind: type[Any]) -> CuPy:
    """CuPy, which is imported where an array of it is."""
    return CuPy()
