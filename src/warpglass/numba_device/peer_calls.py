"""Functions of the driver API about other GPUs: answered as on a machine with one."""

from __future__ import annotations

from .calls import Address, Device, Handle, Int, Ordinal, Size, UInt, call, call_anywhere, put_int, still
from .device import Context, VirtualDevice
from .memory_calls import cuMemcpy
from .results import Refusal, Result
from .stream_calls import and_async


@call_anywhere
def cuDeviceCanAccessPeer(device: VirtualDevice, possible: Address, one: Ordinal, other: Ordinal) -> None:
    put_int(possible, 0)


@call_anywhere
def cuDeviceGetP2PAttribute(
    device: VirtualDevice, value: Address, attribute: Int, one: Ordinal, other: Ordinal
) -> None:
    raise Refusal(Result.INVALID_DEVICE, "a device is no peer of itself")


@call
def cuCtxEnablePeerAccess(device: VirtualDevice, context: Handle, flags: UInt) -> None:
    raise Refusal(Result.PEER_ACCESS_UNSUPPORTED)


@call
def cuCtxDisablePeerAccess(device: VirtualDevice, context: Handle) -> None:
    raise Refusal(Result.PEER_ACCESS_NOT_ENABLED)


@and_async
@still
@call
def cuMemcpyPeer(
    device: VirtualDevice, target: Device, to: Handle, source: Device, of: Handle, size: Size
) -> None:
    for context in (to, of):
        device.get(context, Context)
    cuMemcpy(device, target, source, size)
