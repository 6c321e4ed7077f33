"""Functions of the driver API about nodes with parameters: kernels, fills, functions, memory, conditions."""

from __future__ import annotations

import ctypes

from .calls import CALLS, Address, Device, Handle, Size, UInt, call, put
from .device import VirtualDevice
from .graph_calls import handle_of_graph
from .graphs import Condition, Conditional, Graph, Kind
from .memory_nodes import Allocation, Freeing
from .node_calls import add_node, node_of
from .node_forms import FILL, HOST, KERNEL, register
from .results import Refusal, Result

_ASSIGN_DEFAULT = 1  # CU_GRAPH_COND_ASSIGN_DEFAULT

register(CALLS, "cu", "Kernel", KERNEL, lambda device: device, context=False)
register(CALLS, "cu", "Memset", FILL, lambda device: device, context=True)
register(CALLS, "cu", "Host", HOST, lambda device: device, context=False)


class AllocationParameters(ctypes.Structure):
    """CUDA_MEM_ALLOC_NODE_PARAMS, whose first members describe a pool."""

    _fields_ = [
        ("pool", ctypes.c_ubyte * 88),
        ("descriptions", ctypes.c_uint64),
        ("count", ctypes.c_size_t),
        ("size", ctypes.c_size_t),
        ("address", ctypes.c_uint64),
    ]


def read_allocation(device: VirtualDevice, place: Address) -> Allocation:
    """The memory that a node allocates; its address is written to the parameters."""
    given = AllocationParameters.from_address(place)
    work = Allocation(device.memory.allocate(given.size))
    given.address = work.block.base
    return work


@call
def cuGraphAddMemAllocNode(
    device: VirtualDevice, node: Address, graph: Handle, dependencies: Address, count: Size, given: Address
) -> None:
    add_node(device, node, graph, dependencies, count, read_allocation(device, given))


@call
def cuGraphMemAllocNodeGetParams(device: VirtualDevice, node: Handle, given: Address) -> None:
    work = node_of(device, node, Kind.MEM_ALLOC).work
    assert isinstance(work, Allocation), "its kind says so"
    ctypes.memset(given, 0, ctypes.sizeof(AllocationParameters))
    found = AllocationParameters.from_address(given)
    found.size, found.address = work.block.size, work.block.base


@call
def cuGraphAddMemFreeNode(
    device: VirtualDevice, node: Address, graph: Handle, dependencies: Address, count: Size, address: Device
) -> None:
    add_node(device, node, graph, dependencies, count, Freeing(address))


@call
def cuGraphMemFreeNodeGetParams(device: VirtualDevice, node: Handle, address: Address) -> None:
    work = node_of(device, node, Kind.MEM_FREE).work
    assert isinstance(work, Freeing), "its kind says so"
    put(address, work.address)


# ---------------------------------------------------------------------------------------- conditions
@call
def cuGraphConditionalHandleCreate(
    device: VirtualDevice, handle: Address, graph: Handle, context: Handle, default: UInt, flags: UInt
) -> None:
    known = device.get(graph, Graph)
    address = device.memory.allocate(4, "managed").base
    condition = Condition(known, address, default if flags & _ASSIGN_DEFAULT else None)
    device.add(condition)
    put(handle, address)


class ConditionalParameters(ctypes.Structure):
    """CUDA_CONDITIONAL_NODE_PARAMS."""

    _fields_ = [
        ("handle", ctypes.c_uint64),
        ("type", ctypes.c_int32),
        ("size", ctypes.c_uint32),
        ("graphs", ctypes.c_uint64),
    ]


def read_conditional(device: VirtualDevice, place: Address) -> Conditional:
    """The condition of a node; the program gets its graphs, which are empty."""
    given = ConditionalParameters.from_address(place)
    condition = next((one for one in device.all_of(Condition) if one.address == given.handle), None)
    most = {0: 2, 1: 1}.get(given.type)
    if condition is None or given.type not in (0, 1, 2) or not 0 < given.size <= (most or given.size):
        text = f"a conditional node of type {given.type}, {given.size} graphs and handle {given.handle:#x}"
        raise Refusal(Result.INVALID_VALUE, text)
    graphs = tuple(Graph() for _ in range(given.size))
    work = Conditional(condition, given.type, graphs)
    listed = (ctypes.c_uint64 * given.size)(*(handle_of_graph(device, one) for one in graphs))
    condition.keep = listed
    given.graphs = ctypes.addressof(listed)
    return work
