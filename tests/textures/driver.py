"""Textures and surfaces through the driver API alone: what runs alike on a GPU and on the virtual one.

Belongs here: ctypes for the driver's structures, and functions that make arrays, objects and kernels. Nothing
of warpglass is imported, so that the same program measures a GPU.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

LAYERED, SURFACE, CUBEMAP, GATHER = 1, 2, 4, 8
AS_INTEGER, NORMALIZED, SRGB, NO_TRILINEAR, SEAMLESS = 1, 2, 0x10, 0x20, 0x40
# CUarray_format and element type by name.
FORMATS = {
    "u8": (1, "u1"),
    "u16": (2, "u2"),
    "u32": (3, "u4"),
    "s8": (8, "i1"),
    "s16": (9, "i2"),
    "s32": (10, "i4"),
    "f16": (16, "f2"),
    "f32": (32, "f4"),
}
ROW = 12  # words that a thread takes
MODES = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}


class ArrayDescriptor(ctypes.Structure):
    """CUDA_ARRAY3D_DESCRIPTOR."""

    _fields_ = [
        *((name, ctypes.c_size_t) for name in ("width", "height", "depth")),
        *((name, ctypes.c_uint) for name in ("format", "channels", "flags")),
    ]


class _Linear(ctypes.Structure):
    _fields_ = [
        ("address", ctypes.c_uint64),
        ("format", ctypes.c_uint),
        ("channels", ctypes.c_uint),
        ("size", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("pitch", ctypes.c_size_t),
    ]


class _Resource(ctypes.Union):
    _fields_ = [("array", ctypes.c_uint64), ("linear", _Linear), ("reserved", ctypes.c_int * 32)]


class ResourceDescriptor(ctypes.Structure):
    """CUDA_RESOURCE_DESC; `linear` also has what pitched memory needs, of which `size` is the width."""

    _fields_ = [("type", ctypes.c_int), ("of", _Resource), ("flags", ctypes.c_uint)]


class TextureDescriptor(ctypes.Structure):
    """CUDA_TEXTURE_DESC."""

    _fields_ = [
        ("address_mode", ctypes.c_int * 3),
        ("filter_mode", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("max_anisotropy", ctypes.c_uint),
        ("mipmap_filter_mode", ctypes.c_int),
        ("mipmap_level_bias", ctypes.c_float),
        ("min_mipmap_level", ctypes.c_float),
        ("max_mipmap_level", ctypes.c_float),
        ("border", ctypes.c_float * 4),
        ("reserved", ctypes.c_int * 12),
    ]


class Side(ctypes.Structure):
    """One side of a CUDA_MEMCPY3D."""

    _fields_ = [
        *((name, ctypes.c_size_t) for name in ("x", "y", "z", "level")),
        ("type", ctypes.c_uint),
        ("host", ctypes.c_void_p),
        ("device", ctypes.c_uint64),
        ("array", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("pitch", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    ]


class Copy(ctypes.Structure):
    """CUDA_MEMCPY3D."""

    _fields_ = [
        ("source", Side),
        ("target", Side),
        *((name, ctypes.c_size_t) for name in ("width", "height", "depth")),
    ]


class DriverError(Exception):
    """A call failed, with its status."""


@cache
def driver() -> Any:
    """The driver, with a context."""
    library = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    for status in (
        library.cuInit(0),
        library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
        library.cuCtxSetCurrent(context),
    ):
        if status:
            raise DriverError(status)
    return library


@cache
def _function(name: str) -> Any:
    """A function by its name, as the driver gives it to a program of CUDA 12."""
    library, place = driver(), ctypes.c_void_p()
    find = library.cuGetProcAddress_v2
    find(name.partition("_v")[0].encode(), ctypes.byref(place), 12000, ctypes.c_uint64(0), None)
    if not place.value:
        raise DriverError(name)
    return ctypes.CFUNCTYPE(ctypes.c_int)(place.value)


def call(name: str, *arguments: Any) -> None:
    """Call a function of the driver; raises DriverError."""
    status = _function(name)(*arguments)
    if status:
        raise DriverError(status, name)


def start_again() -> None:
    """Leave a context that an error has broken."""
    _function("cuDevicePrimaryCtxReset_v2")(0)
    driver.cache_clear()
    _function.cache_clear()
    kernel.cache_clear()


def put(values: np.ndarray[Any, Any], pitch: int | None = None) -> int:
    """The address of a copy in the device's memory."""
    values = np.ascontiguousarray(values)
    found = ctypes.c_uint64()
    call("cuMemAlloc_v2", ctypes.byref(found), ctypes.c_size_t(max(values.nbytes, 1)))
    call("cuMemcpyHtoD_v2", found, ctypes.c_void_p(values.ctypes.data), ctypes.c_size_t(values.nbytes))
    return found.value


def get(address: int, shape: Sequence[int], dtype: Any) -> np.ndarray[Any, Any]:
    """A copy of the device's memory."""
    values = np.zeros(shape, dtype)
    place = ctypes.c_void_p(values.ctypes.data)
    call("cuMemcpyDtoH_v2", place, ctypes.c_uint64(address), ctypes.c_size_t(values.nbytes))
    return values


def _side_of_host(values: np.ndarray[Any, Any], width: int, height: int) -> Side:
    return Side(type=1, host=values.ctypes.data, pitch=width, height=max(height, 1))


def copy_array(array: int, values: np.ndarray[Any, Any], size: Sequence[int], *, out: bool = False) -> None:
    """Copy all elements into an array, or out of it; `size` is width in bytes, height, depth."""
    width, height, depth = size
    host, inside = _side_of_host(values, width, height), Side(type=3, array=array)
    sides = (inside, host) if out else (host, inside)
    copy = Copy(*sides, width, max(height, 1), max(depth, 1))
    call("cuMemcpy3D_v2", ctypes.byref(copy))


def array_of(values: np.ndarray[Any, Any], kind: str, size: Sequence[int], flags: int = 0) -> int:
    """A CUDA array of a format with these elements, [depth or layers][height][width][channel].

    `size` is width, height, depth, 0 for what there is not.
    """
    channels = values.shape[-1]
    found = ctypes.c_uint64()
    descriptor = ArrayDescriptor(*size, FORMATS[kind][0], channels, flags)
    call("cuArray3DCreate_v2", ctypes.byref(found), ctypes.byref(descriptor))
    copy_array(found.value, values, (size[0] * channels * values.itemsize, size[1], size[2]))
    return found.value


def mipmapped(levels: Sequence[np.ndarray[Any, Any]], kind: str, size: Sequence[int], flags: int = 0) -> int:
    """A mipmapped array of these levels."""
    found, level = ctypes.c_uint64(), ctypes.c_uint64()
    descriptor = ArrayDescriptor(*size, FORMATS[kind][0], levels[0].shape[-1], flags)
    call("cuMipmappedArrayCreate", ctypes.byref(found), ctypes.byref(descriptor), len(levels))
    for number, values in enumerate(levels):
        call("cuMipmappedArrayGetLevel", ctypes.byref(level), found, number)
        width, height, depth = (max(one >> number, 1) if one else 0 for one in size)
        depth = size[2] if flags & (LAYERED | CUBEMAP) else depth
        copy_array(level.value, values, (width * values.shape[-1] * values.itemsize, height, depth))
    return found.value


def texture(resource: ResourceDescriptor, description: TextureDescriptor) -> int:
    """A texture object."""
    found = ctypes.c_uint64()
    call("cuTexObjectCreate", ctypes.byref(found), ctypes.byref(resource), ctypes.byref(description), None)
    return found.value


def surface(array: int) -> int:
    """A surface object."""
    found, resource = ctypes.c_uint64(), ResourceDescriptor(type=0)
    resource.of.array = array
    call("cuSurfObjectCreate", ctypes.byref(found), ctypes.byref(resource))
    return found.value


_KERNEL = """.version 7.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u32 p3)
{
  .reg .pred %p;
  .reg .b16 %h<9>;
  .reg .b32 %a<12>, %r<9>, %n, %i, %t, %b;
  .reg .b64 %obj, %in, %out, %off, %w<9>;
  mov.u32 %t, %tid.x;
  mov.u32 %b, %ctaid.x;
  mad.lo.u32 %i, %b, 128, %t;
  ld.param.u32 %n, [p3];
  setp.ge.u32 %p, %i, %n;
  @%p bra DONE;
  ld.param.u64 %obj, [p0];
  ld.param.u64 %in, [p1];
  ld.param.u64 %out, [p2];
  mul.wide.u32 %off, %i, 48;
  add.u64 %in, %in, %off;
  mul.wide.u32 %off, %i, 16;
  add.u64 %out, %out, %off;
  LOADS
  mov.b32 %r0, 0;
  mov.b32 %r1, 0;
  mov.b32 %r2, 0;
  mov.b32 %r3, 0;
  INSTRUCTIONS
  st.global.v4.b32 [%out], {%r0, %r1, %r2, %r3};
DONE:
  ret;
}
"""


@cache
def kernel(instructions: str) -> int:
    """A kernel whose thread takes words %a0 to %a11 and leaves four, %r0 to %r3; its object is %obj."""
    loads = "\n  ".join(f"ld.global.b32 %a{k}, [%in+{4 * k}];" for k in range(ROW))
    text = _KERNEL.replace("LOADS", loads).replace("INSTRUCTIONS", instructions)
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    call("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(text.encode()))
    call("cuModuleGetFunction", ctypes.byref(function), module, ctypes.c_char_p(b"kernel"))
    assert function.value is not None
    return function.value


def run(instructions: str, obj: int, words: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What threads make of their rows of words: rows of four words."""
    count = len(words)
    source, target = put(words.astype(np.uint32)), put(np.zeros((count, 4), np.uint32))
    values = [ctypes.c_uint64(obj), ctypes.c_uint64(source), ctypes.c_uint64(target), ctypes.c_uint32(count)]
    places = (ctypes.c_void_p * 4)(*(ctypes.addressof(one) for one in values))
    grid = ((count + 127) // 128, 1, 1, 128, 1, 1)
    call("cuLaunchKernel", ctypes.c_void_p(kernel(instructions)), *grid, 0, None, places, None)
    call("cuCtxSynchronize")
    result = get(target, (count, 4), np.uint32)
    for address in (source, target):
        call("cuMemFree_v2", ctypes.c_uint64(address))
    return result
