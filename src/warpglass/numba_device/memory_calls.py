"""Functions of the driver API about memory: allocating, pinning, copying, filling; what pointers are."""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Callable

from .calls import (
    Address,
    Byte,
    Device,
    Function,
    Handle,
    Int,
    IpcHandle,
    Short,
    Size,
    UInt,
    call,
    moves,
    put,
    still,
)
from .device import VirtualDevice
from .memory import Block, copy, fill
from .modules import LoadedModule
from .results import Refusal, Result
from .stream_calls import and_async

_FIRST_PAGE = 1 << 12  # of which no process has anything
_HOST, _DEVICE = 1, 2  # CU_MEMORYTYPE_*
_OF_DEVICE = ("device", "managed", "mapped")
_UNSEEN = ("device", "mapped")  # by the host


def place_of(device: VirtualDevice, address: int, size: int) -> int:
    """Where bytes at an address of the device, or of the host, lie on the host; Refusal if they leave it."""
    place = device.memory.host(address, size)
    if place is not None:
        return place
    for module in device.all_of(LoadedModule):
        found = module.host(address, size)
        if found is not None:
            return found
    raise Refusal(Result.INVALID_VALUE, f"no memory of the device is at {address:#x}")


def either_place(device: VirtualDevice, address: int, size: int) -> int:
    """Likewise, but an address that is none of the device's is one of the host; Refusal for null."""
    if address < _FIRST_PAGE and size:
        raise Refusal(Result.INVALID_VALUE, f"the host has no memory at {address:#x}: is a pointer not set?")
    if address >> 47:  # no user's address of the host
        return place_of(device, address, size)
    place = device.memory.host(address, size)
    return address if place is None else place


# ---------------------------------------------------------------------------------------- allocating
@still
@call
def cuMemGetInfo(device: VirtualDevice, free: Address, total: Address) -> None:
    put(free, device.memory.free)
    put(total, device.memory.usable)


@moves
@call
def cuMemAlloc(device: VirtualDevice, address: Address, size: Size) -> None:
    put(address, device.memory.allocate(size).base)


@moves
@call
def cuMemFree(device: VirtualDevice, address: Device) -> None:
    if address:
        device.memory.release(address, ("device", "managed"))


@moves
@call
def cuMemAllocManaged(device: VirtualDevice, address: Address, size: Size, flags: UInt) -> None:
    put(address, device.memory.allocate(size, "managed").base)


@moves
@call
def cuMemAllocHost(device: VirtualDevice, address: Address, size: Size) -> None:
    put(address, device.memory.allocate(size, "host").base)


@moves
@call
def cuMemHostAlloc(device: VirtualDevice, address: Address, size: Size, flags: UInt) -> None:
    put(address, device.memory.allocate(size, "host", flags).base)


@still
@call
def cuMemHostGetFlags(device: VirtualDevice, flags: Address, address: Address) -> None:
    block = device.memory.find(address)
    if block is None or block.kind not in ("host", "registered"):
        raise Refusal(Result.INVALID_VALUE, f"no pinned memory of the host is at {address:#x}")
    put(flags, block.flags, ctypes.c_uint32)


@moves
@call
def cuMemFreeHost(device: VirtualDevice, address: Address) -> None:
    device.memory.release(address, ("host",))


@moves
@call
def cuMemHostRegister(device: VirtualDevice, address: Address, size: Size, flags: UInt) -> None:
    device.memory.register(address, size, flags)


@moves
@call
def cuMemHostUnregister(device: VirtualDevice, address: Address) -> None:
    block = device.memory.find(address)
    if block is None or block.kind != "registered" or block.base != address:
        raise Refusal(Result.HOST_MEMORY_NOT_REGISTERED)
    device.memory.release(address, ("registered",))


@still
@call
def cuMemHostGetDevicePointer(device: VirtualDevice, found: Address, address: Address, flags: UInt) -> None:
    if device.memory.find(address) is None:
        raise Refusal(Result.INVALID_VALUE)
    put(found, address)


@still
@call
def cuMemGetAddressRange(device: VirtualDevice, base: Address, size: Address, address: Device) -> None:
    block = device.memory.find(address)
    if block is None:
        raise Refusal(Result.NOT_FOUND)
    put(base, block.base)
    put(size, block.size)


# ---------------------------------------------------------------------------------------- other processes
_HANDLE = struct.Struct("<16sqqQ")  # of 64 bytes: a mark, process, file and size
_MARK = b"warpglass-ipc-1"


@call
def cuIpcGetMemHandle(device: VirtualDevice, handle: Address, address: Device) -> None:
    block, shared = device.memory.share(address)
    content = _HANDLE.pack(_MARK, os.getpid(), shared.file, block.size).ljust(64, b"\0")
    ctypes.memmove(handle, content, 64)


@call
def cuIpcCloseMemHandle(device: VirtualDevice, address: Device) -> None:
    device.memory.release(address, ("ipc",))


def open_shared(device: VirtualDevice, handle: bytes) -> int:
    """The address of memory that another process shares; a process cannot open its own."""
    mark, process, number, size = _HANDLE.unpack_from(handle)
    if mark.rstrip(b"\0") != _MARK or process == os.getpid():
        raise Refusal(Result.INVALID_CONTEXT if mark.rstrip(b"\0") == _MARK else Result.INVALID_VALUE)
    try:
        file = os.open(f"/proc/{process}/fd/{number}", os.O_RDWR)
    except OSError as error:
        raise Refusal(Result.INVALID_VALUE, f"memory of process {process}: {error.strerror}") from None
    return device.memory.import_shared(file, size).base


@call
def cuIpcOpenMemHandle(device: VirtualDevice, address: Address, handle: IpcHandle, flags: UInt) -> None:
    put(address, open_shared(device, bytes(handle)))


# ---------------------------------------------------------------------------------------- copying
_Place = Callable[[VirtualDevice, int, int], int]
LONG = 1 << 20  # bytes of a copy that the host need not wait for


def _copy(device: VirtualDevice, target: tuple[_Place, int], source: tuple[_Place, int], size: int) -> None:
    """Copy between two addresses, each with how it is found on the host; what is undefined stays so."""
    if size:
        to, of = (place(device, address, size) for place, address in (target, source))
        copy(to, of, size)
        device.memory.define_copy(target[1], source[1], size)


class _Kept(int):
    """The address of bytes that live as long as it does."""

    def __new__(cls, content: bytes) -> _Kept:
        buffer = ctypes.create_string_buffer(content, max(1, len(content)))
        made = super().__new__(cls, ctypes.addressof(buffer))
        made.buffer = buffer
        return made

    buffer: object


def _is_pageable(device: VirtualDevice, address: int) -> bool:
    """Whether an address is the host's alone."""
    modules = (module.host(address, 1) for module in device.all_of(LoadedModule))
    return device.memory.find(address) is None and all(place is None for place in modules)


def _copier(to: _Place, of: _Place) -> Callable[[Function], Function]:
    """Register a function that copies from an address, found by `of`, to one found by `to`, and its twin.

    Of a copy that is made later the twin reads pageable memory at once, and it does not return before it has
    written to such, as CUDA has it.
    """

    def staged(device: VirtualDevice, arguments: tuple[int, ...]) -> tuple[int, ...] | None:
        target, source, size, *rest = arguments
        for place, address in ((to, target), (of, source)) if size else ():
            place(device, address, size)
        if _is_pageable(device, target):
            return None
        if _is_pageable(device, source):
            source = _Kept(ctypes.string_at(source, size))
        return (target, source, size, *rest)

    return lambda function: and_async(still(call(function)), staged, lambda arguments: arguments[2] >= LONG)


@_copier(either_place, either_place)
def cuMemcpy(device: VirtualDevice, target: Device, source: Device, size: Size) -> None:
    _copy(device, (either_place, target), (either_place, source), size)


@_copier(place_of, either_place)
def cuMemcpyHtoD(device: VirtualDevice, target: Device, source: Address, size: Size) -> None:
    _copy(device, (place_of, target), (either_place, source), size)


@_copier(either_place, place_of)
def cuMemcpyDtoH(device: VirtualDevice, target: Address, source: Device, size: Size) -> None:
    _copy(device, (either_place, target), (place_of, source), size)


@_copier(place_of, place_of)
def cuMemcpyDtoD(device: VirtualDevice, target: Device, source: Device, size: Size) -> None:
    _copy(device, (place_of, target), (place_of, source), size)


# ---------------------------------------------------------------------------------------- filling
def _fill(device: VirtualDevice, target: int, pattern: bytes, count: int) -> None:
    if target % len(pattern):
        raise Refusal(Result.INVALID_VALUE, f"{target:#x} is no multiple of {len(pattern)}")
    if count:
        size = count * len(pattern)
        fill(place_of(device, target, size), pattern, count)
        device.memory.define(target, size)


@and_async
@still
@call
def cuMemsetD8(device: VirtualDevice, target: Device, value: Byte, count: Size) -> None:
    _fill(device, target, value.to_bytes(1, "little"), count)


@and_async
@still
@call
def cuMemsetD16(device: VirtualDevice, target: Device, value: Short, count: Size) -> None:
    _fill(device, target, value.to_bytes(2, "little"), count)


@and_async
@still
@call
def cuMemsetD32(device: VirtualDevice, target: Device, value: UInt, count: Size) -> None:
    _fill(device, target, value.to_bytes(4, "little"), count)


# ---------------------------------------------------------------------------------------- pointers
# CUpointer_attribute: what each is of an allocation and an address in it, and the C type of the answer.
_I, _Q = ctypes.c_int32, ctypes.c_uint64
_POINTER_ATTRIBUTES = {
    1: (lambda device, block, address: device.stack[-1], _Q),  # context
    2: (lambda device, block, address: _DEVICE if block.kind in _OF_DEVICE else _HOST, _I),
    3: (lambda device, block, address: address, _Q),  # device pointer
    4: (lambda device, block, address: 0 if block.kind in _UNSEEN else address, _Q),  # host pointer
    6: (lambda device, block, address: 0, _I),  # synchronous operations
    7: (lambda device, block, address: block.number, _Q),  # buffer id
    8: (lambda device, block, address: int(block.kind == "managed"), _I),
    9: (lambda device, block, address: 0, _I),  # device ordinal
    10: (lambda device, block, address: int(block.kind == "device"), _I),  # may be shared with processes
    11: (lambda device, block, address: block.base, _Q),
    12: (lambda device, block, address: block.size, _Q),
    13: (lambda device, block, address: 1, _I),  # mapped
    14: (lambda device, block, address: 0, _Q),  # handle types
    15: (lambda device, block, address: 0, _I),  # GPU direct
    16: (lambda device, block, address: 3, _I),  # access: read and write
    17: (lambda device, block, address: 0, _Q),  # pool
}


def _pointer_attribute(device: VirtualDevice, place: int, attribute: int, address: int) -> bool:
    """Answer one question; False for memory that is not the device's."""
    if attribute not in _POINTER_ATTRIBUTES:
        raise Refusal(Result.INVALID_VALUE, f"pointer attribute {attribute} is not known")
    value, kind = _POINTER_ATTRIBUTES[attribute]
    block = device.memory.find(address) or variable_block(device, address)
    if block is None:
        return False
    put(place, value(device, block, address), kind)
    return True


def variable_block(device: VirtualDevice, address: int) -> Block | None:
    """The module variable at an address as an allocation; None if there is none."""
    for module in device.all_of(LoadedModule):
        found = module.memory.find(address)
        if found is not None and found[1] < found[0].size:
            variable, distance = found
            return Block(address - distance, variable.size, 0, "device", 0)
    return None


@still
@call
def cuPointerGetAttribute(device: VirtualDevice, place: Address, attribute: Int, address: Device) -> None:
    if not _pointer_attribute(device, place, attribute, address):
        raise Refusal(Result.INVALID_VALUE, f"{address:#x} is no address of the device")


@call
def cuPointerGetAttributes(
    device: VirtualDevice, count: UInt, attributes: Address, places: Address, address: Device
) -> None:
    numbers = (ctypes.c_int32 * count).from_address(attributes)
    targets = (ctypes.c_uint64 * count).from_address(places)
    for number, place in zip(numbers, targets, strict=True):
        if not _pointer_attribute(device, place, number, address):
            kind = _POINTER_ATTRIBUTES[number][1]
            put(place, -2 if number == 9 else 0, kind)  # CU_DEVICE_INVALID


@call
def cuMemPrefetchAsync(
    device: VirtualDevice, address: Device, size: Size, location: Size, flags: UInt, stream: Handle
) -> None:
    place_of(device, address, size)


@call
def cuMemAdvise(device: VirtualDevice, address: Device, size: Size, advice: Int, location: Size) -> None:
    place_of(device, address, size)
