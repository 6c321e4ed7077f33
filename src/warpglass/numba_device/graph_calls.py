"""Functions of the driver API about graphs: work of streams that is captured, to be done later and again.

Work is captured in the order in which the program asks for it, which is one of the orders that the graph's
dependencies allow; streams that wait for an event of a captured one take part (stream_calls.py). A graph's
nodes cannot be looked at, changed or made one by one.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from dataclasses import dataclass

from .calls import Address, Handle, Int, Size, UInt, also, call, call_anywhere, put, put_int
from .device import VirtualDevice
from .results import Refusal, Result
from .stream_calls import DEFAULT_STREAMS, Event, Graph, Stream, Work, stream_of

_ACTIVE = 1  # CU_STREAM_CAPTURE_STATUS_ACTIVE


@dataclass(eq=False)
class Executable:
    """A graph that can be launched; it does not change with the graph, and keeps the same objects."""

    work: tuple[Work, ...]
    objects: Counter[int]


@dataclass(eq=False)
class UserObject:
    """Something of the program's that is destroyed when nobody keeps it any more."""

    pointer: int
    destroy: int
    users: int


def _new_graph(device: VirtualDevice) -> Graph:
    graph = Graph()
    graph.handle = device.add(graph)
    return graph


# ---------------------------------------------------------------------------------------- capturing
@call
def cuStreamBeginCapture(device: VirtualDevice, stream: Handle, mode: Int) -> None:
    known = stream_of(device, stream)
    if stream in DEFAULT_STREAMS:
        raise Refusal(Result.STREAM_CAPTURE_UNSUPPORTED, "a default stream cannot be captured")
    if known.captured is not None:
        raise Refusal(Result.ILLEGAL_STATE, "the stream is captured already")
    known.captured, known.origin = _new_graph(device), True


@call
def cuStreamEndCapture(device: VirtualDevice, stream: Handle, graph: Address) -> None:
    known = stream_of(device, stream)
    if known.captured is None or not known.origin:
        raise Refusal(Result.ILLEGAL_STATE, "the capture did not begin in this stream")
    captured = known.captured
    for one in (*device.all_of(Stream), *device.all_of(Event)):
        if one.captured is captured:
            one.captured = None
    known.origin = False
    put(graph, captured.handle)


@call
def cuStreamIsCapturing(device: VirtualDevice, stream: Handle, status: Address) -> None:
    put_int(status, 0 if stream_of(device, stream).captured is None else _ACTIVE)


@call
def cuStreamGetCaptureInfo(
    device: VirtualDevice,
    stream: Handle,
    status: Address,
    number: Address,
    graph: Address,
    dependencies: Address,
    edges: Address,
    count: Address,
) -> None:
    captured = stream_of(device, stream).captured
    put_int(status, 0 if captured is None else _ACTIVE)
    if captured is not None:
        put(number, captured.handle)
        put(graph, captured.handle)
    for place in (dependencies, edges, count):
        put(place, 0)


# ---------------------------------------------------------------------------------------- graphs
@call
def cuGraphCreate(device: VirtualDevice, graph: Address, flags: Int) -> None:
    put(graph, _new_graph(device).handle)


@call
def cuGraphDestroy(device: VirtualDevice, graph: Handle) -> None:
    _let_go(device, device.remove(graph, Graph).objects)


@call
def cuGraphGetNodes(device: VirtualDevice, graph: Handle, nodes: Address, count: Address) -> None:
    if nodes:
        raise Refusal(Result.NOT_SUPPORTED, "the nodes of a graph cannot be looked at")
    put(count, len(device.get(graph, Graph).work))


@also("cuGraphInstantiateWithFlags")
@call
def cuGraphInstantiate(device: VirtualDevice, made: Address, graph: Handle, flags: Size) -> None:
    known = device.get(graph, Graph)
    for number, count in known.objects.items():
        device.get(number, UserObject).users += count
    put(made, device.add(Executable(tuple(known.work), Counter(known.objects))))


class _Parameters(ctypes.Structure):
    """CUDA_GRAPH_INSTANTIATE_PARAMS."""

    _fields_ = [
        ("flags", ctypes.c_uint64),
        ("stream", ctypes.c_uint64),
        ("node", ctypes.c_uint64),
        ("result", ctypes.c_int32),
    ]


@call
def cuGraphInstantiateWithParams(
    device: VirtualDevice, made: Address, graph: Handle, parameters: Address
) -> None:
    given = _Parameters.from_address(parameters)
    cuGraphInstantiate(device, made, graph, given.flags)
    given.node, given.result = 0, 0


@call
def cuGraphExecUpdate(device: VirtualDevice, made: Handle, graph: Handle, info: Address) -> None:
    updated, known = device.get(made, Executable), device.get(graph, Graph)
    for number, count in known.objects.items():
        device.get(number, UserObject).users += count
    before = updated.objects
    updated.work, updated.objects = tuple(known.work), Counter(known.objects)
    _let_go(device, before)
    put_int(info, 0)  # CU_GRAPH_EXEC_UPDATE_SUCCESS


@call
def cuGraphExecDestroy(device: VirtualDevice, made: Handle) -> None:
    _let_go(device, device.remove(made, Executable).objects)


@call
def cuGraphUpload(device: VirtualDevice, made: Handle, stream: Handle) -> None:
    stream_of(device, stream)
    device.get(made, Executable)


@call
def cuGraphLaunch(device: VirtualDevice, made: Handle, stream: Handle) -> None:
    work = device.get(made, Executable).work
    captured = stream_of(device, stream).captured
    if captured is not None:
        captured.work.extend(work)
        return
    for one in work:
        device.check()  # a kernel that failed has ended the rest
        one()


# ---------------------------------------------------------------------------------------- objects
_DESTROY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_MOVE = 1  # CU_GRAPH_USER_OBJECT_MOVE


def _let_go(device: VirtualDevice, objects: Counter[int]) -> None:
    for number, count in (+objects).items():
        cuUserObjectRelease(device, number, count)


@call_anywhere
def cuUserObjectCreate(
    device: VirtualDevice, made: Address, pointer: Address, destroy: Address, users: UInt, flags: UInt
) -> None:
    put(made, device.add(UserObject(pointer, destroy, users)))


@call_anywhere
def cuUserObjectRetain(device: VirtualDevice, number: Handle, count: UInt) -> None:
    device.get(number, UserObject).users += count


@call_anywhere
def cuUserObjectRelease(device: VirtualDevice, number: Handle, count: UInt) -> None:
    known = device.get(number, UserObject)
    known.users -= count
    if known.users <= 0:
        device.remove(number, UserObject)
        _DESTROY(known.destroy)(known.pointer)


@call_anywhere
def cuGraphRetainUserObject(
    device: VirtualDevice, graph: Handle, number: Handle, count: UInt, flags: UInt
) -> None:
    known = device.get(graph, Graph)
    device.get(number, UserObject).users += 0 if flags & _MOVE else count
    known.objects[number] += count


@call_anywhere
def cuGraphReleaseUserObject(device: VirtualDevice, graph: Handle, number: Handle, count: UInt) -> None:
    device.get(graph, Graph).objects[number] -= count
    cuUserObjectRelease(device, number, count)
