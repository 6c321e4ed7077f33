"""Graphs of the virtual device: nodes with what each does and what it comes after, and what is made of them.

A node's work is a record with a `run`. Work that streams capture becomes nodes in the order in which the
program asks for it; nodes made by hand are done in an order that their dependencies allow. An executable has
copies of a graph's nodes, whose work can be changed apart from the graph's.
"""

from __future__ import annotations

import ctypes
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import TYPE_CHECKING, Protocol

from .results import Refusal, Result

if TYPE_CHECKING:
    from .device import VirtualDevice


class Kind(IntEnum):
    """CUgraphNodeType."""

    KERNEL = 0
    MEMCPY = 1
    MEMSET = 2
    HOST = 3
    GRAPH = 4
    EMPTY = 5
    WAIT_EVENT = 6
    EVENT_RECORD = 7
    MEM_ALLOC = 10
    MEM_FREE = 11
    CONDITIONAL = 13


class Work(Protocol):
    """What a node does: a record that does not change."""

    @property
    def kind(self) -> Kind:
        """The type of its node."""
        ...

    def run(self, device: VirtualDevice) -> None:
        """Do it. Raises Refusal."""
        ...


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the driver's that a stream has captured, or that has no parameters to ask for."""

    kind: Kind
    function: Callable[[VirtualDevice], None]
    said: object = None  # what the program gave, for those that can be asked

    def run(self, device: VirtualDevice) -> None:
        """Make the call."""
        self.function(device)


@dataclass(eq=False)
class Node:
    """A node; `after` are the nodes that it depends on, `original` what it is a copy of."""

    work: Work
    after: list[Node] = field(default_factory=list)
    handle: int = 0
    original: Node | None = None
    enabled: bool = True
    attributes: dict[int, bytes] = field(default_factory=dict)
    keep: object = None  # what the program was given pointers to


@dataclass(eq=False)
class Graph:
    """A graph; its handle is the program's name for it."""

    nodes: list[Node] = field(default_factory=list)
    handle: int = 0
    objects: Counter[int] = field(default_factory=Counter)  # of the program's that it keeps, how often each
    original: Graph | None = None
    invalid: bool = False  # what cannot be captured was asked for while it was captured

    def add(self, node: Node) -> Node:
        """Put a node into the graph."""
        self.nodes.append(node)
        return node

    def edges(self) -> list[tuple[Node, Node]]:
        """All dependencies: what comes first, and what comes after it."""
        return [(before, node) for node in self.nodes for before in node.after]

    def ordered(self) -> list[Node]:
        """The nodes in an order that their dependencies allow. Raises Refusal for a cycle."""
        found: dict[Node, None] = {}
        waiting = list(self.nodes)
        while waiting:
            ready = [node for node in waiting if all(one in found for one in node.after)]
            if not ready:
                raise Refusal(Result.INVALID_VALUE, "the nodes of the graph depend on each other in a circle")
            found.update(dict.fromkeys(ready))
            waiting = [node for node in waiting if node not in found]
        return list(found)


@dataclass(frozen=True, slots=True)
class ChildGraph:
    """The work of a whole graph."""

    graph: Graph

    @property
    def kind(self) -> Kind:
        """The type of its node."""
        return Kind.GRAPH

    def run(self, device: VirtualDevice) -> None:
        """Do all work of the graph."""
        run_all(device, self.graph.nodes)


@dataclass(eq=False)
class Condition:
    """A value that kernels set, which conditional nodes ask for; `default` is what a launch begins with.

    It lies in memory that the host reaches; its address is the program's handle.
    """

    graph: Graph
    address: int
    default: int | None
    keep: object = None  # what the program was given pointers to

    @property
    def value(self) -> int:
        """What it is now."""
        return ctypes.c_uint32.from_address(self.address).value

    def reset(self) -> None:
        """Make it what a launch begins with."""
        if self.default is not None:
            ctypes.c_uint32.from_address(self.address).value = self.default


@dataclass(frozen=True, slots=True)
class Conditional:
    """Work that is done while, or if, a value of the device's is not 0; or one of several graphs by it."""

    condition: Condition
    type: int  # CUgraphConditionalNodeType: 0 if, 1 while, 2 switch
    graphs: tuple[Graph, ...]

    @property
    def kind(self) -> Kind:
        """The type of its node."""
        return Kind.CONDITIONAL

    def run(self, device: VirtualDevice) -> None:
        """Do what the value asks for."""
        value = self.condition.value
        if self.type == 1:
            while self.condition.value:
                run_all(device, self.graphs[0].nodes)
        elif self.type == 0:
            chosen = 0 if value else 1
            if chosen < len(self.graphs):
                run_all(device, self.graphs[chosen].nodes)
        elif value < len(self.graphs):
            run_all(device, self.graphs[value].nodes)


def run_all(device: VirtualDevice, nodes: Iterable[Node]) -> None:
    """Do the work of nodes in their order."""
    for node in nodes:
        if node.enabled:
            device.check_health()  # a kernel that failed has ended the rest
            node.work.run(device)


def copied(graph: Graph, *, ordered: bool) -> Graph:
    """A copy of a graph with those of its nodes; graphs within it are copied as well."""
    nodes = graph.ordered() if ordered else graph.nodes
    copies = {node: Node(_copied_work(node.work, ordered), [], 0, node, node.enabled) for node in nodes}
    for node, copy in copies.items():
        copy.after = [copies[one] for one in node.after]
    return Graph(list(copies.values()), objects=Counter(graph.objects), original=graph)


def _copied_work(work: Work, ordered: bool) -> Work:
    if isinstance(work, ChildGraph):
        return ChildGraph(copied(work.graph, ordered=ordered))
    if isinstance(work, Conditional):
        return replace(work, graphs=tuple(copied(one, ordered=ordered) for one in work.graphs))
    return work


def all_nodes(graph: Graph) -> Iterator[Node]:
    """The nodes of a graph and of the graphs within it."""
    for node in graph.nodes:
        yield node
        for inner in graphs_within(node):
            yield from all_nodes(inner)


def graphs_within(node: Node) -> Sequence[Graph]:
    """The graphs that a node does."""
    if isinstance(node.work, ChildGraph):
        return (node.work.graph,)
    return node.work.graphs if isinstance(node.work, Conditional) else ()


@dataclass(eq=False)
class Executable:
    """A graph that can be launched; it does not change with the graph, and keeps the same objects."""

    graph: Graph
    flags: int = 0
    conditions: tuple[Condition, ...] = ()

    def reset(self) -> None:
        """Make its conditions what a launch begins with."""
        for condition in self.conditions:
            condition.reset()

    def node_of(self, original: Node) -> Node:
        """Its copy of a graph's node. Raises Refusal."""
        for node in all_nodes(self.graph):
            if node.original is original:
                return node
        raise Refusal(Result.INVALID_VALUE, "the executable graph was not made of this node's graph")

    def update(self, graph: Graph) -> Node | None:
        """Take over the work of a graph of the same shape; returns the first node that differs, if any.

        Nodes that are switched off stay so, as on an H200.
        """
        new = copied(graph, ordered=True)
        for mine, other in itertools.zip_longest(all_nodes(self.graph), all_nodes(new)):
            if mine is None or other is None or mine.work.kind != other.work.kind:
                return other or mine
            if len(mine.after) != len(other.after):
                return other
        for mine, other in zip(all_nodes(self.graph), all_nodes(new), strict=True):
            other.enabled = mine.enabled
        self.graph = new
        return None
