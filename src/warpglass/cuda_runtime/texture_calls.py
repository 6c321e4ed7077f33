"""Functions of the runtime API about texture and surface objects."""

from __future__ import annotations

import ctypes
from typing import Any

from ..numba_device import texture_calls as driver
from ..numba_device.calls import Address, Handle, put
from ..numba_device.results import Refusal, Result
from .calls import call
from .channels import ChannelDescriptor
from .runtime import Runtime

_LINEAR, _PITCHED = 2, 3  # cudaResourceType, of memory; arrays are the driver's
# cudaTextureDesc's fields as the driver's flags, CU_TRSF_*.
_FLAGS = {"normalized": 2, "srgb": 0x10, "no_trilinear": 0x20, "seamless": 0x40}
_AS_INTEGER = 1


class _Memory(ctypes.Structure):
    """Linear memory, and pitched, of which `size` is the width."""

    _fields_ = [
        ("address", ctypes.c_uint64),
        ("channels", ChannelDescriptor),
        ("size", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("pitch", ctypes.c_size_t),
    ]


class _Resource(ctypes.Union):
    _fields_ = [("array", ctypes.c_uint64), ("memory", _Memory), ("reserved", ctypes.c_int32 * 32)]


class ResourceDescriptor(ctypes.Structure):
    """cudaResourceDesc."""

    _fields_ = [("type", ctypes.c_int32), ("of", _Resource), ("flags", ctypes.c_uint32)]


class TextureDescriptor(ctypes.Structure):
    """cudaTextureDesc."""

    _fields_ = [
        ("address_mode", ctypes.c_uint32 * 3),
        ("filter_mode", ctypes.c_uint32),
        ("read_mode", ctypes.c_uint32),  # 0: as the element is
        ("srgb", ctypes.c_int32),
        ("border", ctypes.c_float * 4),
        ("normalized", ctypes.c_int32),
        ("max_anisotropy", ctypes.c_uint32),
        ("mipmap_filter_mode", ctypes.c_uint32),
        ("mipmap_level_bias", ctypes.c_float),
        ("min_mipmap_level", ctypes.c_float),
        ("max_mipmap_level", ctypes.c_float),
        ("no_trilinear", ctypes.c_int32),
        ("seamless", ctypes.c_int32),
    ]


# What has the same name in the driver's description.
_SAME = (
    *("address_mode", "filter_mode", "border", "max_anisotropy", "mipmap_filter_mode"),
    *("mipmap_level_bias", "min_mipmap_level", "max_mipmap_level"),
)


def _resource(told: ResourceDescriptor) -> driver.ResourceDescriptor:
    found = driver.ResourceDescriptor(type=told.type, flags=told.flags)
    if told.type not in (_LINEAR, _PITCHED):
        found.of.array = told.of.array
        return found
    memory = told.of.memory
    kind, channels = memory.channels.format
    linear = found.of.linear
    linear.address, linear.format, linear.channels = memory.address, kind, channels
    linear.size, linear.height, linear.pitch = memory.size, memory.height, memory.pitch
    return found


def _texture(told: TextureDescriptor) -> driver.TextureDescriptor:
    flags = sum(flag for name, flag in _FLAGS.items() if getattr(told, name))
    found = driver.TextureDescriptor(flags=flags | _AS_INTEGER * (told.read_mode == 0))
    for name in _SAME:
        setattr(found, name, getattr(told, name))
    return found


@call
def cudaCreateTextureObject(
    runtime: Runtime, made: Address, resource: Address, texture: Address, view: Address
) -> None:
    of, how = ResourceDescriptor.from_address(resource), TextureDescriptor.from_address(texture)
    handle = ctypes.c_uint64()
    below = (_resource(of), _texture(how))
    places = (ctypes.addressof(one) for one in (handle, *below))
    runtime.driver("cuTexObjectCreate", *places, view)
    runtime.described[handle.value] = (bytes(of), bytes(how))
    put(made, handle.value)


@call
def cudaCreateSurfaceObject(runtime: Runtime, made: Address, resource: Address) -> None:
    of = ResourceDescriptor.from_address(resource)
    handle, below = ctypes.c_uint64(), _resource(of)
    runtime.driver("cuSurfObjectCreate", ctypes.addressof(handle), ctypes.addressof(below))
    runtime.described[handle.value] = (bytes(of),)
    put(made, handle.value)


@call
def cudaDestroyTextureObject(runtime: Runtime, made: Handle) -> None:
    if made:
        runtime.driver("cuTexObjectDestroy", made)
        runtime.described.pop(made, None)


@call
def cudaDestroySurfaceObject(runtime: Runtime, made: Handle) -> None:
    if made:
        runtime.driver("cuSurfObjectDestroy", made)
        runtime.described.pop(made, None)


def _tell(runtime: Runtime, place: int, made: int, part: int) -> None:
    """Write one of the descriptions that an object was created with."""
    parts: Any = runtime.described.get(made, ())
    if part >= len(parts):
        raise Refusal(Result.INVALID_VALUE, f"{made:#x} was not created with such a description here")
    ctypes.memmove(place, parts[part], len(parts[part]))


@call
def cudaGetTextureObjectResourceDesc(runtime: Runtime, place: Address, made: Handle) -> None:
    _tell(runtime, place, made, 0)


@call
def cudaGetTextureObjectTextureDesc(runtime: Runtime, place: Address, made: Handle) -> None:
    _tell(runtime, place, made, 1)


@call
def cudaGetTextureObjectResourceViewDesc(runtime: Runtime, place: Address, made: Handle) -> None:
    runtime.driver("cuTexObjectGetResourceViewDesc", place, made)


@call
def cudaGetSurfaceObjectResourceDesc(runtime: Runtime, place: Address, made: Handle) -> None:
    _tell(runtime, place, made, 0)
