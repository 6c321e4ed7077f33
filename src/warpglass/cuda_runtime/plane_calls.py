"""Functions of the runtime API that copy rows, planes and boxes: pitched memory and arrays.

Each makes the driver's description of the copy (numba_device/plane_calls.py). Arrays count texels in boxes,
bytes in rows.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable
from typing import Any

from ..numba_device.arrays import Array
from ..numba_device.calls import Address, Handle, Int, Size
from ..numba_device.plane_calls import Copy3D, copy_3d, copy_3d_in_stream
from ..numba_device.results import Refusal
from .calls import Extent, PitchedPointer, Position, call, still
from .memory_calls import copy_of
from .results import Status
from .runtime import Runtime

_ARRAY, _UNIFIED = 3, 4  # CUmemorytype


class Parameters3D(ctypes.Structure):
    """cudaMemcpy3DParms."""

    _fields_ = [
        ("source_array", ctypes.c_uint64),
        ("source_position", Position),
        ("source", PitchedPointer),
        ("target_array", ctypes.c_uint64),
        ("target_position", Position),
        ("target", PitchedPointer),
        ("extent", Extent),
        ("kind", ctypes.c_int32),
    ]


class PeerParameters3D(ctypes.Structure):
    """cudaMemcpy3DPeerParms."""

    _fields_ = [
        ("source_array", ctypes.c_uint64),
        ("source_position", Position),
        ("source", PitchedPointer),
        ("source_device", ctypes.c_int32),
        ("target_array", ctypes.c_uint64),
        ("target_position", Position),
        ("target", PitchedPointer),
        ("target_device", ctypes.c_int32),
        ("extent", Extent),
    ]


# ---------------------------------------------------------------------------------------- descriptions
def _set_array(side: Any, array: int, x: int, y: int = 0, z: int = 0) -> None:
    side.type, side.array, side.x, side.y, side.z = _ARRAY, array, x, y, z


def _set_memory(side: Any, address: int, pitch: int, rows: int = 0) -> None:
    side.type, side.device, side.pitch, side.height = _UNIFIED, address, pitch, rows


def _check_rows(width: int, *pitches: int) -> None:
    for pitch in pitches:
        if width > pitch:
            text = f"rows of {width} bytes do not fit into a pitch of {pitch}"
            raise Refusal(Status.INVALID_PITCH_VALUE, text)


def described_box(runtime: Runtime, told: Any) -> Copy3D:
    """The driver's description of a copy of boxes. Raises Refusal."""
    size = 1
    for handle in (told.source_array, told.target_array):
        if handle:
            size = runtime.device.get(handle, Array).described.format.size
    found = Copy3D(width=told.extent.width * size, height=told.extent.height, depth=told.extent.depth)
    sides = (
        (found.source, told.source_array, told.source_position, told.source),
        (found.target, told.target_array, told.target_position, told.target),
    )
    for side, array, position, pointer in sides:
        if array:
            _set_array(side, array, position.x * size, position.y, position.z)
        else:
            _set_memory(side, pointer.address, pointer.pitch, pointer.height)
            side.x, side.y, side.z = position.x, position.y, position.z
            _check_rows(found.width, pointer.pitch)
    return found


_Describe = Callable[..., Copy3D]


def _copies(describe: _Describe) -> _Describe:
    """Register the copy that a function describes, and its twin `...Async` with a stream."""

    def copy(runtime: Runtime, *arguments: Any) -> None:
        copy_3d(runtime.device, describe(runtime, *arguments))

    def copy_in_stream(runtime: Runtime, *arguments: Any) -> None:
        copy_3d_in_stream(runtime.device, describe(runtime, *arguments[:-1]), arguments[-1])

    signature = inspect.signature(describe)
    stream = inspect.Parameter("stream", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="Handle")
    both = (copy, describe.__name__, ()), (copy_in_stream, f"{describe.__name__}Async", (stream,))
    for function, name, more in both:
        function.__name__ = name
        parameters = [*signature.parameters.values(), *more]
        function.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=parameters, return_annotation="None"
        )
        still(call(function))
    return describe


# ---------------------------------------------------------------------------------------- planes
@_copies
def cudaMemcpy2D(
    runtime: Runtime,
    target: Address,
    target_pitch: Size,
    source: Address,
    source_pitch: Size,
    width: Size,
    height: Size,
    kind: Int,
) -> Copy3D:
    copy_of(kind)
    if height > 1:
        _check_rows(width, target_pitch, source_pitch)
    found = Copy3D(width=width, height=height, depth=1)
    _set_memory(found.source, source, source_pitch)
    _set_memory(found.target, target, target_pitch)
    return found


@_copies
def cudaMemcpy2DToArray(
    runtime: Runtime,
    array: Handle,
    x: Size,
    y: Size,
    source: Address,
    pitch: Size,
    width: Size,
    height: Size,
    kind: Int,
) -> Copy3D:
    copy_of(kind)
    _check_rows(width, pitch)
    found = Copy3D(width=width, height=height, depth=1)
    _set_memory(found.source, source, pitch)
    _set_array(found.target, array, x, y)
    return found


@_copies
def cudaMemcpy2DFromArray(
    runtime: Runtime,
    target: Address,
    pitch: Size,
    array: Handle,
    x: Size,
    y: Size,
    width: Size,
    height: Size,
    kind: Int,
) -> Copy3D:
    copy_of(kind)
    _check_rows(width, pitch)
    found = Copy3D(width=width, height=height, depth=1)
    _set_array(found.source, array, x, y)
    _set_memory(found.target, target, pitch)
    return found


@_copies
def cudaMemcpy2DArrayToArray(
    runtime: Runtime,
    target: Handle,
    to_x: Size,
    to_y: Size,
    source: Handle,
    x: Size,
    y: Size,
    width: Size,
    height: Size,
    kind: Int,
) -> Copy3D:
    copy_of(kind)
    found = Copy3D(width=width, height=height, depth=1)
    _set_array(found.source, source, x, y)
    _set_array(found.target, target, to_x, to_y)
    return found


@_copies
def cudaMemcpy3D(runtime: Runtime, told: Address) -> Copy3D:
    parameters = Parameters3D.from_address(told)
    copy_of(parameters.kind)
    return described_box(runtime, parameters)


@_copies
def cudaMemcpy3DPeer(runtime: Runtime, told: Address) -> Copy3D:
    return described_box(runtime, PeerParameters3D.from_address(told))


# ---------------------------------------------------------------------------------------- arrays as bytes
def _offset(runtime: Runtime, array: int, x: int, y: int) -> int:
    """The number of a byte of an array: byte x of row y."""
    return y * runtime.device.get(array, Array).level.row + x


@still
@call
def cudaMemcpyToArray(
    runtime: Runtime, array: Handle, x: Size, y: Size, source: Address, count: Size, kind: Int
) -> None:
    copy_of(kind)
    runtime.driver("cuMemcpyHtoA", array, _offset(runtime, array, x, y), source, count)


@still
@call
def cudaMemcpyToArrayAsync(
    runtime: Runtime, array: Handle, x: Size, y: Size, source: Address, count: Size, kind: Int, stream: Handle
) -> None:
    copy_of(kind)
    runtime.driver("cuMemcpyHtoAAsync", array, _offset(runtime, array, x, y), source, count, stream)


@still
@call
def cudaMemcpyFromArray(
    runtime: Runtime, target: Address, array: Handle, x: Size, y: Size, count: Size, kind: Int
) -> None:
    copy_of(kind)
    runtime.driver("cuMemcpyAtoH", target, array, _offset(runtime, array, x, y), count)


@still
@call
def cudaMemcpyFromArrayAsync(
    runtime: Runtime, target: Address, array: Handle, x: Size, y: Size, count: Size, kind: Int, stream: Handle
) -> None:
    copy_of(kind)
    runtime.driver("cuMemcpyAtoHAsync", target, array, _offset(runtime, array, x, y), count, stream)


@still
@call
def cudaMemcpyArrayToArray(
    runtime: Runtime,
    target: Handle,
    to_x: Size,
    to_y: Size,
    source: Handle,
    x: Size,
    y: Size,
    count: Size,
    kind: Int,
) -> None:
    copy_of(kind)
    places = (_offset(runtime, target, to_x, to_y), _offset(runtime, source, x, y))
    runtime.driver("cuMemcpyAtoA", target, places[0], source, places[1], count)
