"""Functions of the driver API about graphs as a whole: captured from streams, copied, made ready, launched.

Streams that wait for an event of a captured one take part in its capture (stream_calls.py). Functions about
single nodes are in node_calls.py.
"""

from __future__ import annotations

import ctypes
import itertools
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .. import lab
from .behind import NON_BLOCKING
from .behind import Work as BehindWork
from .calls import Address, Handle, Int, Ordinal, Size, UInt, also, call, call_anywhere, put, put_int, text_at
from .device import VirtualDevice
from .graphs import ChildGraph, Condition, Executable, Graph, Node, all_nodes, copied, graphs_within, run_all
from .launch_calls import KernelLaunch
from .results import Refusal, Result
from .stream_calls import DEFAULT_STREAMS, Event, Stream, in_turn, stream_of

_NONE, _ACTIVE, _INVALIDATED = 0, 1, 2  # CU_STREAM_CAPTURE_STATUS_*
_NODES = itertools.count(1)  # works of nodes are in streams of their own
_SET = 1  # CU_STREAM_SET_CAPTURE_DEPENDENCIES


@dataclass(eq=False)
class UserObject:
    """Something of the program's that is destroyed when nobody keeps it any more."""

    pointer: int
    destroy: int
    users: int


def handle_of_graph(device: VirtualDevice, graph: Graph) -> int:
    """The handle of a graph: the same whenever it is asked for."""
    if not graph.handle:
        graph.handle = device.add(graph)
    return graph.handle


def handle_of_node(device: VirtualDevice, node: Node) -> int:
    """Likewise, of a node."""
    if not node.handle:
        node.handle = device.add(node)
    return node.handle


def nodes_at(device: VirtualDevice, place: Address, count: int) -> list[Node]:
    """The nodes of a list of handles."""
    return [device.get(one, Node) for one in (ctypes.c_uint64 * count).from_address(place)] if count else []


# ---------------------------------------------------------------------------------------- capturing
@call
def cuStreamBeginCapture(device: VirtualDevice, stream: Handle, mode: Int) -> None:
    _begin(device, stream, Graph(), [])


def _begin(device: VirtualDevice, stream: Handle, graph: Graph, ends: list[Node]) -> None:
    known = stream_of(device, stream)
    if stream in DEFAULT_STREAMS:
        raise Refusal(Result.STREAM_CAPTURE_UNSUPPORTED, "a default stream cannot be captured")
    if known.captured is not None:
        raise Refusal(Result.ILLEGAL_STATE, "the stream is captured already")
    known.captured, known.origin, known.ends = graph, True, ends


@call
def cuStreamBeginCaptureToGraph(
    device: VirtualDevice,
    stream: Handle,
    graph: Handle,
    dependencies: Address,
    edges: Address,
    count: Size,
    mode: Int,
) -> None:
    _begin(device, stream, device.get(graph, Graph), nodes_at(device, dependencies, count))


@call
def cuStreamEndCapture(device: VirtualDevice, stream: Handle, graph: Address) -> None:
    known = stream_of(device, stream)
    if known.captured is None or not known.origin:
        raise Refusal(Result.ILLEGAL_STATE, "the capture did not begin in this stream")
    captured = known.captured
    for one in (*device.all_of(Stream), *device.all_of(Event)):
        if one.captured is captured:
            one.captured, one.ends = None, []
    known.origin = False
    if captured.invalid:
        put(graph, 0)
        raise Refusal(Result.STREAM_CAPTURE_INVALIDATED)
    put(graph, handle_of_graph(device, captured))


def _status(stream: Stream) -> int:
    """Whether a stream is captured, and can be."""
    if stream.captured is None:
        return _NONE
    return _INVALIDATED if stream.captured.invalid else _ACTIVE


@call
def cuStreamIsCapturing(device: VirtualDevice, stream: Handle, status: Address) -> None:
    put_int(status, _status(stream_of(device, stream)))


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
    known = stream_of(device, stream)
    put_int(status, _status(known))
    handles = [handle_of_node(device, node) for node in known.ends]
    if known.captured is not None:
        handle = handle_of_graph(device, known.captured)
        put(number, handle)
        put(graph, handle)
    known.keep = listed = (ctypes.c_uint64 * max(1, len(handles)))(*handles)
    put(dependencies, ctypes.addressof(listed))
    put(edges, 0)
    put(count, len(handles))


@call
def cuStreamUpdateCaptureDependencies(
    device: VirtualDevice, stream: Handle, dependencies: Address, edges: Address, count: Size, flags: UInt
) -> None:
    known = stream_of(device, stream)
    if known.captured is None:
        raise Refusal(Result.ILLEGAL_STATE, "the stream is not captured")
    given = nodes_at(device, dependencies, count)
    known.ends = given if flags & _SET else [*known.ends, *given]


# ---------------------------------------------------------------------------------------- graphs
@call
def cuGraphCreate(device: VirtualDevice, graph: Address, flags: Int) -> None:
    put(graph, handle_of_graph(device, Graph()))


@call
def cuGraphDestroy(device: VirtualDevice, graph: Handle) -> None:
    removed = device.remove(graph, Graph)
    for node in all_nodes(removed):
        if device.has(node.handle, Node):
            device.remove(node.handle, Node)
    _let_go(device, removed.objects)


@call
def cuGraphClone(device: VirtualDevice, made: Address, graph: Handle) -> None:
    clone = copied(device.get(graph, Graph), ordered=False)
    _keep(device, clone)
    put(made, handle_of_graph(device, clone))


@call
def cuGraphDebugDotPrint(device: VirtualDevice, graph: Handle, path: Address, flags: UInt) -> None:
    known = device.get(graph, Graph)
    numbers = {node: number for number, node in enumerate(known.nodes)}
    lines = [f'{number} [label="{number}: {node.work.kind.name}"];' for node, number in numbers.items()]
    lines += [f"{numbers[one]} -> {numbers[other]};" for one, other in known.edges()]
    text = "\n  ".join(["digraph graph_1 {", *lines])
    Path(text_at(path)).write_text(f"{text}\n}}\n", encoding="utf-8")


# ---------------------------------------------------------------------------------------- executables
@also("cuGraphInstantiateWithFlags")
@call
def cuGraphInstantiate(device: VirtualDevice, made: Address, graph: Handle, flags: Size) -> None:
    known = device.get(graph, Graph)
    inner = (within for node in all_nodes(known) for within in graphs_within(node))
    graphs = {known, *inner}
    conditions = tuple(one for one in device.all_of(Condition) if one.graph in graphs)
    executable = Executable(copied(known, ordered=True), flags, conditions)
    _keep(device, executable.graph)
    put(made, device.add(executable))


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
def cuGraphExecGetFlags(device: VirtualDevice, made: Handle, flags: Address) -> None:
    put(flags, device.get(made, Executable).flags)


class _Update(ctypes.Structure):
    """CUgraphExecUpdateResultInfo."""

    _fields_ = [("result", ctypes.c_int32), ("node", ctypes.c_uint64), ("from_node", ctypes.c_uint64)]


@call
def cuGraphExecUpdate(device: VirtualDevice, made: Handle, graph: Handle, info: Address) -> None:
    updated, known = device.get(made, Executable), device.get(graph, Graph)
    before = updated.graph.objects
    differs = updated.update(known)
    if info:
        said = _Update.from_address(info)
        said.result, said.node, said.from_node = 0, 0, 0
        if differs is not None:
            said.result = 2  # the topology changed
            said.node = handle_of_node(device, differs.original or differs)
    if differs is not None:
        raise Refusal(Result.GRAPH_EXEC_UPDATE_FAILURE, "the graph has not the shape of the executable one")
    _keep(device, updated.graph)
    _let_go(device, before)


@call
def cuGraphExecDestroy(device: VirtualDevice, made: Handle) -> None:
    _let_go(device, device.remove(made, Executable).graph.objects)


@call
def cuGraphUpload(device: VirtualDevice, made: Handle, stream: Handle) -> None:
    stream_of(device, stream)
    device.get(made, Executable)


@call
def cuGraphLaunch(device: VirtualDevice, made: Handle, stream: Handle) -> None:
    executable, known = device.get(made, Executable), stream_of(device, stream)
    if known.captured is not None:
        known.capture(ChildGraph(copied(executable.graph, ordered=True)))
        return

    if not lab.watched() and _has_branches(device, executable.graph):
        _put_nodes(device, stream, known.flags, executable)
        return

    def run() -> None:
        executable.reset()
        run_all(device, executable.graph.nodes)

    in_turn(device, stream, run)


def _has_branches(device: VirtualDevice, graph: Graph) -> bool:
    """Whether kernels of a graph may be worth running at once."""
    works = [node.work for node in graph.nodes if node.enabled]
    long = [work for work in works if isinstance(work, KernelLaunch) and work.leaves_cores(device)]
    return len(long) > 1 and any(
        node.after != [before] for before, node in zip(graph.nodes, graph.nodes[1:], strict=False)
    )


def _put_nodes(device: VirtualDevice, stream: int, flags: int, executable: Executable) -> None:
    """Put each node's work behind those that it comes after, and the graph's end behind all of them."""
    behind, works = device.behind, dict[Node, BehindWork]()
    begin = behind.put(stream, flags, executable.reset)
    for node in executable.graph.nodes:
        do = partial(node.work.run, device) if node.enabled else _nothing
        after = tuple(works[one] for one in node.after) or (begin,)
        works[node] = behind.put(-next(_NODES), NON_BLOCKING, do, after=after)
    behind.put(stream, flags, _nothing, after=tuple(works.values()))


def _nothing() -> None:
    """What is left of a node that is switched off, and of a graph's end."""


# ---------------------------------------------------------------------------------------- their memory
@call
def cuDeviceGraphMemTrim(device: VirtualDevice, number: Ordinal) -> None:
    """A graph's memory is the device's."""


@call
def cuDeviceGetGraphMemAttribute(
    device: VirtualDevice, number: Ordinal, attribute: Int, value: Address
) -> None:
    put(value, 0)


@call
def cuDeviceSetGraphMemAttribute(
    device: VirtualDevice, number: Ordinal, attribute: Int, value: Address
) -> None:
    """What can be set is a high-water mark, to 0."""


# ---------------------------------------------------------------------------------------- objects
_DESTROY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_MOVE = 1  # CU_GRAPH_USER_OBJECT_MOVE


def _keep(device: VirtualDevice, graph: Graph) -> None:
    for number, count in graph.objects.items():
        device.get(number, UserObject).users += count


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
