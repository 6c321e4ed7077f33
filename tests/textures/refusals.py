"""What the driver says to descriptions that are none: statuses by what was asked."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator

import numpy as np

from . import driver as d


def _array(size: tuple[int, int, int], kind: int, channels: int, flags: int = 0) -> Callable[[], None]:
    def ask() -> None:
        found, descriptor = ctypes.c_uint64(), d.ArrayDescriptor(*size, kind, channels, flags)
        d.call("cuArray3DCreate_v2", ctypes.byref(found), ctypes.byref(descriptor))

    return ask


def _made(
    kind: str = "f32", channels: int = 1, size: tuple[int, int, int] = (16, 8, 0), flags: int = 0
) -> int:
    dtype = d.FORMATS[kind][1]
    return d.array_of(
        np.zeros((max(size[2], 1), max(size[1], 1), size[0], channels), dtype), kind, size, flags
    )


def _texture(
    kind: str = "f32", linear: bool = False, mode: str = "clamp", flags: int = 0
) -> Callable[[], None]:
    def ask() -> None:
        resource = d.ResourceDescriptor(type=0)
        resource.of.array = _made(kind)
        modes = (ctypes.c_int * 3)(*[d.MODES[mode]] * 3)
        d.texture(resource, d.TextureDescriptor(modes, int(linear), flags))

    return ask


def _linear(
    offset: int, size: int = 64, kind: int = 32, channels: int = 1, **described: int
) -> Callable[[], None]:
    def ask() -> None:
        address = d.put(np.zeros(4096, np.uint8)) + offset
        resource = d.ResourceDescriptor(type=2)
        resource.of.linear = d._Linear(address, kind, channels, size, 0, 0)
        d.texture(resource, d.TextureDescriptor(**described))

    return ask


def _pitched(offset: int, pitch: int, width: int = 16) -> Callable[[], None]:
    def ask() -> None:
        address = d.put(np.zeros(65536, np.uint8)) + offset
        resource = d.ResourceDescriptor(type=3)
        resource.of.linear = d._Linear(address, 32, 1, width, 8, pitch)
        d.texture(resource, d.TextureDescriptor())

    return ask


def _surface_of(flags: int) -> Callable[[], None]:
    return lambda: (d.surface(_made(flags=flags)), None)[1]


def _questions() -> Iterator[tuple[str, Callable[[], None]]]:
    for channels in (0, 3, 5):
        yield f"array of {channels} channels", _array((16, 8, 0), 32, channels)
    yield "array of width 0", _array((0, 8, 0), 32, 1)
    yield "array with depth and no height", _array((16, 0, 4), 32, 1)
    yield "array of no format", _array((16, 8, 0), 7, 1)
    yield "cubemap of 5 faces", _array((8, 8, 5), 32, 1, d.CUBEMAP)
    yield "cubemap that is not square", _array((8, 4, 6), 32, 1, d.CUBEMAP)
    yield "cubemaps of 7 faces", _array((8, 8, 7), 32, 1, d.CUBEMAP | d.LAYERED)
    yield "layered without layers", _array((8, 8, 0), 32, 1, d.LAYERED)
    yield "gather of 1d", _array((8, 0, 0), 32, 1, d.GATHER)
    yield "gather of 3d", _array((8, 8, 8), 32, 1, d.GATHER)
    yield "array too wide", _array((1 << 20, 0, 0), 32, 1)
    yield "array of unknown flags", _array((16, 8, 0), 32, 1, 0x4000)
    yield "linear filter of integers", _texture("u8", True, flags=d.AS_INTEGER)
    yield "linear filter of u32", _texture("u32", True)
    yield "u32 as float", _texture("u32")
    yield "u32 as integer", _texture("u32", flags=d.AS_INTEGER)
    yield "wrap without normalised coordinates", _texture(mode="wrap")
    yield "sRGB of f32", _texture(flags=d.SRGB)
    yield "unknown flags", _texture(flags=0x1000)
    for offset in (4, 16, 32, 128, 256, 512):
        yield f"linear at {offset}", _linear(offset)
        yield f"pitched at {offset}", _pitched(offset, 512)
    for pitch in (4, 16, 32, 48, 64, 100, 128):
        yield f"pitch of {pitch}", _pitched(0, pitch)
    yield "linear of 3 channels", _linear(0, channels=3)
    yield "linear of 0 bytes", _linear(0, 0)
    yield "linear of 6 bytes", _linear(0, 6)
    yield "linear beyond its allocation", _linear(0, 1 << 20)
    yield "linear with linear filter", _linear(0, filter_mode=1)
    yield "linear with normalised coordinates", _linear(0, flags=d.NORMALIZED)
    yield "surface of a plain array", _surface_of(0)
    yield "surface", _surface_of(d.SURFACE)


def statuses() -> dict[str, str]:
    """The status of each question, 0 for success."""
    found: dict[str, str] = {}
    for name, ask in _questions():
        try:
            ask()
            found[f"status/{name}"] = "0"
        except d.DriverError as error:
            found[f"status/{name}"] = str(error.args[0])
    return found
