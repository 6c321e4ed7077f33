"""Functions of the driver API about streams and events.

Most work ends before the call that asks for it returns, which is one of the orders that streams allow; what
does not, and all that comes after it, is behind (behind.py). An event is the time at which it was recorded.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .. import lab
from .behind import Work as BehindWork
from .calls import Address, Function, Handle, Int, IpcHandle, UInt, call, put, put_int, still
from .device import VirtualDevice
from .graphs import Call, Graph, Kind, Node, Work
from .results import Refusal, Result

DEFAULT_STREAMS = (0, 1, 2)  # the default, legacy and per-thread streams
_NO_TIMING = 2  # CU_EVENT_DISABLE_TIMING
_EXTERNAL = 1  # CU_EVENT_RECORD_EXTERNAL
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
_HOST_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@dataclass(eq=False)
class Stream:
    """A stream of the program's."""

    flags: int = 0
    priority: int = 0
    captured: Graph | None = None  # where its work goes while it is captured
    origin: bool = False  # the capture began here
    ends: list[Node] = field(default_factory=list)  # what its next node comes after
    attributes: dict[int, bytes] = field(default_factory=dict)
    keep: object = None  # what the program was given pointers to

    def capture(self, work: Work) -> None:
        """Put work into the graph that captures it. Raises Refusal once the capture is invalid."""
        assert self.captured is not None, "the caller has asked"
        if self.captured.invalid:
            raise Refusal(Result.STREAM_CAPTURE_INVALIDATED)
        node = self.captured.add(Node(work, list(self.ends)))
        self.ends = [node]


@dataclass(eq=False)
class Event:
    """An event; `at` is when it was recorded last, in seconds, or it is `captured` with a graph's work.

    It is `awaited` while its record, a work, is behind other work of its stream.
    """

    flags: int
    at: float | None = None
    record: BehindWork | None = None
    captured: Graph | None = None
    ends: list[Node] = field(default_factory=list)  # what comes before it in that graph

    @property
    def awaited(self) -> bool:
        """Whether it has yet to come."""
        return self.record is not None and not self.record.ended.is_set()


def stream_of(device: VirtualDevice, handle: Handle) -> Stream:
    """The stream of a handle; the default streams need none."""
    return Stream() if handle in DEFAULT_STREAMS else device.get(handle, Stream)


# Arguments of a copy that is made later, of the device and as the program gave them; None if it cannot be.
Staged = Callable[[VirtualDevice, tuple[int, ...]], "tuple[int, ...] | None"]


# Whether a copy takes so long that it is worth a thread of its own, by its arguments.
Long = Callable[[tuple[int, ...]], bool]


def captured(
    function: Function, kind: Kind = Kind.EMPTY, staged: Staged | None = None, long: Long | None = None
) -> Function:
    """Let the work of a function with a parameter `stream` wait for a graph's launch if it is captured.

    It also waits for what its stream has yet to do, with the arguments that `staged` gives. What is `long` is
    done while the host goes on.
    """
    position = list(inspect.signature(function).parameters).index("stream") - 1

    @functools.wraps(function)
    def called(device: VirtualDevice, *arguments: Any) -> None:
        handle = arguments[position]
        stream = stream_of(device, handle)
        later = (*arguments[:position], 0, *arguments[position + 1 :])
        if stream.captured is not None:
            stream.capture(Call(kind, lambda device: function(device, *later), later))
        elif not device.behind.holds(handle, stream.flags) and (
            long is None or handle in DEFAULT_STREAMS or lab.watched() or not long(arguments)
        ):
            function(device, *arguments)
        elif (kept := later if staged is None else staged(device, later)) is None:
            device.behind.settle_stream(handle, stream.flags)
            device.check_health()
            function(device, *arguments)
        else:
            device.behind.put(handle, stream.flags, lambda: function(device, *kept))

    return called


def and_async(function: Function, staged: Staged | None = None, long: Long | None = None) -> Function:
    """Register a function's twin `...Async` beside it: the same, in a stream, which is the last parameter."""

    def in_stream(device: VirtualDevice, *arguments: Any) -> None:
        function(device, *arguments[:-1])

    signature = inspect.signature(function)
    stream = inspect.Parameter("stream", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="Handle")
    in_stream.__name__ = f"{function.__name__}Async"
    in_stream.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*signature.parameters.values(), stream]
    )
    kind = Kind.MEMSET if "Memset" in in_stream.__name__ else Kind.MEMCPY
    still(call(captured(in_stream, kind, staged, long)))
    return function


def in_turn(
    device: VirtualDevice, stream: Handle, work: Callable[[], None], *, always: bool = False
) -> BehindWork | None:
    """Do work of a stream now, or behind what the stream has yet to do: then this is returned.

    With `always` it is done even if a kernel in front of it fails.
    """
    flags = stream_of(device, stream).flags
    if device.behind.holds(stream, flags):
        return device.behind.put(stream, flags, work, always=always)
    work()
    return None


def not_captured(device: VirtualDevice, handle: Handle) -> None:
    """Raise Refusal for what cannot be captured if this stream is; the capture is invalid from now on."""
    graph = stream_of(device, handle).captured
    if graph is not None:
        graph.invalid = True
        raise Refusal(Result.STREAM_CAPTURE_UNSUPPORTED, "this cannot be captured into a graph")


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
    not_captured(device, stream)
    flags = stream_of(device, stream).flags
    if device.behind.holds(stream, flags):
        device.behind.settle_stream(stream, flags)
        device.check_health()


@still
@call
def cuStreamQuery(device: VirtualDevice, stream: Handle) -> None:
    not_captured(device, stream)
    if device.behind.holds(stream, stream_of(device, stream).flags):
        raise Refusal(Result.NOT_READY)


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
def cuStreamWaitEvent(device: VirtualDevice, stream: Handle, event: Handle, flags: UInt) -> None:
    waiting, awaited = stream_of(device, stream), device.get(event, Event)
    if awaited.captured is not None:
        waiting.captured = awaited.captured
        waiting.ends += [node for node in awaited.ends if node not in waiting.ends]
        return
    record = awaited.record if awaited.awaited else None
    # In the default stream this waits for other streams, and they for it, even if the event has come.
    if record is not None or (stream in DEFAULT_STREAMS and device.behind.holds(stream, waiting.flags)):
        device.behind.put(stream, waiting.flags, lambda: None, after=(record,) if record is not None else ())


@still
@call
def cuStreamAddCallback(
    device: VirtualDevice, stream: Handle, function: Address, data: Address, flags: UInt
) -> None:
    not_captured(device, stream)
    in_turn(device, stream, lambda: _CALLBACK(function)(stream, device.sticky or 0, data), always=True)


@still
@call
def cuLaunchHostFunc(device: VirtualDevice, stream: Handle, function: Address, data: Address) -> None:
    known, work = stream_of(device, stream), HostCall(function, data)
    if known.captured is None:
        in_turn(device, stream, lambda: work.run(device))
    else:
        known.capture(work)


@dataclass(frozen=True, slots=True)
class HostCall:
    """The work of a function of the host."""

    function: int
    data: int

    @property
    def kind(self) -> Kind:
        """The type of its node."""
        return Kind.HOST

    def run(self, device: VirtualDevice) -> None:
        """Call the function."""
        _HOST_FUNCTION(self.function)(self.data)


@call
def cuStreamAttachMemAsync(
    device: VirtualDevice, stream: Handle, address: Address, size: Address, flags: UInt
) -> None:
    stream_of(device, stream)


# ---------------------------------------------------------------------------------------- events
@call
def cuIpcGetEventHandle(device: VirtualDevice, handle: Address, event: Handle) -> None:
    device.get(event, Event)
    ctypes.memset(handle, 0, ctypes.sizeof(IpcHandle))


@call
def cuIpcOpenEventHandle(device: VirtualDevice, event: Address, handle: IpcHandle) -> None:
    """Work of another process has ended before it can say so: its event has come."""
    put(event, device.add(Event(_NO_TIMING, time.perf_counter())))


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
    known = device.get(event, Event)
    recorded = stream_of(device, stream)
    known.captured, known.ends = recorded.captured, list(recorded.ends)
    known.at = None
    if known.captured is None:
        known.record = in_turn(device, stream, lambda: _come(known))


def _come(event: Event) -> None:
    event.at = time.perf_counter()


@still
@call
def cuEventRecordWithFlags(device: VirtualDevice, event: Handle, stream: Handle, flags: UInt) -> None:
    known = stream_of(device, stream)
    if flags & _EXTERNAL and known.captured is not None:
        known.capture(record_of(device, event))
    else:
        cuEventRecord(device, event, stream)


def record_of(device: VirtualDevice, event: Handle) -> Call:
    """The work of a node that records an event."""
    known = device.get(event, Event)

    def record(_: VirtualDevice) -> None:
        known.at = time.perf_counter()

    return Call(Kind.EVENT_RECORD, record, event)


@still
@call
def cuEventSynchronize(device: VirtualDevice, event: Handle) -> None:
    known = device.get(event, Event)
    if known.record is not None and known.awaited:
        device.behind.settle_work(known.record)
        device.check_health()


@still
@call
def cuEventQuery(device: VirtualDevice, event: Handle) -> None:
    if device.get(event, Event).awaited:
        raise Refusal(Result.NOT_READY)


@still
@call
def cuEventElapsedTime(device: VirtualDevice, milliseconds: Address, start: Handle, end: Handle) -> None:
    first, last = device.get(start, Event), device.get(end, Event)
    if first.awaited or last.awaited:
        raise Refusal(Result.NOT_READY)
    if first.at is None or last.at is None or (first.flags | last.flags) & _NO_TIMING:
        raise Refusal(Result.INVALID_HANDLE, "an event was not recorded, or was made without timing")
    put(milliseconds, 1000 * (last.at - first.at), ctypes.c_float)  # type: ignore[arg-type]
