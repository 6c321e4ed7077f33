"""The few calls of the CUDA driver that measuring takes, by ctypes: a machine with a GPU needs NumPy only.

Belongs here: memory, modules, launches and events of one GPU. No kernel and no number of any model.
"""

from __future__ import annotations

import ctypes
import re
import statistics
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

_ATTRIBUTES = {"clock_khz": 13, "multiprocessors": 16, "memory_clock_khz": 36, "bus_bits": 37, "l2_bytes": 38}
_MAJOR, _MINOR = 75, 76
_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


# Reads all words of an array; none of them is ever 7.
_READER = """.version 6.0
.target sm_60
.address_size 64
.visible .entry read_all(.param .u64 words, .param .u32 count) {
  .reg .pred %p, %q;
  .reg .b32 %i, %n, %step, %t, %v;
  .reg .b64 %a, %x;
  ld.param.u64 %a, [words];
  cvta.to.global.u64 %a, %a;
  ld.param.u32 %n, [count];
  mov.u32 %t, %ctaid.x;
  mov.u32 %step, %ntid.x;
  mov.u32 %i, %tid.x;
  mad.lo.u32 %i, %t, %step, %i;
  mov.u32 %t, %nctaid.x;
  mul.lo.u32 %step, %step, %t;
again:
  setp.ge.u32 %p, %i, %n;
  @%p bra done;
  mul.wide.u32 %x, %i, 4;
  add.u64 %x, %a, %x;
  ld.global.u32 %v, [%x];
  setp.eq.u32 %q, %v, 7;
  @%q st.global.u32 [%x], %n;
  add.u32 %i, %i, %step;
  bra again;
done:
  ret;
}
"""


class Gpu:
    """The first GPU, in its primary context."""

    def __init__(self) -> None:
        self._cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self._device = device
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        name = ctypes.create_string_buffer(128)
        self.call("cuDeviceGetName", name, 128, device)
        self.name = name.value.decode()
        self.attributes = {key: self._attribute(number) for key, number in _ATTRIBUTES.items()}
        self.capability = self._attribute(_MAJOR), self._attribute(_MINOR)
        version = ctypes.c_int()
        self.call("cuDriverGetVersion", ctypes.byref(version))
        self.driver = version.value
        self._events = [self._event(), self._event()]
        self._scratch = self.allocate(4 * self.attributes["l2_bytes"])
        self._reader = self.function(self.module(_READER), "read_all")

    def call(self, name: str, *args: Any) -> None:
        """Call the driver; raises RuntimeError with its status."""
        function = getattr(self._cuda, name + "_v2" if name in _SECOND else name)
        status = function(*args)
        if status:
            text = ctypes.c_char_p()
            self._cuda.cuGetErrorName(status, ctypes.byref(text))
            raise RuntimeError(f"{name}: {text.value.decode() if text.value else status}")

    def _attribute(self, number: int) -> int:
        value = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(value), number, self._device)
        return value.value

    def _event(self) -> ctypes.c_void_p:
        event = ctypes.c_void_p()
        self.call("cuEventCreate", ctypes.byref(event), 0)
        return event

    # -------------------------------------------------------------------------------- memory
    def allocate(self, size: int) -> int:
        """Device memory of `size` bytes, set to zero."""
        address = ctypes.c_uint64()
        self.call("cuMemAlloc", ctypes.byref(address), ctypes.c_size_t(max(size, 4)))
        self.call("cuMemsetD8", address, 0, ctypes.c_size_t(max(size, 4)))
        return address.value

    def upload(self, array: np.ndarray) -> int:
        """A copy of an array in device memory."""
        packed = np.ascontiguousarray(array)
        address = self.allocate(packed.nbytes)
        self.write(address, packed)
        return address

    def write(self, address: int, array: np.ndarray) -> None:
        """Copy a contiguous array to the device."""
        pointer = array.ctypes.data_as(ctypes.c_void_p)
        self.call("cuMemcpyHtoD", ctypes.c_uint64(address), pointer, ctypes.c_size_t(array.nbytes))

    def read(self, address: int, array: np.ndarray) -> np.ndarray:
        """Fill an array from the device, and return it."""
        pointer = array.ctypes.data_as(ctypes.c_void_p)
        self.call("cuMemcpyDtoH", pointer, ctypes.c_uint64(address), ctypes.c_size_t(array.nbytes))
        return array

    def copy(self, target: int, source: int, size: int) -> None:
        """Copy within the device, asynchronously."""
        self.call(
            "cuMemcpyDtoDAsync",
            ctypes.c_uint64(target),
            ctypes.c_uint64(source),
            ctypes.c_size_t(size),
            None,
        )

    def free(self, address: int) -> None:
        """Give memory back."""
        self.call("cuMemFree", ctypes.c_uint64(address))

    def pinned(self, size: int) -> np.ndarray:
        """Page-locked host memory, as bytes; it is never freed."""
        pointer = ctypes.c_void_p()
        self.call("cuMemHostAlloc", ctypes.byref(pointer), ctypes.c_size_t(size), 0)
        return np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_uint8)), (size,))

    def flush(self) -> None:
        """Fill the caches with other data, which need not be written back."""
        words = self.attributes["l2_bytes"]  # of 4 bytes: four times the second level
        params, offsets = arguments(("Q", self._scratch), ("I", words))
        self.launch(self._reader, [4 * self.attributes["multiprocessors"]], [256], params, offsets)

    # -------------------------------------------------------------------------------- kernels
    def module(self, ptx: str) -> ctypes.c_void_p:
        """Load PTX, as of the newest version that this driver knows if it says a newer one."""
        newest = _newest_isa(self.driver)
        found = re.search(r"^\.version (\d+)\.(\d+)", ptx, re.MULTILINE)
        if found and (int(found[1]), int(found[2])) > newest:
            ptx = ptx.replace(found[0], ".version {}.{}".format(*newest), 1)
        return self.loaded(ptx.encode() + b"\0")

    def loaded(self, image: bytes) -> ctypes.c_void_p:
        """Load machine code, or PTX with its end."""
        module = ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), image)
        return module

    def function(self, module: ctypes.c_void_p, name: str, shared: int = 0) -> ctypes.c_void_p:
        """A kernel, allowed so much dynamic shared memory."""
        function = ctypes.c_void_p()
        self.call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        if shared > 48 * 1024:
            self.call("cuFuncSetAttribute", function, _DYNAMIC_SHARED, shared)
        return function

    def launch(
        self,
        function: ctypes.c_void_p,
        grid: Sequence[int],
        block: Sequence[int],
        params: bytes,
        offsets: Sequence[int],
        shared: int = 0,
        cooperative: bool = False,
    ) -> None:
        """Start a kernel whose parameters lie in `params` at `offsets`."""
        data = ctypes.create_string_buffer(params, max(len(params), 1))
        start = ctypes.addressof(data)
        places = (ctypes.c_void_p * max(len(offsets), 1))(*[start + offset for offset in offsets])
        extents = [*grid, *[1] * (3 - len(grid)), *block, *[1] * (3 - len(block))]
        if cooperative:
            self.call("cuLaunchCooperativeKernel", function, *extents, shared, None, places)
        else:
            self.call("cuLaunchKernel", function, *extents, shared, None, places, None)

    def start(self) -> None:
        """Record the first event."""
        self.call("cuEventRecord", self._events[0], None)

    def stop(self) -> float:
        """Record the second event, wait for it, and return the seconds between them."""
        self.call("cuEventRecord", self._events[1], None)
        self.call("cuEventSynchronize", self._events[1])
        milliseconds = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(milliseconds), *self._events)
        return 1e-3 * milliseconds.value

    def synchronize(self) -> None:
        """Wait for everything."""
        self.call("cuCtxSynchronize")


_SECOND = (
    *("cuMemAlloc", "cuMemsetD8", "cuMemcpyHtoD", "cuMemcpyDtoH", "cuMemFree", "cuEventDestroy"),
    *("cuMemcpyDtoDAsync", "cuMemHostRegister"),
)


def _newest_isa(driver: int) -> tuple[int, int]:
    """The newest PTX version of a driver: CUDA 12.x reads 8.x, CUDA 13.x reads 9.x."""
    major, minor = driver // 1000, driver % 1000 // 10
    return (major - 4, minor)


def arguments(*values: tuple[str, int | float]) -> tuple[bytes, list[int]]:
    """A parameter block and its offsets, from pairs of a struct format ("Q", "i", "f") and a value."""
    block, offsets = b"", []
    for form, value in values:
        size = struct.calcsize(form)
        block += b"\0" * (-len(block) % size)
        offsets.append(len(block))
        block += struct.pack(form, value)
    return block, offsets


def median_of(times: Sequence[float]) -> float:
    """Their median."""
    return statistics.median(times)
