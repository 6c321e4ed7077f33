"""Functions of the driver API about the nodes of graphs: made by hand, connected, looked at, changed.

Belongs here: what needs no more than handles. Parameters of nodes are in node_parameter_calls.py.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from .calls import Address, Handle, Size, UInt, call, put, put_int
from .device import VirtualDevice
from .graph_calls import handle_of_graph, handle_of_node, nodes_at
from .graphs import Call, ChildGraph, Executable, Graph, Kind, Node, Work, copied
from .results import Refusal, Result
from .stream_calls import Event, record_of


def add_node(
    device: VirtualDevice, place: Address, graph: int, dependencies: Address, count: int, work: Work
) -> Node:
    """Put a node into a graph, after others, and its handle where the program wants it. Raises Refusal."""
    known = device.get(graph, Graph)
    after = nodes_at(device, dependencies, count)
    for one in after:
        if one not in known.nodes:
            raise Refusal(Result.INVALID_VALUE, "a node cannot depend on one of another graph")
    node = known.add(Node(work, after))
    put(place, handle_of_node(device, node))
    return node


def node_of(device: VirtualDevice, handle: int, kind: Kind) -> Node:
    """The node of a handle; Refusal if it is of another kind."""
    node = device.get(handle, Node)
    if node.work.kind != kind:
        raise Refusal(Result.INVALID_VALUE, f"the node is no {kind.name.lower()} node")
    return node


def node_within(device: VirtualDevice, made: int, handle: int, kind: Kind) -> Node:
    """The copy of a node in an executable graph. Raises Refusal."""
    return device.get(made, Executable).node_of(node_of(device, handle, kind))


# ---------------------------------------------------------------------------------------- making
@call
def cuGraphAddEmptyNode(
    device: VirtualDevice, node: Address, graph: Handle, dependencies: Address, count: Size
) -> None:
    add_node(device, node, graph, dependencies, count, Call(Kind.EMPTY, lambda device: None))


@call
def cuGraphAddChildGraphNode(
    device: VirtualDevice, node: Address, graph: Handle, dependencies: Address, count: Size, child: Handle
) -> None:
    work = ChildGraph(copied(device.get(child, Graph), ordered=False))
    add_node(device, node, graph, dependencies, count, work)


@call
def cuGraphChildGraphNodeGetGraph(device: VirtualDevice, node: Handle, child: Address) -> None:
    work = node_of(device, node, Kind.GRAPH).work
    assert isinstance(work, ChildGraph), "its kind says so"
    put(child, handle_of_graph(device, work.graph))


@call
def cuGraphExecChildGraphNodeSetParams(
    device: VirtualDevice, made: Handle, node: Handle, child: Handle
) -> None:
    inside = node_within(device, made, node, Kind.GRAPH)
    inside.work = ChildGraph(copied(device.get(child, Graph), ordered=True))


@call
def cuGraphAddEventRecordNode(
    device: VirtualDevice, node: Address, graph: Handle, dependencies: Address, count: Size, event: Handle
) -> None:
    add_node(device, node, graph, dependencies, count, record_of(device, event))


def waiting_for(device: VirtualDevice, event: int) -> Call:
    """The work of a node that waits for an event: it has come, as all work has."""
    device.get(event, Event)
    return Call(Kind.WAIT_EVENT, lambda device: None, event)


@call
def cuGraphAddEventWaitNode(
    device: VirtualDevice, node: Address, graph: Handle, dependencies: Address, count: Size, event: Handle
) -> None:
    add_node(device, node, graph, dependencies, count, waiting_for(device, event))


def _event(node: Node) -> int:
    assert isinstance(node.work, Call), "its kind says so"
    assert isinstance(node.work.said, int), "an event's handle"
    return node.work.said


@call
def cuGraphEventRecordNodeGetEvent(device: VirtualDevice, node: Handle, event: Address) -> None:
    put(event, _event(node_of(device, node, Kind.EVENT_RECORD)))


@call
def cuGraphEventWaitNodeGetEvent(device: VirtualDevice, node: Handle, event: Address) -> None:
    put(event, _event(node_of(device, node, Kind.WAIT_EVENT)))


@call
def cuGraphEventRecordNodeSetEvent(device: VirtualDevice, node: Handle, event: Handle) -> None:
    node_of(device, node, Kind.EVENT_RECORD).work = record_of(device, event)


@call
def cuGraphEventWaitNodeSetEvent(device: VirtualDevice, node: Handle, event: Handle) -> None:
    node_of(device, node, Kind.WAIT_EVENT).work = waiting_for(device, event)


@call
def cuGraphExecEventRecordNodeSetEvent(
    device: VirtualDevice, made: Handle, node: Handle, event: Handle
) -> None:
    node_within(device, made, node, Kind.EVENT_RECORD).work = record_of(device, event)


@call
def cuGraphExecEventWaitNodeSetEvent(
    device: VirtualDevice, made: Handle, node: Handle, event: Handle
) -> None:
    node_within(device, made, node, Kind.WAIT_EVENT).work = waiting_for(device, event)


@call
def cuGraphDestroyNode(device: VirtualDevice, node: Handle) -> None:
    removed = device.remove(node, Node)
    for graph in device.all_of(Graph):
        if removed in graph.nodes:
            graph.nodes.remove(removed)
            for other in graph.nodes:
                other.after = [one for one in other.after if one is not removed]


# ---------------------------------------------------------------------------------------- looking
def _list(place: Address, count: Address, handles: Sequence[int]) -> None:
    """Write handles where the program has room for `count`, and how many there are."""
    if place:
        room = ctypes.c_uint64.from_address(count).value
        for position in range(room):
            put(place + 8 * position, handles[position] if position < len(handles) else 0)
        put(count, min(room, len(handles)))
    else:
        put(count, len(handles))


def _list_nodes(device: VirtualDevice, place: Address, count: Address, nodes: Sequence[Node]) -> None:
    _list(place, count, [handle_of_node(device, node) for node in nodes])


@call
def cuGraphGetNodes(device: VirtualDevice, graph: Handle, nodes: Address, count: Address) -> None:
    _list_nodes(device, nodes, count, device.get(graph, Graph).nodes)


@call
def cuGraphGetRootNodes(device: VirtualDevice, graph: Handle, nodes: Address, count: Address) -> None:
    roots = [node for node in device.get(graph, Graph).nodes if not node.after]
    _list_nodes(device, nodes, count, roots)


@call
def cuGraphGetEdges(
    device: VirtualDevice, graph: Handle, of: Address, to: Address, data: Address, count: Address
) -> None:
    edges = device.get(graph, Graph).edges()
    room = ctypes.c_uint64.from_address(count).value
    for place, side in ((of, 0), (to, 1)):
        put(count, room)
        _list_nodes(device, place, count, [edge[side] for edge in edges])
    if data:
        ctypes.memset(data, 0, 8 * room)


@call
def cuGraphNodeGetDependencies(
    device: VirtualDevice, node: Handle, nodes: Address, data: Address, count: Address
) -> None:
    _list_nodes(device, nodes, count, device.get(node, Node).after)


@call
def cuGraphNodeGetDependentNodes(
    device: VirtualDevice, node: Handle, nodes: Address, data: Address, count: Address
) -> None:
    known = device.get(node, Node)
    graph = next((one for one in device.all_of(Graph) if known in one.nodes), None)
    dependent = [] if graph is None else [other for one, other in graph.edges() if one is known]
    _list_nodes(device, nodes, count, dependent)


@call
def cuGraphNodeGetType(device: VirtualDevice, node: Handle, kind: Address) -> None:
    put_int(kind, device.get(node, Node).work.kind)


@call
def cuGraphNodeFindInClone(device: VirtualDevice, found: Address, original: Handle, clone: Handle) -> None:
    wanted = device.get(original, Node)
    for node in device.get(clone, Graph).nodes:
        if node.original is wanted:
            put(found, handle_of_node(device, node))
            return
    raise Refusal(Result.INVALID_VALUE, "the graph is no clone of the node's")


# ---------------------------------------------------------------------------------------- changing
@call
def cuGraphAddDependencies(
    device: VirtualDevice, graph: Handle, of: Address, to: Address, data: Address, count: Size
) -> None:
    known = device.get(graph, Graph)
    for before, node in zip(nodes_at(device, of, count), nodes_at(device, to, count), strict=True):
        if before in node.after or not {before, node} <= set(known.nodes):
            raise Refusal(Result.INVALID_VALUE, "the dependency is there, or its nodes are not")
        node.after.append(before)


@call
def cuGraphRemoveDependencies(
    device: VirtualDevice, graph: Handle, of: Address, to: Address, data: Address, count: Size
) -> None:
    device.get(graph, Graph)
    for before, node in zip(nodes_at(device, of, count), nodes_at(device, to, count), strict=True):
        if before not in node.after:
            raise Refusal(Result.INVALID_VALUE, "there is no such dependency")
        node.after.remove(before)


@call
def cuGraphNodeSetEnabled(device: VirtualDevice, made: Handle, node: Handle, enabled: UInt) -> None:
    device.get(made, Executable).node_of(device.get(node, Node)).enabled = bool(enabled)


@call
def cuGraphNodeGetEnabled(device: VirtualDevice, made: Handle, node: Handle, enabled: Address) -> None:
    put_int(enabled, device.get(made, Executable).node_of(device.get(node, Node)).enabled)
