"""Arrays of any library that offers `__cuda_array_interface__` or DLPack.

They name the stream on which their memory is ready, if they name one, and that is where work goes; else the
default stream, as both protocols have it. New arrays are ours (ops/gpu.py), which offer
`__cuda_array_interface__` in turn.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from ...engine.launch.arrays import ArrayView, Misfit, view_of
from ...errors import ArgumentError
from ..gpu import gpu
from ..task import Operand
from .strides import strides_unless_packed


class Others:
    """All libraries without a file of their own."""

    name = "a library with device arrays"

    def on_gpu(self, array: Any) -> bool:
        """Whether it offers device memory; DLPack's exporters may lie on the host."""
        if hasattr(array, "__cuda_array_interface__"):
            return True
        return int(array.__dlpack_device__()[0]) == 2  # kDLCUDA

    def looks(self, array: Any) -> Hashable:
        """Type, shape, strides, device."""
        view = self._view(array)
        return type(array), view.dtype, view.shape, view.strides, self.device(array)

    def device(self, array: Any) -> int:
        """The device that the driver says the memory lies on; where there is none, what the array says."""
        view = self._view(array)
        return view.device or 0

    def operand(self, name: str, array: Any) -> Operand:
        """An array as an operation sees it."""
        view = self._view(array)
        if view.dtype is None:
            raise ArgumentError(f"{name} has elements of a type that NumPy does not have")
        strides = strides_unless_packed(view.shape, view.strides, view.itemsize)
        return Operand(name, view.shape, view.dtype, strides)

    def address(self, array: Any) -> int:
        """The device address of the first element."""
        return self._view(array).address

    def readonly(self, array: Any) -> bool:
        """What the array says."""
        return self._view(array).readonly

    def stream(self, device: int, array: Any) -> int:
        """The stream that the array names; 1 and 2 are the default streams, as for the driver."""
        interface = getattr(array, "__cuda_array_interface__", None) or {}
        return int(interface.get("stream") or 0)

    def new(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Any:
        """An array of ours."""
        return gpu(device).new(shape, dtype)

    def _view(self, array: Any) -> ArrayView:
        try:
            view = view_of(array)
        except Misfit as problem:
            raise ArgumentError(f"an operand cannot be used: {problem}") from None
        assert view is not None, "on_gpu has seen an array"
        return view


OTHERS = Others()
