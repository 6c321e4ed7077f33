"""Functions of the driver API about memory pools. A pool gives memory like any other, and keeps none."""

from __future__ import annotations

from dataclasses import dataclass, field

from .calls import Address, Device, Handle, Int, Ordinal, Size, also, call, put, put_int, word
from .device import VirtualDevice
from .memory_calls import cuMemFree
from .memory_nodes import Allocation, Freeing
from .stream_calls import stream_of

_SWITCHES = (1, 2, 3)  # attributes of a pool that are an int: how memory may be used again


@dataclass(eq=False)
class Pool:
    """A memory pool; it gives memory like any other, and keeps none."""

    attributes: dict[int, int] = field(default_factory=dict)


def _default_pool(device: VirtualDevice) -> int:
    found = next((handle for handle in device.handles_of(Pool)), None)
    return device.add(Pool()) if found is None else found


@also("cuDeviceGetMemPool")
@call
def cuDeviceGetDefaultMemPool(device: VirtualDevice, pool: Address, number: Ordinal) -> None:
    put(pool, _default_pool(device))


@call
def cuDeviceSetMemPool(device: VirtualDevice, number: Ordinal, pool: Handle) -> None:
    device.get(pool, Pool)


@call
def cuMemPoolCreate(device: VirtualDevice, pool: Address, properties: Address) -> None:
    put(pool, device.add(Pool()))


@call
def cuMemPoolDestroy(device: VirtualDevice, pool: Handle) -> None:
    device.remove(pool, Pool)


@call
def cuMemPoolSetAttribute(device: VirtualDevice, pool: Handle, attribute: Int, value: Address) -> None:
    found = word(value)
    device.get(pool, Pool).attributes[attribute] = found & 0xFFFFFFFF if attribute in _SWITCHES else found


@call
def cuMemPoolGetAttribute(device: VirtualDevice, pool: Handle, attribute: Int, value: Address) -> None:
    found = device.get(pool, Pool).attributes.get(attribute, 0)
    if attribute in _SWITCHES:
        put_int(value, int(found != 0))
    else:
        put(value, found)


_READ_WRITE = 3  # CU_MEM_ACCESS_FLAGS_PROT_READWRITE


@call
def cuMemPoolSetAccess(device: VirtualDevice, pool: Handle, descriptions: Address, count: Size) -> None:
    device.get(pool, Pool)


@call
def cuMemPoolGetAccess(device: VirtualDevice, flags: Address, pool: Handle, location: Address) -> None:
    device.get(pool, Pool)
    put_int(flags, _READ_WRITE)


@call
def cuMemPoolTrimTo(device: VirtualDevice, pool: Handle, size: Size) -> None:
    device.get(pool, Pool)


@call
def cuMemAllocAsync(device: VirtualDevice, address: Address, size: Size, stream: Handle) -> None:
    known = stream_of(device, stream)
    block = device.memory.allocate(size)
    if known.captured is not None:
        known.capture(Allocation(block))
    put(address, block.base)


@call
def cuMemAllocFromPoolAsync(
    device: VirtualDevice, address: Address, size: Size, pool: Handle, stream: Handle
) -> None:
    device.get(pool, Pool)
    cuMemAllocAsync(device, address, size, stream)


@call
def cuMemFreeAsync(device: VirtualDevice, address: Device, stream: Handle) -> None:
    known = stream_of(device, stream)
    if known.captured is not None:
        known.capture(Freeing(address))
    else:
        cuMemFree(device, address)
