"""Functions of the runtime API about arrays, and about the formats of their texels."""

from __future__ import annotations

import ctypes

from ..numba_device.arrays import Array, Described, create_array, create_mipmapped
from ..numba_device.calls import Address, Handle, Int, Ordinal, Size, UInt, put
from .calls import Extent, call, call_anywhere, same_as_driver
from .channels import ChannelDescriptor, described
from .runtime import Runtime

_LINEAR_TEXELS = 1 << 27  # of a texture of linear memory


@call_anywhere
def cudaCreateChannelDesc(
    runtime: Runtime, made: Address, x: Int, y: Int, z: Int, w: Int, kind: Int
) -> Address:
    """A structure is returned in memory of the caller's, whose address comes first and is the result."""
    found = ChannelDescriptor(x, y, z, w, kind)
    ctypes.memmove(made, ctypes.byref(found), ctypes.sizeof(found))
    return made


def _described(descriptor: int, width: int, height: int, depth: int, flags: int) -> Described:
    kind, channels = ChannelDescriptor.from_address(descriptor).format
    return Described((width, height, depth), kind, channels, flags)


@call
def cudaMallocArray(
    runtime: Runtime, array: Address, descriptor: Address, width: Size, height: Size, flags: UInt
) -> None:
    put(array, create_array(runtime.device, _described(descriptor, width, height, 0, flags)))


@call
def cudaMalloc3DArray(
    runtime: Runtime, array: Address, descriptor: Address, extent: Extent, flags: UInt
) -> None:
    size = (extent.width, extent.height, extent.depth)
    put(array, create_array(runtime.device, _described(descriptor, *size, flags)))


@call
def cudaMallocMipmappedArray(
    runtime: Runtime, array: Address, descriptor: Address, extent: Extent, levels: UInt, flags: UInt
) -> None:
    size = (extent.width, extent.height, extent.depth)
    put(array, create_mipmapped(runtime.device, _described(descriptor, *size, flags), levels))


@call
def cudaFreeArray(runtime: Runtime, array: Handle) -> None:
    if array:
        runtime.driver("cuArrayDestroy", array)


@call
def cudaFreeMipmappedArray(runtime: Runtime, array: Handle) -> None:
    if array:
        runtime.driver("cuMipmappedArrayDestroy", array)


same_as_driver(
    "cudaGetMipmappedArrayLevel=cuMipmappedArrayGetLevel",
    "cudaArrayGetMemoryRequirements=cuArrayGetMemoryRequirements",
    "cudaMipmappedArrayGetMemoryRequirements=cuMipmappedArrayGetMemoryRequirements",
)


def _tell(place: int, descriptor: ChannelDescriptor) -> None:
    if place:
        ctypes.memmove(place, ctypes.byref(descriptor), ctypes.sizeof(descriptor))


@call
def cudaArrayGetInfo(
    runtime: Runtime, descriptor: Address, extent: Address, flags: Address, array: Handle
) -> None:
    told = runtime.device.get(array, Array).described
    _tell(descriptor, described(told.kind, told.channels))
    if extent:
        found = Extent(*told.size)
        ctypes.memmove(extent, ctypes.byref(found), ctypes.sizeof(found))
    put(flags, told.flags, ctypes.c_uint32)


@call
def cudaGetChannelDesc(runtime: Runtime, descriptor: Address, array: Handle) -> None:
    told = runtime.device.get(array, Array).described
    _tell(descriptor, described(told.kind, told.channels))


@call_anywhere
def cudaDeviceGetTexture1DLinearMaxWidth(
    runtime: Runtime, width: Address, descriptor: Address, number: Ordinal
) -> None:
    put(width, _LINEAR_TEXELS)
