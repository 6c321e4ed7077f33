"""Tensors of PyTorch: on its current stream, new ones from its caching allocator."""

from __future__ import annotations

import importlib
from collections.abc import Hashable
from typing import Any

import numpy as np

from ...errors import ArgumentError
from ..task import Operand
from .strides import strides_unless_packed

_TYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()


class PyTorch:
    """The library PyTorch."""

    name = "PyTorch"

    def __init__(self) -> None:
        torch = self._torch = importlib.import_module("torch")
        # Tensors know their device by number; the public way to its stream makes two objects a call.
        self._raw_stream: Any = getattr(torch._C, "_cuda_getCurrentRawStream", None)
        known = {name: getattr(torch, name) for name in _TYPES if hasattr(torch, name)}
        self._to_torch = {np.dtype(name): kind for name, kind in known.items()}
        self._to_numpy = {kind: np.dtype(name) for name, kind in known.items()}
        self._devices: dict[int, Any] = {}

    def on_gpu(self, array: Any) -> bool:
        """Whether it is a tensor on a CUDA device."""
        return bool(array.is_cuda)

    def looks(self, array: Any) -> Hashable:
        """Type, shape, strides, device, and whether gradients are wanted."""
        return (
            array.dtype,
            array.shape,
            array.stride(),
            array.get_device(),
            array.requires_grad,
        )

    def device(self, array: Any) -> int:
        """The device's index."""
        return int(array.get_device())

    def operand(self, name: str, array: Any) -> Operand:
        """A tensor as an operation sees it; raises ArgumentError for one that none takes."""
        if array.layout != self._torch.strided:
            raise ArgumentError(f"{name} is a tensor of layout {array.layout}; pass {name}.to_dense()")
        if array.requires_grad:
            raise ArgumentError(f"{name} requires a gradient, which no operation has; pass {name}.detach()")
        dtype = self._to_numpy.get(array.dtype)
        if dtype is None:
            raise ArgumentError(f"{name} has the type {array.dtype}; operations take {', '.join(_TYPES)}")
        shape, itemsize = tuple(array.shape), dtype.itemsize
        strides = strides_unless_packed(shape, [step * itemsize for step in array.stride()], itemsize)
        return Operand(name, shape, dtype, strides)

    def address(self, array: Any) -> int:
        """The device address of the first element."""
        return array.data_ptr()

    def readonly(self, array: Any) -> bool:
        """PyTorch has no read-only tensors."""
        return False

    def stream(self, device: int, array: Any) -> int:
        """The calling thread's current stream on the device."""
        if self._raw_stream is not None:
            return self._raw_stream(device)
        return self._torch.cuda.current_stream(device).cuda_stream

    def new(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: int) -> Any:
        """A tensor from PyTorch's allocator."""
        place = self._devices.get(device)
        if place is None:
            place = self._devices[device] = self._torch.device("cuda", device)
        return self._torch.empty(shape, dtype=self._to_torch[dtype], device=place)


def library_for(kind: type[Any]) -> PyTorch:
    """PyTorch, which is imported where a tensor of it is."""
    return PyTorch()
