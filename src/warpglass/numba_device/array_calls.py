"""Functions of the driver API about CUDA arrays, mipmapped ones too."""

from __future__ import annotations

import ctypes

from .arrays import Array, Described, MipmappedArray, create_array, create_mipmapped
from .calls import Address, Handle, Ordinal, UInt, call, put
from .device import VirtualDevice
from .results import Refusal, Result


class ArrayDescriptor(ctypes.Structure):
    """CUDA_ARRAY_DESCRIPTOR."""

    _fields_ = [
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("format", ctypes.c_uint32),
        ("channels", ctypes.c_uint32),
    ]


class Array3DDescriptor(ctypes.Structure):
    """CUDA_ARRAY3D_DESCRIPTOR."""

    _fields_ = [
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("depth", ctypes.c_size_t),
        ("format", ctypes.c_uint32),
        ("channels", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
    ]


class MemoryRequirements(ctypes.Structure):
    """CUDA_ARRAY_MEMORY_REQUIREMENTS."""

    _fields_ = [("size", ctypes.c_size_t), ("alignment", ctypes.c_size_t), ("reserved", ctypes.c_uint32 * 4)]


def _described(place: Address) -> Described:
    told = Array3DDescriptor.from_address(place)
    return Described((told.width, told.height, told.depth), told.format, told.channels, told.flags)


@call
def cuArrayCreate(device: VirtualDevice, array: Address, descriptor: Address) -> None:
    told = ArrayDescriptor.from_address(descriptor)
    put(array, create_array(device, Described((told.width, told.height, 0), told.format, told.channels)))


@call
def cuArray3DCreate(device: VirtualDevice, array: Address, descriptor: Address) -> None:
    put(array, create_array(device, _described(descriptor)))


@call
def cuArrayGetDescriptor(device: VirtualDevice, descriptor: Address, array: Handle) -> None:
    told = device.get(array, Array).described
    found = ArrayDescriptor(told.size[0], told.size[1], told.kind, told.channels)
    ctypes.memmove(descriptor, ctypes.byref(found), ctypes.sizeof(found))


@call
def cuArray3DGetDescriptor(device: VirtualDevice, descriptor: Address, array: Handle) -> None:
    told = device.get(array, Array).described
    found = Array3DDescriptor(*told.size, told.kind, told.channels, told.flags)
    ctypes.memmove(descriptor, ctypes.byref(found), ctypes.sizeof(found))


@call
def cuArrayGetMemoryRequirements(
    device: VirtualDevice, requirements: Address, array: Handle, number: Ordinal
) -> None:
    _tell_requirements(requirements, device.get(array, Array).block.size)


@call
def cuMipmappedArrayGetMemoryRequirements(
    device: VirtualDevice, requirements: Address, array: Handle, number: Ordinal
) -> None:
    _tell_requirements(requirements, device.get(array, MipmappedArray).block.size)


def _tell_requirements(place: Address, size: int) -> None:
    found = MemoryRequirements(size, 512)
    ctypes.memmove(place, ctypes.byref(found), ctypes.sizeof(found))


@call
def cuArrayDestroy(device: VirtualDevice, array: Handle) -> None:
    if device.get(array, Array).part:
        raise Refusal(Result.INVALID_HANDLE, "a level goes with its mipmapped array")
    device.memory.release(device.remove(array, Array).block.base, ("device",))


@call
def cuMipmappedArrayCreate(device: VirtualDevice, array: Address, descriptor: Address, levels: UInt) -> None:
    put(array, create_mipmapped(device, _described(descriptor), levels))


@call
def cuMipmappedArrayGetLevel(device: VirtualDevice, level: Address, array: Handle, number: UInt) -> None:
    handles = device.get(array, MipmappedArray).handles
    if number >= len(handles):
        raise Refusal(Result.INVALID_VALUE, f"the array has {len(handles)} levels, none of number {number}")
    put(level, handles[number])


@call
def cuMipmappedArrayDestroy(device: VirtualDevice, array: Handle) -> None:
    found = device.remove(array, MipmappedArray)
    for handle in found.handles:
        device.remove(handle, Array)
    device.memory.release(found.block.base, ("device",))
