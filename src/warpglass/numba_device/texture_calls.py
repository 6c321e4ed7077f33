"""Functions of the driver API about texture and surface objects."""

from __future__ import annotations

import ctypes

from ..isa.texture_object import ADDRESS_MODES, Level, Sampler
from .arrays import Array, MipmappedArray, Texels, TextureObject, create_object, destroy_object, format_of
from .calls import Address, Handle, call, put
from .device import VirtualDevice
from .results import Refusal, Result

_ARRAY, _MIPMAPPED, _LINEAR, _PITCHED = range(4)  # CUresourcetype
_AS_INTEGER, _NORMALIZED, _SRGB, _SEAMLESS = 1, 2, 0x10, 0x40  # CU_TRSF_*
_KNOWN = _AS_INTEGER | _NORMALIZED | _SRGB | 0x20 | _SEAMLESS
_MODES = {number: name for name, number in ADDRESS_MODES.items()}
_ALIGN, _PITCH = 512, 32


class _Linear(ctypes.Structure):
    """Linear memory, and pitched, of which `size` is the width."""

    _fields_ = [
        ("address", ctypes.c_uint64),
        ("format", ctypes.c_uint32),
        ("channels", ctypes.c_uint32),
        ("size", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("pitch", ctypes.c_size_t),
    ]


class _Resource(ctypes.Union):
    _fields_ = [("array", ctypes.c_uint64), ("linear", _Linear), ("reserved", ctypes.c_int32 * 32)]


class ResourceDescriptor(ctypes.Structure):
    """CUDA_RESOURCE_DESC."""

    _fields_ = [("type", ctypes.c_int32), ("of", _Resource), ("flags", ctypes.c_uint32)]


class TextureDescriptor(ctypes.Structure):
    """CUDA_TEXTURE_DESC."""

    _fields_ = [
        ("address_mode", ctypes.c_uint32 * 3),
        ("filter_mode", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("max_anisotropy", ctypes.c_uint32),
        ("mipmap_filter_mode", ctypes.c_uint32),
        ("mipmap_level_bias", ctypes.c_float),
        ("min_mipmap_level", ctypes.c_float),
        ("max_mipmap_level", ctypes.c_float),
        ("border", ctypes.c_float * 4),
        ("reserved", ctypes.c_int32 * 12),
    ]


class ViewDescriptor(ctypes.Structure):
    """CUDA_RESOURCE_VIEW_DESC."""

    _fields_ = [
        ("format", ctypes.c_uint32),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("depth", ctypes.c_size_t),
        ("first_level", ctypes.c_uint32),
        ("last_level", ctypes.c_uint32),
        ("first_layer", ctypes.c_uint32),
        ("last_layer", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32 * 16),
    ]


# ---------------------------------------------------------------------------------------- what is shown
def _texels(device: VirtualDevice, resource: ResourceDescriptor) -> Texels:
    """The texels of a resource; Refusal for one that is none."""
    if resource.type in (_ARRAY, _MIPMAPPED):
        array = device.get(resource.of.array, Array if resource.type == _ARRAY else MipmappedArray)
        told = array.described
        return Texels(array.base, told.format, array.levels, told.layers, told.size)
    if resource.type not in (_LINEAR, _PITCHED):
        raise Refusal(Result.INVALID_VALUE, f"a resource of type {resource.type}")
    linear = resource.of.linear
    format_ = format_of(linear.format, linear.channels)
    if linear.address % _ALIGN:
        text = f"a texture's memory begins at {linear.address:#x}, which is no multiple of {_ALIGN}"
        raise Refusal(Result.INVALID_VALUE, text)
    if resource.type == _LINEAR:
        there = _allocated(device, linear)
        level = Level(0, there // format_.size, 1, 1, there, there)
        return Texels(linear.address, format_, (level,), 0, (linear.size // format_.size, 0, 0))
    if linear.pitch % _PITCH or linear.pitch < linear.size * format_.size:
        text = f"a pitch of {linear.pitch} bytes for {linear.size} texels; it must be a multiple of {_PITCH}"
        raise Refusal(Result.INVALID_VALUE, text)
    level = Level(0, linear.size, linear.height, 1, linear.pitch, linear.pitch * linear.height)
    return Texels(linear.address, format_, (level,), 0, (linear.size, linear.height, 0))


def _allocated(device: VirtualDevice, linear: _Linear) -> int:
    """How many of a texture's bytes its allocation has: GPUs take more, and programs do not read them."""
    block = device.memory.find(linear.address)
    there = linear.size if block is None else min(linear.size, block.base + block.size - linear.address)
    if there < linear.size:
        device.say(
            Result.SUCCESS,
            f"a texture of {linear.size} bytes is made of memory of {there}; what is behind is read as 0",
        )
    return there


def _viewed(texels: Texels, view: Address) -> Texels:
    """What a view leaves of texels: some of their levels; other formats and layers are not had."""
    if not view:
        return texels
    told = ViewDescriptor.from_address(view)
    last = min(told.last_level, len(texels.levels) - 1)
    if told.first_layer or told.first_level > last:
        raise Refusal(Result.NOT_SUPPORTED, "a view that leaves out layers or all levels")
    return Texels(
        texels.base, texels.format, texels.levels[told.first_level : last + 1], texels.layers, texels.extents
    )


def _sampler(told: TextureDescriptor, resource: int, texels: Texels) -> Sampler:
    """How a texture is read."""
    if told.flags & ~_KNOWN or any(mode not in _MODES for mode in told.address_mode):
        raise Refusal(Result.INVALID_VALUE, f"flags {told.flags:#x}, address modes {list(told.address_mode)}")
    modes = tuple(_MODES[mode] for mode in told.address_mode)
    narrow = texels.format.kind != "f" and texels.format.bits < 32
    if resource == _LINEAR:  # nothing but reads at whole numbers
        return Sampler(as_float=narrow and not told.flags & _AS_INTEGER, in_memory=True)
    return Sampler(
        (modes[0], modes[1], modes[2]),
        linear=told.filter_mode == 1 and (not told.flags & _AS_INTEGER or texels.format.kind == "f"),
        normalized=bool(told.flags & _NORMALIZED),
        as_float=narrow and not told.flags & _AS_INTEGER,
        srgb=bool(told.flags & _SRGB) and texels.format.kind == "u" and texels.format.bits == 8,
        border=(told.border[0], told.border[1], told.border[2], told.border[3]),
        linear_levels=told.mipmap_filter_mode == 1,
        level_bias=told.mipmap_level_bias,
        level_range=(told.min_mipmap_level, told.max_mipmap_level),
        anisotropy=told.max_anisotropy,
        seamless=bool(told.flags & _SEAMLESS),
    )


# ---------------------------------------------------------------------------------------- objects
def _content(place: Address, kind: type[ctypes.Structure]) -> bytes:
    return ctypes.string_at(place, ctypes.sizeof(kind)) if place else b""


@call
def cuTexObjectCreate(
    device: VirtualDevice, made: Address, resource: Address, texture: Address, view: Address
) -> None:
    of, how = ResourceDescriptor.from_address(resource), TextureDescriptor.from_address(texture)
    texels = _viewed(_texels(device, of), view)
    told = {
        "resource": _content(resource, ResourceDescriptor),
        "texture": _content(texture, TextureDescriptor),
        "view": _content(view, ViewDescriptor),
    }
    width, height, depth = texels.extents
    queries = (width, max(height, 1), depth)
    put(made, create_object(device, texels, _sampler(how, of.type, texels), queries, **told))


@call
def cuTexObjectDestroy(device: VirtualDevice, made: Handle) -> None:
    destroy_object(device, made)


@call
def cuSurfObjectCreate(device: VirtualDevice, made: Address, resource: Address) -> None:
    of = ResourceDescriptor.from_address(resource)
    if of.type != _ARRAY:
        raise Refusal(Result.INVALID_VALUE, "a surface needs an array")
    texels, content = _texels(device, of), _content(resource, ResourceDescriptor)
    width, height, depth = texels.extents
    queries = (width, depth, 0) if texels.layers and not height else texels.extents
    put(made, create_object(device, texels, Sampler(), queries, resource=content))


@call
def cuSurfObjectDestroy(device: VirtualDevice, made: Handle) -> None:
    destroy_object(device, made)


def _tell(place: Address, content: bytes) -> None:
    if not content:
        raise Refusal(Result.INVALID_VALUE, "the object was created without one")
    ctypes.memmove(place, content, len(content))


@call
def cuTexObjectGetResourceDesc(device: VirtualDevice, place: Address, made: Handle) -> None:
    _tell(place, device.get(made, TextureObject).resource)


@call
def cuTexObjectGetTextureDesc(device: VirtualDevice, place: Address, made: Handle) -> None:
    _tell(place, device.get(made, TextureObject).texture)


@call
def cuTexObjectGetResourceViewDesc(device: VirtualDevice, place: Address, made: Handle) -> None:
    _tell(place, device.get(made, TextureObject).view)


@call
def cuSurfObjectGetResourceDesc(device: VirtualDevice, place: Address, made: Handle) -> None:
    _tell(place, device.get(made, TextureObject).resource)
