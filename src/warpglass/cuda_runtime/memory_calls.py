"""Functions of the runtime API about memory: allocating, pinning, copying and filling linear memory."""

from __future__ import annotations

import ctypes

from ..numba_device.calls import Address, Device, Handle, Int, Size, UInt, put, put_int, word
from ..numba_device.memory_calls import variable_block
from ..numba_device.results import Refusal, Result
from .calls import Extent, Location, PitchedPointer, call, moves, release_12, same_as_driver, still
from .results import Status
from .runtime import Runtime

_PITCH = 512  # bytes that rows begin at a multiple of
# cudaMemcpyKind, by the driver's function that copies so.
COPIES = {
    0: "cuMemcpy",  # host to host
    1: "cuMemcpyHtoD",
    2: "cuMemcpyDtoH",
    3: "cuMemcpyDtoD",
    4: "cuMemcpy",  # as the addresses say
}
_HOST, _DEVICE, _MANAGED = 1, 2, 3  # cudaMemoryType; 0 is memory that is not registered
_INVALID_DEVICE = -2


def copy_of(kind: int) -> str:
    """The driver's function for a cudaMemcpyKind. Raises Refusal."""
    if kind not in COPIES:
        raise Refusal(Status.INVALID_COPY_DIRECTION, f"cudaMemcpyKind {kind}; it may be 0 to 4")
    return COPIES[kind]


# ---------------------------------------------------------------------------------------- allocating
@moves
@call
def cudaMalloc(runtime: Runtime, address: Address, size: Size) -> None:
    _allocate(runtime, address, size, "device")


def _allocate(runtime: Runtime, address: int, size: int, kind: str, flags: int = 0) -> None:
    if not address:
        raise Refusal(Result.INVALID_VALUE, "no place for the address")
    put(address, runtime.device.memory.allocate(size, kind, flags).base if size else 0)


@moves
@call
def cudaMallocManaged(runtime: Runtime, address: Address, size: Size, flags: UInt) -> None:
    if flags not in (1, 2, 4):  # cudaMemAttachGlobal, Host, Single
        raise Refusal(Result.INVALID_VALUE, f"flags of managed memory are 1, 2 or 4, not {flags}")
    if not size:
        raise Refusal(Result.INVALID_VALUE, "managed memory of 0 bytes")
    _allocate(runtime, address, size, "managed")


@moves
@call
def cudaMallocHost(runtime: Runtime, address: Address, size: Size) -> None:
    _allocate(runtime, address, size, "host")


@moves
@call
def cudaHostAlloc(runtime: Runtime, address: Address, size: Size, flags: UInt) -> None:
    _allocate(runtime, address, size, "host", flags)


@moves
@call
def cudaFreeHost(runtime: Runtime, address: Address) -> None:
    if address:
        runtime.driver("cuMemFreeHost", address)


@moves
@call
def cudaMallocPitch(runtime: Runtime, address: Address, pitch: Address, width: Size, height: Size) -> None:
    row = -(-width // _PITCH) * _PITCH
    _allocate(runtime, address, row * height, "device")
    put(pitch, row)


@moves
@call
def cudaMalloc3D(runtime: Runtime, pointer: Address, extent: Extent) -> None:
    found = PitchedPointer.from_address(pointer)
    cudaMallocPitch(
        runtime, pointer, pointer + PitchedPointer.pitch.offset, extent.width, extent.height * extent.depth
    )
    found.width, found.height = extent.width, extent.height


same_as_driver(
    "cudaFree=cuMemFree",
    "cudaHostRegister=cuMemHostRegister",
    "cudaHostUnregister=cuMemHostUnregister",
    "cudaHostGetDevicePointer=cuMemHostGetDevicePointer",
    "cudaHostGetFlags=cuMemHostGetFlags",
    "cudaIpcOpenMemHandle=cuIpcOpenMemHandle",
    "cudaMemGetInfo=cuMemGetInfo",
    "cudaIpcGetMemHandle=cuIpcGetMemHandle",
    "cudaIpcCloseMemHandle=cuIpcCloseMemHandle",
)


# ---------------------------------------------------------------------------------------- copying, filling
@still
@call
def cudaMemcpy(runtime: Runtime, target: Address, source: Address, size: Size, kind: Int) -> None:
    runtime.driver(copy_of(kind), target, source, size)


@still
@call
def cudaMemcpyAsync(
    runtime: Runtime, target: Address, source: Address, size: Size, kind: Int, stream: Handle
) -> None:
    runtime.driver(f"{copy_of(kind)}Async", target, source, size, stream)


@still
@call
def cudaMemcpyPeer(runtime: Runtime, target: Device, to: Int, source: Device, of: Int, size: Size) -> None:
    _one_device(to, of)
    runtime.driver("cuMemcpyDtoD", target, source, size)


@still
@call
def cudaMemcpyPeerAsync(
    runtime: Runtime, target: Device, to: Int, source: Device, of: Int, size: Size, stream: Handle
) -> None:
    _one_device(to, of)
    runtime.driver("cuMemcpyDtoDAsync", target, source, size, stream)


def _one_device(*numbers: int) -> None:
    for number in numbers:
        if number:
            raise Refusal(Result.INVALID_DEVICE, f"there is no device {number}: warpglass has one, device 0")


@still
@call
def cudaMemset(runtime: Runtime, target: Device, value: Int, count: Size) -> None:
    runtime.driver("cuMemsetD8", target, value & 255, count)


@still
@call
def cudaMemsetAsync(runtime: Runtime, target: Device, value: Int, count: Size, stream: Handle) -> None:
    runtime.driver("cuMemsetD8Async", target, value & 255, count, stream)


@still
@call
def cudaMemset2D(
    runtime: Runtime, target: Device, pitch: Size, value: Int, width: Size, height: Size
) -> None:
    runtime.driver("cuMemsetD2D8", target, pitch, value & 255, width, height)


@still
@call
def cudaMemset2DAsync(
    runtime: Runtime, target: Device, pitch: Size, value: Int, width: Size, height: Size, stream: Handle
) -> None:
    runtime.driver("cuMemsetD2D8Async", target, pitch, value & 255, width, height, stream)


@still
@call
def cudaMemset3D(runtime: Runtime, target: PitchedPointer, value: Int, extent: Extent) -> None:
    cudaMemset3DAsync(runtime, target, value, extent, 0)


@still
@call
def cudaMemset3DAsync(
    runtime: Runtime, target: PitchedPointer, value: Int, extent: Extent, stream: Handle
) -> None:
    for number in range(extent.depth):
        address = target.address + number * target.pitch * target.height
        rows = extent.width, extent.height
        runtime.driver("cuMemsetD2D8Async", address, target.pitch, value & 255, *rows, stream)


# ---------------------------------------------------------------------------------------- managed memory
@call
def cudaMemPrefetchAsync(
    runtime: Runtime, address: Device, size: Size, location: Location, flags: UInt, stream: Handle
) -> None:
    runtime.driver("cuMemPrefetchAsync", address, size, 0, flags, stream)


@release_12
@call
def cudaMemPrefetchAsync_12(
    runtime: Runtime, address: Device, size: Size, number: Int, stream: Handle
) -> None:
    runtime.driver("cuMemPrefetchAsync", address, size, 0, 0, stream)


@call
def cudaMemAdvise(runtime: Runtime, address: Device, size: Size, advice: Int, location: Location) -> None:
    runtime.driver("cuMemAdvise", address, size, advice, 0)


@release_12
@call
def cudaMemAdvise_12(runtime: Runtime, address: Device, size: Size, advice: Int, number: Int) -> None:
    runtime.driver("cuMemAdvise", address, size, advice, 0)


class _Attributes(ctypes.Structure):
    """cudaPointerAttributes."""

    _fields_ = [
        ("kind", ctypes.c_int32),
        ("number", ctypes.c_int32),
        ("on_device", ctypes.c_uint64),
        ("on_host", ctypes.c_uint64),
    ]


@still
@call
def cudaPointerGetAttributes(runtime: Runtime, place: Address, address: Device) -> None:
    block = runtime.device.memory.find(address) or variable_block(runtime.device, address)
    found = _Attributes.from_address(place)
    if block is None:
        found.kind, found.number, found.on_device, found.on_host = 0, _INVALID_DEVICE, 0, address
        return
    found.kind = {"device": _DEVICE, "ipc": _DEVICE, "managed": _MANAGED}.get(block.kind, _HOST)
    found.number, found.on_device = 0, address
    found.on_host = 0 if found.kind == _DEVICE else address


# cudaMemRangeAttribute: no advice was taken
_RANGE = {1: 0, 2: _INVALID_DEVICE, 3: _INVALID_DEVICE, 4: _INVALID_DEVICE}


@call
def cudaMemRangeGetAttribute(
    runtime: Runtime, place: Address, room: Size, attribute: Int, address: Device, size: Size
) -> None:
    block = runtime.device.memory.find(address)
    if block is None or block.kind != "managed" or attribute not in _RANGE:
        raise Refusal(Result.INVALID_VALUE, f"no managed memory is at {address:#x}, or no such attribute")
    for position in range(0, room - 3, 4):
        put_int(place + position, _RANGE[attribute])


@call
def cudaMemRangeGetAttributes(
    runtime: Runtime,
    places: Address,
    rooms: Address,
    attributes: Address,
    count: Size,
    address: Device,
    size: Size,
) -> None:
    numbers = (ctypes.c_int32 * count).from_address(attributes)
    for position, attribute in enumerate(numbers):
        place, room = (word(base + 8 * position) for base in (places, rooms))
        cudaMemRangeGetAttribute(runtime, place, room, attribute, address, size)
