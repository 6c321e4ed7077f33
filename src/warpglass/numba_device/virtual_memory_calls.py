"""Functions of the driver API for virtual memory: addresses that are reserved, and memory mapped there.

Memory that a program creates is an open file, so it can be mapped several times and by several processes. A
reservation has a stretch of the host's addresses of its own, in which that memory is mapped at the same
distances as on the device: what is mapped side by side is one allocation for kernels and copies.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from dataclasses import dataclass, field

from .calls import Address, Device, Handle, Int, Size, call_anywhere, put, put_int
from .device import VirtualDevice
from .results import Refusal, Result

_GRANULE = 2 << 20
_POSIX_FILE = 1  # CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
_READ_WRITE = 3  # CU_MEM_ACCESS_FLAGS_PROT_READWRITE
_PROPERTIES = 32  # bytes of CUmemAllocationProp
_FIXED = 0x10  # MAP_FIXED
_MAP = ctypes.CFUNCTYPE(
    *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, *(ctypes.c_int,) * 3, ctypes.c_long), use_errno=True
)


class Physical:
    """Memory of the device without an address: an open file, with the properties that it was made with."""

    def __init__(self, file: int, properties: bytes):
        self.file = file
        self.properties = properties
        self.size = os.fstat(file).st_size

    def __del__(self) -> None:
        os.close(self.file)


@dataclass(eq=False)
class Reservation:
    """Addresses of the device, and as many of the host, without memory at first."""

    base: int
    size: int
    _space: mmap.mmap
    host: int
    mapped: dict[range, Physical] = field(default_factory=dict)  # by distances from the start

    def put(self, at: int, size: int, file: int = -1, offset: int = 0) -> None:
        """Map part of a file at a distance from the start; without one, nothing is there again."""
        how = mmap.MAP_SHARED if file >= 0 else mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        map_at = _MAP(("mmap", ctypes.CDLL(None)))
        protection = mmap.PROT_READ | mmap.PROT_WRITE
        if map_at(self.host + at, size, protection, how | _FIXED, file, offset) != self.host + at:
            raise Refusal(Result.OUT_OF_MEMORY, os.strerror(ctypes.get_errno()))


def _reservation(device: VirtualDevice, address: int, size: int) -> Reservation:
    """The reservation that a stretch lies in. Raises Refusal."""
    for one in device.all_of(Reservation):
        if one.base <= address and address + size <= one.base + one.size:
            return one
    raise Refusal(Result.INVALID_VALUE, f"{size} bytes at {address:#x} are not within a reservation")


def _check_size(size: int) -> None:
    if size <= 0 or size % _GRANULE:
        raise Refusal(Result.INVALID_VALUE, f"a size of {size} bytes; it must be a multiple of {_GRANULE}")


# ---------------------------------------------------------------------------------------- addresses
@call_anywhere
def cuMemAddressReserve(
    device: VirtualDevice, address: Address, size: Size, alignment: Size, wanted: Device, flags: Size
) -> None:
    _check_size(size)
    space = mmap.mmap(-1, size)
    host = ctypes.addressof(ctypes.c_uint8.from_buffer(space))
    base = device.memory.reserve(size, max(alignment, _GRANULE))
    device.add(Reservation(base, size, space, host))
    put(address, base)


@call_anywhere
def cuMemAddressFree(device: VirtualDevice, address: Device, size: Size) -> None:
    for handle in device.handles_of(Reservation):
        one = device.get(handle, Reservation)
        if (one.base, one.size) == (address, size):
            if device.memory.overlapping(address, size):
                raise Refusal(Result.INVALID_VALUE, f"memory is still mapped at {address:#x}")
            device.remove(handle, Reservation)
            return
    raise Refusal(Result.INVALID_VALUE, f"no reservation of {size} bytes starts at {address:#x}")


# ---------------------------------------------------------------------------------------- memory
@call_anywhere
def cuMemGetAllocationGranularity(
    device: VirtualDevice, granule: Address, properties: Address, option: Int
) -> None:
    put(granule, _GRANULE)


@call_anywhere
def cuMemCreate(device: VirtualDevice, handle: Address, size: Size, properties: Address, flags: Size) -> None:
    _check_size(size)
    if size > device.memory.free:
        raise Refusal(Result.OUT_OF_MEMORY, f"{size} bytes; {device.memory.free} are left")
    file = os.memfd_create("warpglass-memory", os.MFD_CLOEXEC)
    os.ftruncate(file, size)
    put(handle, device.add(Physical(file, ctypes.string_at(properties, _PROPERTIES))))


@call_anywhere
def cuMemRelease(device: VirtualDevice, handle: Handle) -> None:
    device.remove(handle, Physical)


@call_anywhere
def cuMemGetAllocationPropertiesFromHandle(
    device: VirtualDevice, properties: Address, handle: Handle
) -> None:
    content = device.get(handle, Physical).properties
    ctypes.memmove(properties, content, len(content))


@call_anywhere
def cuMemExportToShareableHandle(
    device: VirtualDevice, shared: Address, handle: Handle, kind: Int, flags: Size
) -> None:
    if kind != _POSIX_FILE:
        raise Refusal(Result.NOT_SUPPORTED, "memory is shared by file descriptors of POSIX only")
    put_int(shared, os.dup(device.get(handle, Physical).file))


@call_anywhere
def cuMemImportFromShareableHandle(device: VirtualDevice, handle: Address, shared: Size, kind: Int) -> None:
    if kind != _POSIX_FILE:
        raise Refusal(Result.NOT_SUPPORTED, "memory is shared by file descriptors of POSIX only")
    try:
        file = os.dup(shared & 0xFFFFFFFF)
    except OSError as problem:
        raise Refusal(Result.INVALID_VALUE, f"file descriptor {shared}: {problem.strerror}") from None
    put(handle, device.add(Physical(file, bytes(_PROPERTIES))))


# ---------------------------------------------------------------------------------------- mapping
@call_anywhere
def cuMemMap(
    device: VirtualDevice, address: Device, size: Size, offset: Size, handle: Handle, flags: Size
) -> None:
    _check_size(size)
    physical, found = device.get(handle, Physical), _reservation(device, address, size)
    if offset + size > physical.size or device.memory.overlapping(address, size):
        text = f"{size} bytes from byte {offset} of {physical.size}, at {address:#x}"
        raise Refusal(Result.INVALID_VALUE, f"{text}: they are not there, or the address is taken")
    at = address - found.base
    found.put(at, size, physical.file, offset)
    found.mapped[range(at, at + size)] = physical
    device.memory.map(address, size, found.host + at, found)


@call_anywhere
def cuMemUnmap(device: VirtualDevice, address: Device, size: Size) -> None:
    found = _reservation(device, address, size)
    at = address - found.base
    device.memory.unmap(address, size)
    found.put(at, size)
    found.mapped = {where: one for where, one in found.mapped.items() if not at <= where.start < at + size}


@call_anywhere
def cuMemRetainAllocationHandle(device: VirtualDevice, handle: Address, address: Device) -> None:
    found = _reservation(device, address, 1)
    for where, physical in found.mapped.items():
        if address - found.base in where:
            put(handle, device.add(physical))
            return
    raise Refusal(Result.INVALID_VALUE, f"nothing is mapped at {address:#x}")


@call_anywhere
def cuMemSetAccess(
    device: VirtualDevice, address: Device, size: Size, descriptions: Address, count: Size
) -> None:
    _reservation(device, address, size)


@call_anywhere
def cuMemGetAccess(device: VirtualDevice, flags: Address, location: Address, address: Device) -> None:
    _reservation(device, address, 1)
    put(flags, _READ_WRITE)
