"""A stand-in for cuda.bindings.driver: host memory for device memory, Python functions for kernels.

It has the semantics that the GPU back end relies on: status tuples, errors that appear at the next wait
and stay until the context is reset, refused PTX versions, and one pointer per parameter, the first
of which is the start of a block.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

import cuda.bindings.driver as real

Kernel = Callable[["FakeDriver", bytes], int]  # returns the status that the launch ends with


_BLOCK = struct.calcsize("<QQI")  # of the parameters of every kernel that stands in


class FakeDriver:
    """Functions by their driver names; everything else (enumerations, structs) is the real module's."""

    def __init__(self, kernels: dict[str, Kernel], version: int = 13000):
        self.kernels = kernels
        self.version = version
        self.log: list[str] = []
        self.loaded: list[bytes] = []
        self.memory: dict[int, Any] = {}
        self.pending = 0  # what the next wait reports; stays
        self.attributes = {
            "COMPUTE_CAPABILITY_MAJOR": 9,
            "COMPUTE_CAPABILITY_MINOR": 0,
            "L2_CACHE_SIZE": 4096,
            "MULTIPROCESSOR_COUNT": 132,
        }

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("cu"):
            return getattr(real, name)

        def succeed(*_: Any) -> tuple[int, Any]:
            self.log.append(name)
            return 0, name

        return succeed

    def cuDriverGetVersion(self) -> tuple[int, int]:
        return 0, self.version

    def cuDeviceGetCount(self) -> tuple[int, int]:
        return 0, 2

    def cuStreamCreate(self, flags: Any) -> tuple[int, Any]:
        return 0, real.CUstream(0x5700)

    def cuDeviceGetName(self, length: int, device: Any) -> tuple[int, bytes]:
        return 0, b"Fake H100".ljust(length, b"\0")

    def cuDeviceGetAttribute(self, which: Any, device: Any) -> tuple[int, int]:
        return 0, self.attributes[which.name.removeprefix("CU_DEVICE_ATTRIBUTE_")]

    def cuFuncGetAttribute(self, which: Any, function: Any) -> tuple[int, int]:
        return 0, 16

    def cuModuleLoadDataEx(self, image: bytes, count: int, options: Any, values: Any) -> tuple[int, Any]:
        self.loaded.append(image)
        if f".version {self.version // 1000 - 4}.{self.version % 1000 // 10}".encode() not in image:
            values[0][:4] = b"old!"
            return 222, None
        return 0, "module"

    def cuModuleGetFunction(self, module: Any, name: bytes) -> tuple[int, str]:
        return 0, name.decode()

    # ---------------------------------------------------------------------------------- memory
    def cuMemGetInfo(self) -> tuple[int, int, int]:
        return 0, 3 * 10**9, 80 * 10**9

    def cuMemAlloc(self, size: int) -> tuple[int, int]:
        if size > 2**40:
            return 2, 0
        raw = ctypes.create_string_buffer(size + 512)
        address = -(-ctypes.addressof(raw) // 512) * 512
        self.memory[address] = raw
        return 0, address

    def cuMemFree(self, address: int) -> tuple[int]:
        return (self.pending if self.memory.pop(address, None) else 1,)

    def cuMemcpyHtoD(self, target: int, source: int, size: int) -> tuple[int]:
        self.log.append(f"HtoD {size}")
        ctypes.memmove(target, source, size)
        return (self.pending,)

    cuMemcpyDtoD = cuMemcpyHtoD

    def cuMemcpyDtoH(self, target: int, source: int, size: int) -> tuple[int]:
        self.log.append(f"DtoH {size}")
        ctypes.memmove(target, source, size)
        return (self.pending,)

    # ---------------------------------------------------------------------------------- launches
    def cuLaunchKernel(self, function: str, *args: Any) -> tuple[int]:
        places, extra = args[-2:]
        assert extra == 0
        first = (ctypes.c_void_p * 1).from_address(places)[0]
        assert first is not None
        self.pending = self.kernels[function](self, ctypes.string_at(first, _BLOCK))
        return (0,)

    def cuLaunchKernelEx(self, config: Any, function: str, params: int, extra: int) -> tuple[int]:
        assert config.attrs[0].value.cooperative == 1
        return self.cuLaunchKernel(function, params, extra)

    def cuEventQuery(self, event: Any) -> tuple[int]:
        return (self.pending,)

    cuCtxSynchronize = cuStreamSynchronize = cuStreamQuery = lambda self, *_: (self.pending,)

    def cuEventElapsedTime(self, start: Any, end: Any) -> tuple[int, float]:
        return 0, 2.5

    def cuDevicePrimaryCtxReset(self, device: Any) -> tuple[int]:
        status, self.pending = self.pending, 0
        self.memory.clear()
        return (status,)
