"""Memory on a GPU: arrays that stay there, and the arguments of one launch that travel there and back.

Belongs here: allocation, copies, and where in device memory each allocation of a launch comes to lie.
Launching and errors are backend.py.

Arrays of one owner get one buffer that reaches from the first byte passed to the last, at the owner's
offset modulo 512, so that they overlap and align as on the engine. Only bytes of the arrays passed are
copied, never the rest of their owner: another thread may be working there.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import ArgumentError, LaunchError
from ..launch.arguments import Allocation, Bound, BoundArray
from ..launch.arrays import ArrayView, Misfit, view_of
from .driver import CudaError, Driver, cuda_name

_OUT_OF_MEMORY = 2  # CUDA_ERROR_OUT_OF_MEMORY
_ALIGNMENT = 512  # cudaMalloc's, which kernels see as the alignment of an owner


@dataclass(frozen=True, slots=True)
class Ordinal:
    """A CUDA device by number, under the name that PyTorch gives it."""

    index: int


class DeviceArray:
    """A C-contiguous array in GPU memory, freed with its last reference; other libraries can use it too."""

    def __init__(
        self,
        address: int,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        ordinal: int,
        free: Callable[[int], None] | None,
        owner: DeviceArray | None = None,
    ):
        self.address = address
        self._owner = owner
        self.device = Ordinal(ordinal)
        self.shape = shape
        self.dtype = dtype
        self._lost = False
        self.keep: object = None  # another library's array, whose memory this is
        if address and free is not None:
            weakref.finalize(self, free, address)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The array as Numba, CuPy and PyTorch take it (CUDA Array Interface, version 3)."""
        if (self._owner or self)._lost:
            raise ArgumentError("this device array was lost when the device was reset")
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "strides": None,
            "version": 3,
        }

    def part(self, start: int, stop: int | None = None) -> DeviceArray:
        """Elements [start, stop) of a one-dimensional array, whose memory lives as long as the part."""
        (size,) = self.shape
        first, last, _ = slice(start, stop).indices(size)
        address = self.address + first * self.dtype.itemsize
        count = max(0, last - first)
        return DeviceArray(address, (count,), self.dtype, self.device.index, None, self._owner or self)

    def lose(self) -> None:
        """Mark the array as gone with the context that held it."""
        self._lost = True


def allocate(driver: Driver, nbytes: int) -> int:
    """Device memory of so many bytes; a LaunchError that says how much there is, where it does not fit."""
    try:
        return int(driver.call("cuMemAlloc", nbytes))
    except CudaError as error:
        if error.code != _OUT_OF_MEMORY:
            raise
        free, total = driver.call("cuMemGetInfo")
        raise LaunchError(
            f"{cuda_name(error.code)}: the GPU has no room for an array of {nbytes / 1e9:.3g} GB: "
            f"{int(free) / 1e9:.3g} of its {int(total) / 1e9:.3g} GB are free; take a smaller size",
            cuda_name=cuda_name(error.code),
            synchronous=True,
            sticky=False,
        ) from error


def flat(array: Any, ordinal: int) -> DeviceArray:
    """A contiguous array of any library as one of ours, with one dimension; it keeps the other alive."""
    interface = array.__cuda_array_interface__
    view = view_of(array)
    if view is None or not view.contiguous:
        raise ArgumentError("the array must be contiguous")
    made = DeviceArray(view.address, (view.size,), np.dtype(interface["typestr"]), ordinal, None)
    made.keep = array
    return made


def copy(driver: Driver, source: object, target: object) -> tuple[ArrayView, ArrayView]:
    """Copy all bytes between two contiguous arrays of equal size, each in host or device memory.

    Returns what was copied and where to.
    """
    views = []
    for role, array in (("source", source), ("target", target)):
        try:
            view = view_of(array)
        except Misfit as problem:
            raise ArgumentError(f"copy: the {role} cannot be used: {problem}") from None
        if view is None or not view.contiguous:
            raise ArgumentError(f"copy: the {role} must be a contiguous array")
        views.append(view)
    of, to = views
    nbytes = of.high - of.low
    if nbytes != to.high - to.low:
        raise ArgumentError(f"copy: the source has {nbytes} bytes, the target {to.high - to.low}")
    if to.readonly:
        raise ArgumentError("copy: the target is read-only")
    if not nbytes:
        return of, to
    direction = ("Hto" if of.device is None else "Dto") + ("H" if to.device is None else "D")
    if direction == "HtoH":
        np.copyto(np.asarray(to.keep), np.asarray(of.keep))
    else:
        driver.call(f"cuMemcpy{direction}", to.address, of.address, nbytes)
    return of, to


# ---------------------------------------------------------------------------------------- one launch
@dataclass(frozen=True, slots=True)
class _Stretch:
    """Bytes that travel: where they lie on the host and on the device."""

    host: int
    device: int
    nbytes: int


class Placement:
    """Where the allocations of one launch lie on the device; made by `place`, ended by `free`."""

    def __init__(self, driver: Driver):
        self._driver = driver
        self._buffers: list[int] = []
        self._written: list[_Stretch] = []
        self.bases: list[int] = []  # device address of each allocation's first byte; 0: empty

    @property
    def on_device(self) -> bool:
        """Whether nothing had to travel."""
        return not self._buffers

    def place(self, bound: Bound, ordinal: int) -> None:
        """Allocate and copy in what lies on the host; leave device arrays where they are."""
        for number, allocation in enumerate(bound.allocations):
            arrays = [array for array in bound.arrays if array.allocation == number]
            if allocation.device is None:
                self.bases.append(self._place_host(allocation, arrays))
            elif allocation.device == ordinal:
                self.bases.append(allocation.address)
            else:
                raise ArgumentError(
                    f"argument {allocation.name} lies on CUDA device {allocation.device}, but the kernel "
                    f"runs on device {ordinal}"
                )

    def _place_host(self, allocation: Allocation, arrays: Sequence[BoundArray]) -> int:
        spans = _merged([(array.view.low, array.view.high) for array in arrays])
        if not spans:
            return 0
        first = spans[0][0]
        shift = (first - allocation.address) % _ALIGNMENT
        buffer = allocate(self._driver, shift + spans[-1][1] - first)
        self._buffers.append(buffer)
        moved = buffer + shift - first  # host address -> device address
        for low, high in spans:
            self._driver.call("cuMemcpyHtoD", low + moved, low, high - low)
        writable = _merged([(array.view.low, array.view.high) for array in arrays if not array.readonly])
        self._written += [_Stretch(low, low + moved, high - low) for low, high in writable]
        return allocation.address + moved

    def copy_back(self) -> None:
        """Copy what the kernel may have written to the host arrays."""
        for stretch in self._written:
            self._driver.call("cuMemcpyDtoH", stretch.host, stretch.device, stretch.nbytes)

    def free(self) -> None:
        """Free the buffers; in a context that is lost they are gone already."""
        for buffer in self._buffers:
            try:
                self._driver.call("cuMemFree", buffer)
            except CudaError:
                return


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Overlapping or adjoining byte ranges joined, empty ones dropped, in order of address."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted(span for span in spans if span[0] < span[1]):
        if joined and low <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(high, joined[-1][1]))
        else:
            joined.append((low, high))
    return joined
