"""Functions of the driver API about streams and events.

All work ends before the call that asks for it returns, which is one of the orders that streams allow. An
event is the time at which it was recorded.
"""

from __future__ import annotations

import ctypes
import time
from dataclasses import dataclass

from .calls import Address, Handle, Int, Refusal, Result, UInt, call, put, put_int, still
from .device import VirtualDevice

_DEFAULT_STREAMS = (0, 1, 2)  # the default, legacy and per-thread streams
_NO_TIMING = 2  # CU_EVENT_DISABLE_TIMING
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
_HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@dataclass(eq=False)
class Stream:
    """A stream of the program's."""

    flags: int = 0
    priority: int = 0


@dataclass(eq=False)
class Event:
    """An event; `at` is when it was recorded last, in seconds."""

    flags: int
    at: float | None = None


def stream_of(device: VirtualDevice, handle: Handle) -> Stream:
    """The stream of a handle; the default streams need none."""
    return Stream() if handle in _DEFAULT_STREAMS else device.get(handle, Stream)


# ---------------------------------------------------------------------------------------- streams
@call
def cuStreamCreate(device: VirtualDevice, stream: Address, flags: UInt) -> None:
    if flags > 1:
        raise Refusal(Result.INVALID_VALUE)
    put(stream, device.add(Stream(flags)))


@call
def cuStreamCreateWithPriority(device: VirtualDevice, stream: Address, flags: UInt, priority: Int) -> None:
    put(stream, device.add(Stream(flags, max(-5, min(0, priority)))))


@call
def cuStreamDestroy(device: VirtualDevice, stream: Handle) -> None:
    device.remove(stream, Stream)


@still
@call
def cuStreamSynchronize(device: VirtualDevice, stream: Handle) -> None:
    stream_of(device, stream)


@still
@call
def cuStreamQuery(device: VirtualDevice, stream: Handle) -> None:
    stream_of(device, stream)


@call
def cuStreamGetFlags(device: VirtualDevice, stream: Handle, flags: Address) -> None:
    put(flags, stream_of(device, stream).flags, ctypes.c_uint32)


@call
def cuStreamGetPriority(device: VirtualDevice, stream: Handle, priority: Address) -> None:
    put_int(priority, stream_of(device, stream).priority)


@call
def cuStreamGetId(device: VirtualDevice, stream: Handle, number: Address) -> None:
    stream_of(device, stream)
    put(number, stream)


@call
def cuStreamGetCtx(device: VirtualDevice, stream: Handle, context: Address) -> None:
    stream_of(device, stream)
    put(context, device.stack[-1])


@call
def cuStreamGetDevice(device: VirtualDevice, stream: Handle, number: Address) -> None:
    stream_of(device, stream)
    put_int(number, 0)


@still
@call
def cuStreamIsCapturing(device: VirtualDevice, stream: Handle, status: Address) -> None:
    stream_of(device, stream)
    put_int(status, 0)


@still
@call
def cuStreamWaitEvent(device: VirtualDevice, stream: Handle, event: Handle, flags: UInt) -> None:
    stream_of(device, stream)
    device.get(event, Event)


@still
@call
def cuStreamAddCallback(
    device: VirtualDevice, stream: Handle, function: Address, data: Address, flags: UInt
) -> None:
    stream_of(device, stream)
    _CALLBACK(function)(stream, 0, data)


@still
@call
def cuLaunchHostFunc(device: VirtualDevice, stream: Handle, function: Address, data: Address) -> None:
    stream_of(device, stream)
    _HOST_FUNCTION(function)(data)


@call
def cuStreamAttachMemAsync(
    device: VirtualDevice, stream: Handle, address: Address, size: Address, flags: UInt
) -> None:
    stream_of(device, stream)


# ---------------------------------------------------------------------------------------- events
@still
@call
def cuEventCreate(device: VirtualDevice, event: Address, flags: UInt) -> None:
    put(event, device.add(Event(flags)))


@call
def cuEventDestroy(device: VirtualDevice, event: Handle) -> None:
    device.remove(event, Event)


@still
@call
def cuEventRecord(device: VirtualDevice, event: Handle, stream: Handle) -> None:
    stream_of(device, stream)
    device.get(event, Event).at = time.perf_counter()


@still
@call
def cuEventRecordWithFlags(device: VirtualDevice, event: Handle, stream: Handle, flags: UInt) -> None:
    cuEventRecord(device, event, stream)


@still
@call
def cuEventQuery(device: VirtualDevice, event: Handle) -> None:
    device.get(event, Event)


@still
@call
def cuEventSynchronize(device: VirtualDevice, event: Handle) -> None:
    device.get(event, Event)


@still
@call
def cuEventElapsedTime(device: VirtualDevice, milliseconds: Address, start: Handle, end: Handle) -> None:
    first, last = device.get(start, Event), device.get(end, Event)
    if first.at is None or last.at is None or (first.flags | last.flags) & _NO_TIMING:
        raise Refusal(Result.INVALID_HANDLE, "an event was not recorded, or was made without timing")
    put(milliseconds, 1000 * (last.at - first.at), ctypes.c_float)  # type: ignore[arg-type]
