"""Functions of the driver API that copy rows and planes: pitched memory, three dimensions, arrays."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import Array
from .calls import Address, Device, Handle, Size, UInt, also, call, put, still
from .device import VirtualDevice
from .memory import copy
from .memory_calls import either_place
from .results import Refusal, Result
from .stream_calls import and_async, captured

_HOST, _DEVICE, _ARRAY, _UNIFIED = range(1, 5)  # CUmemorytype
_PITCH = 512  # bytes of which a pitch is a multiple


class _Side2D(ctypes.Structure):
    _fields_ = [
        ("x", ctypes.c_size_t),
        ("y", ctypes.c_size_t),
        ("type", ctypes.c_uint32),
        ("host", ctypes.c_uint64),
        ("device", ctypes.c_uint64),
        ("array", ctypes.c_uint64),
        ("pitch", ctypes.c_size_t),
    ]


class Copy2D(ctypes.Structure):
    """CUDA_MEMCPY2D."""

    _fields_ = [
        ("source", _Side2D),
        ("target", _Side2D),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    ]


class _Side3D(ctypes.Structure):
    _fields_ = [
        ("x", ctypes.c_size_t),
        ("y", ctypes.c_size_t),
        ("z", ctypes.c_size_t),
        ("level", ctypes.c_size_t),
        ("type", ctypes.c_uint32),
        ("host", ctypes.c_uint64),
        ("device", ctypes.c_uint64),
        ("array", ctypes.c_uint64),
        ("context", ctypes.c_uint64),  # reserved where there is one device
        ("pitch", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    ]


class Copy3D(ctypes.Structure):
    """CUDA_MEMCPY3D, and CUDA_MEMCPY3D_PEER."""

    _fields_ = [
        ("source", _Side3D),
        ("target", _Side3D),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
        ("depth", ctypes.c_size_t),
    ]


# ---------------------------------------------------------------------------------------- boxes of bytes
@dataclass(frozen=True)
class Box:
    """Bytes of one side: an address, of the host or the device, where it lies on the host, and how far rows
    and slices are apart."""

    address: int
    host: int
    row: int
    slice: int

    def view(self, extent: tuple[int, int, int]) -> np.ndarray[Any, Any]:
        """Its bytes, [depth][height][width], of an extent of width, height and depth."""
        width, height, depth = extent
        size = self.slice * (depth - 1) + self.row * (height - 1) + width
        memory: Any = (ctypes.c_uint8 * size).from_address(self.host)
        flat = np.frombuffer(memory, np.uint8)
        return np.lib.stride_tricks.as_strided(flat, (depth, height, width), (self.slice, self.row, 1))


Extent = tuple[int, int, int]  # width in bytes, height, depth


def memory_box(
    device: VirtualDevice, address: int, pitch: int, height: int, start: Extent, extent: Extent
) -> Box:
    """A box in memory of rows of a pitch, and slices of so many rows, from x bytes, y and z on."""
    row = pitch or extent[0]
    slice_ = row * (height or extent[1])
    if row < start[0] + extent[0] and extent[1] * extent[2] > 1:
        text = f"rows of {extent[0]} bytes from byte {start[0]} on do not fit into a pitch of {row}"
        raise Refusal(Result.INVALID_VALUE, text)
    first = address + start[0] + start[1] * row + start[2] * slice_
    size = slice_ * (extent[2] - 1) + row * (extent[1] - 1) + extent[0]
    return Box(first, either_place(device, first, size), row, slice_)


def array_box(device: VirtualDevice, handle: int, start: Extent, extent: Extent) -> Box:
    """A box in an array, from x bytes, y and z on."""
    array = device.get(handle, Array)
    level = array.level
    wide = level.width * array.described.format.size
    for begin, length, most, what in zip(
        start, extent, (wide, level.height, level.depth), ("bytes", "rows", "slices"), strict=True
    ):
        if begin + length > most:
            text = f"{length} {what} from {begin} on leave an array of {most}"
            raise Refusal(Result.INVALID_VALUE, text)
    first = array.base + start[0] + start[1] * level.row + start[2] * level.slice
    return Box(first, array.block.host + first - array.block.base, level.row, level.slice)


def copy_boxes(device: VirtualDevice, target: Box, source: Box, extent: Extent) -> None:
    """Copy the bytes of a box; what is undefined stays so."""
    width, height, depth = extent
    if target.row == source.row == width:
        width, height = width * height, 1
    if height == 1 and depth == 1:
        copy(target.host, source.host, width)
    else:
        target.view((width, height, depth))[:] = source.view((width, height, depth))
    if device.memory.follows:
        for z in range(depth):
            for y in range(height):
                to, of = (one.address + z * one.slice + y * one.row for one in (target, source))
                device.memory.define_copy(to, of, width)


def _box(device: VirtualDevice, side: Any, start: Extent, rows: int, extent: Extent) -> Box:
    if side.type == _ARRAY:
        return array_box(device, side.array, start, extent)
    if side.type not in (_HOST, _DEVICE, _UNIFIED):
        raise Refusal(Result.INVALID_VALUE, f"memory of type {side.type}")
    address = side.host if side.type == _HOST else side.device
    return memory_box(device, address, side.pitch, rows, start, extent)


def _copy_2d(device: VirtualDevice, told: Copy2D) -> None:
    extent = (told.width, told.height, 1)
    if told.width and told.height:
        target, source = (
            _box(device, one, (one.x, one.y, 0), 0, extent) for one in (told.target, told.source)
        )
        copy_boxes(device, target, source, extent)


def copy_3d(device: VirtualDevice, told: Copy3D) -> None:
    """Copy what a description says. Raises Refusal."""
    extent = (told.width, told.height, told.depth)
    if all(extent):
        sides = (told.target, told.source)
        target, source = (_box(device, one, (one.x, one.y, one.z), one.height, extent) for one in sides)
        copy_boxes(device, target, source, extent)


@captured
def copy_2d_in_stream(device: VirtualDevice, told: Copy2D, stream: Handle) -> None:
    """The same in a stream, of whose graph the description becomes a part if it is captured."""
    _copy_2d(device, told)


@captured
def copy_3d_in_stream(device: VirtualDevice, told: Copy3D, stream: Handle) -> None:
    """The same in a stream, of whose graph the description becomes a part if it is captured."""
    copy_3d(device, told)


@still
@call
def cuMemcpy2D(device: VirtualDevice, told: Address) -> None:
    _copy_2d(device, Copy2D.from_address(told))


@still
@call
def cuMemcpy2DUnaligned(device: VirtualDevice, told: Address) -> None:
    _copy_2d(device, Copy2D.from_address(told))


@still
@call
def cuMemcpy2DAsync(device: VirtualDevice, told: Address, stream: Handle) -> None:
    copy_2d_in_stream(device, Copy2D.from_buffer_copy(Copy2D.from_address(told)), stream)


@still
@call
def cuMemcpy3D(device: VirtualDevice, told: Address) -> None:
    copy_3d(device, Copy3D.from_address(told))


@still
@call
def cuMemcpy3DPeer(device: VirtualDevice, told: Address) -> None:
    copy_3d(device, Copy3D.from_address(told))


@also("cuMemcpy3DPeerAsync")
@still
@call
def cuMemcpy3DAsync(device: VirtualDevice, told: Address, stream: Handle) -> None:
    copy_3d_in_stream(device, Copy3D.from_buffer_copy(Copy3D.from_address(told)), stream)


# ---------------------------------------------------------------------------------------- arrays as bytes
def _row(device: VirtualDevice, array: Handle, offset: int, size: int) -> Box:
    """Bytes of an array from an offset on, which may go on from row to row."""
    found = device.get(array, Array)
    level = found.level
    if offset + size > level.slice * level.depth:
        text = f"{size} bytes from {offset} on leave an array of {level.slice * level.depth}"
        raise Refusal(Result.INVALID_VALUE, text)
    first = found.base + offset
    return Box(first, found.block.host + first - found.block.base, size, size)


def _copy_row(device: VirtualDevice, target: Box, source: Box, size: int) -> None:
    if size:
        copy_boxes(device, target, source, (size, 1, 1))


def _line(device: VirtualDevice, address: int, size: int) -> Box:
    return memory_box(device, address, size, 1, (0, 0, 0), (size, 1, 1))


@still
@call
def cuMemcpyDtoA(device: VirtualDevice, array: Handle, offset: Size, source: Device, size: Size) -> None:
    _copy_row(device, _row(device, array, offset, size), _line(device, source, size), size)


@still
@call
def cuMemcpyAtoD(device: VirtualDevice, target: Device, array: Handle, offset: Size, size: Size) -> None:
    _copy_row(device, _line(device, target, size), _row(device, array, offset, size), size)


@and_async
@still
@call
def cuMemcpyHtoA(device: VirtualDevice, array: Handle, offset: Size, source: Address, size: Size) -> None:
    _copy_row(device, _row(device, array, offset, size), _line(device, source, size), size)


@and_async
@still
@call
def cuMemcpyAtoH(device: VirtualDevice, target: Address, array: Handle, offset: Size, size: Size) -> None:
    _copy_row(device, _line(device, target, size), _row(device, array, offset, size), size)


@still
@call
def cuMemcpyAtoA(
    device: VirtualDevice, target: Handle, to: Size, source: Handle, of: Size, size: Size
) -> None:
    _copy_row(device, _row(device, target, to, size), _row(device, source, of, size), size)


# ---------------------------------------------------------------------------------------- pitched memory
@call
def cuMemAllocPitch(
    device: VirtualDevice, address: Address, pitch: Address, width: Size, height: Size, element: UInt
) -> None:
    if element not in (4, 8, 16):
        raise Refusal(Result.INVALID_VALUE, f"elements of {element} bytes; rows are for 4, 8 or 16")
    row = -(-width // _PITCH) * _PITCH
    put(address, device.memory.allocate(row * height).base)
    put(pitch, row)
