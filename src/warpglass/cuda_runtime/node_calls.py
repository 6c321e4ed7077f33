"""Functions of the runtime API about nodes of graphs: kernels, copies, fills, and those of any kind.

The structures begin as the driver's do (numba_device/node_forms.py). Copies are cudaMemcpy3DParms, those of
bytes and of variables too, so that a program can ask for what it gave.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

from ..numba_device.calls import Address, Handle, Int, Size, UInt
from ..numba_device.device import VirtualDevice
from ..numba_device.graphs import Call, ChildGraph, Graph, Kind, Node, Work, copied
from ..numba_device.memory_nodes import Freeing
from ..numba_device.node_calls import add_node, node_of, node_within, waiting_for
from ..numba_device.node_forms import FILL, HOST, Form, KernelParameters, read_kernel, register, write_kernel
from ..numba_device.node_parameter_calls import read_allocation, read_conditional
from ..numba_device.results import Refusal, Result
from ..numba_device.stream_calls import record_of
from .calls import CALLS, Extent, PitchedPointer, Position, call, release_12, same_as_driver
from .memory_calls import copy_of
from .runtime import Runtime
from .symbol_calls import FROM, TO, place_of_symbol

same_as_driver(
    "cudaGraphAddEmptyNode",
    "cudaGraphAddChildGraphNode",
    "cudaGraphChildGraphNodeGetGraph",
    "cudaGraphExecChildGraphNodeSetParams",
    "cudaGraphAddEventRecordNode",
    "cudaGraphAddEventWaitNode",
    "cudaGraphEventRecordNodeGetEvent",
    "cudaGraphEventRecordNodeSetEvent",
    "cudaGraphEventWaitNodeGetEvent",
    "cudaGraphEventWaitNodeSetEvent",
    "cudaGraphExecEventRecordNodeSetEvent",
    "cudaGraphExecEventWaitNodeSetEvent",
    "cudaGraphAddMemAllocNode",
    "cudaGraphMemAllocNodeGetParams",
    "cudaGraphAddMemFreeNode",
    "cudaGraphMemFreeNodeGetParams",
)


# ---------------------------------------------------------------------------------------- kernels, fills
def _read_kernel(runtime: Runtime, place: Address) -> Work:
    function = KernelParameters.from_address(place).function
    return read_kernel(runtime.device, place, runtime.registered.kernel_handle(function))


def _write_kernel(runtime: Runtime, node: Node, place: Address) -> None:
    write_kernel(runtime.device, node, place)
    given = KernelParameters.from_address(place)
    given.function = runtime.registered.host_function(given.function)


def _on_device(read: Callable[[VirtualDevice, Address], Work]) -> Callable[[Runtime, Address], Work]:
    return lambda runtime, place: read(runtime.device, place)


# ---------------------------------------------------------------------------------------- copies
class CopyParameters(ctypes.Structure):
    """cudaMemcpy3DParms."""

    _fields_ = [
        ("source_array", ctypes.c_uint64),
        ("source_position", Position),
        ("source", PitchedPointer),
        ("target_array", ctypes.c_uint64),
        ("target_position", Position),
        ("target", PitchedPointer),
        ("extent", Extent),
        ("direction", ctypes.c_int32),
    ]

    @property
    def plain(self) -> bool:
        """Whether it copies bytes that lie in a row."""
        extent, places = self.extent, (self.source_position, self.target_position)
        return (
            not (self.source_array or self.target_array)
            and extent.height <= 1
            and extent.depth <= 1
            and not any(one.y or one.z for one in places)
        )


@dataclass(frozen=True, slots=True)
class Copy:
    """The work of a node that copies: bytes of cudaMemcpy3DParms."""

    runtime: Runtime
    content: bytes

    @property
    def kind(self) -> Kind:
        """The type of its node."""
        return Kind.MEMCPY

    def run(self, device: VirtualDevice) -> None:
        """Copy."""
        given = CopyParameters.from_buffer_copy(self.content)
        if not given.plain:
            CALLS["cudaMemcpy3D"].function(self.runtime, ctypes.addressof(given))
            return
        target = given.target.address + given.target_position.x
        source = given.source.address + given.source_position.x
        self.runtime.driver(copy_of(given.direction), target, source, given.extent.width)


def _read_copy(runtime: Runtime, place: Address) -> Copy:
    content = ctypes.string_at(place, ctypes.sizeof(CopyParameters))
    given = CopyParameters.from_buffer_copy(content)
    copy_of(given.direction)
    if not given.plain and "cudaMemcpy3D" not in CALLS:
        raise Refusal(Result.NOT_SUPPORTED, "a graph's node that copies rows or arrays")
    return Copy(runtime, content)


def _write_copy(runtime: Runtime, node: Node, place: Address) -> None:
    if not isinstance(node.work, Copy):
        raise Refusal(Result.NOT_SUPPORTED, "the parameters of a copy that a stream has captured")
    ctypes.memmove(place, node.work.content, len(node.work.content))


def _row(runtime: Runtime, target: int, source: int, size: int, direction: int) -> Copy:
    """The copy of bytes that lie in a row."""
    copy_of(direction)
    given = CopyParameters(
        source=PitchedPointer(source, size, size, 1),
        target=PitchedPointer(target, size, size, 1),
        extent=Extent(size, 1, 1),
        direction=direction,
    )
    return Copy(runtime, bytes(given))


_KERNEL = Form(Kind.KERNEL, _read_kernel, _write_kernel)
_COPY = Form(Kind.MEMCPY, _read_copy, _write_copy)
_FILL = Form(Kind.MEMSET, _on_device(FILL.read), FILL.write)
_HOST = Form(Kind.HOST, _on_device(HOST.read), HOST.write)
for _name, _form in (("Kernel", _KERNEL), ("Memcpy", _COPY), ("Memset", _FILL), ("Host", _HOST)):
    register(CALLS, "cuda", _name, _form, lambda runtime: runtime.device, context=False)


@call
def cudaGraphAddMemcpyNode1D(
    runtime: Runtime,
    node: Address,
    graph: Handle,
    dependencies: Address,
    count: Size,
    target: Address,
    source: Address,
    size: Size,
    direction: Int,
) -> None:
    work = _row(runtime, target, source, size, direction)
    add_node(runtime.device, node, graph, dependencies, count, work)


@call
def cudaGraphMemcpyNodeSetParams1D(
    runtime: Runtime, node: Handle, target: Address, source: Address, size: Size, direction: Int
) -> None:
    found = node_of(runtime.device, node, Kind.MEMCPY)
    found.work = _row(runtime, target, source, size, direction)


@call
def cudaGraphExecMemcpyNodeSetParams1D(
    runtime: Runtime,
    made: Handle,
    node: Handle,
    target: Address,
    source: Address,
    size: Size,
    direction: Int,
) -> None:
    found = node_within(runtime.device, made, node, Kind.MEMCPY)
    found.work = _row(runtime, target, source, size, direction)


def _to_symbol(runtime: Runtime, symbol: int, source: int, size: int, offset: int, direction: int) -> Copy:
    target = place_of_symbol(runtime, symbol, offset, size, direction, TO)
    return _row(runtime, target, source, size, direction)


def _from_symbol(runtime: Runtime, target: int, symbol: int, size: int, offset: int, direction: int) -> Copy:
    source = place_of_symbol(runtime, symbol, offset, size, direction, FROM)
    return _row(runtime, target, source, size, direction)


@call
def cudaGraphAddMemcpyNodeToSymbol(
    runtime: Runtime,
    node: Address,
    graph: Handle,
    dependencies: Address,
    count: Size,
    symbol: Address,
    source: Address,
    size: Size,
    offset: Size,
    direction: Int,
) -> None:
    work = _to_symbol(runtime, symbol, source, size, offset, direction)
    add_node(runtime.device, node, graph, dependencies, count, work)


@call
def cudaGraphAddMemcpyNodeFromSymbol(
    runtime: Runtime,
    node: Address,
    graph: Handle,
    dependencies: Address,
    count: Size,
    target: Address,
    symbol: Address,
    size: Size,
    offset: Size,
    direction: Int,
) -> None:
    work = _from_symbol(runtime, target, symbol, size, offset, direction)
    add_node(runtime.device, node, graph, dependencies, count, work)


@call
def cudaGraphMemcpyNodeSetParamsToSymbol(
    runtime: Runtime,
    node: Handle,
    symbol: Address,
    source: Address,
    size: Size,
    offset: Size,
    direction: Int,
) -> None:
    found = node_of(runtime.device, node, Kind.MEMCPY)
    found.work = _to_symbol(runtime, symbol, source, size, offset, direction)


@call
def cudaGraphMemcpyNodeSetParamsFromSymbol(
    runtime: Runtime,
    node: Handle,
    target: Address,
    symbol: Address,
    size: Size,
    offset: Size,
    direction: Int,
) -> None:
    found = node_of(runtime.device, node, Kind.MEMCPY)
    found.work = _from_symbol(runtime, target, symbol, size, offset, direction)


@call
def cudaGraphExecMemcpyNodeSetParamsToSymbol(
    runtime: Runtime,
    made: Handle,
    node: Handle,
    symbol: Address,
    source: Address,
    size: Size,
    offset: Size,
    direction: Int,
) -> None:
    found = node_within(runtime.device, made, node, Kind.MEMCPY)
    found.work = _to_symbol(runtime, symbol, source, size, offset, direction)


@call
def cudaGraphExecMemcpyNodeSetParamsFromSymbol(
    runtime: Runtime,
    made: Handle,
    node: Handle,
    target: Address,
    symbol: Address,
    size: Size,
    offset: Size,
    direction: Int,
) -> None:
    found = node_within(runtime.device, made, node, Kind.MEMCPY)
    found.work = _from_symbol(runtime, target, symbol, size, offset, direction)


# ---------------------------------------------------------------------------------------- of any kind
_UNION = 16  # where the parameters begin in cudaGraphNodeParams, behind the type of the node
_COPY_BEGINS = 16  # and the copy in a memcpy node's


def _handle_at(place: Address) -> int:
    return ctypes.c_uint64.from_address(place).value


_READERS: dict[int, Callable[[Runtime, Address], Work]] = {
    Kind.KERNEL: _read_kernel,
    Kind.MEMCPY: lambda runtime, place: _read_copy(runtime, place + _COPY_BEGINS),
    Kind.MEMSET: _FILL.read,
    Kind.HOST: _HOST.read,
    Kind.GRAPH: lambda runtime, place: ChildGraph(
        copied(runtime.device.get(_handle_at(place), Graph), ordered=False)
    ),
    Kind.EMPTY: lambda runtime, place: Call(Kind.EMPTY, lambda device: None),
    Kind.WAIT_EVENT: lambda runtime, place: waiting_for(runtime.device, _handle_at(place)),
    Kind.EVENT_RECORD: lambda runtime, place: record_of(runtime.device, _handle_at(place)),
    Kind.MEM_ALLOC: _on_device(read_allocation),
    Kind.MEM_FREE: lambda runtime, place: Freeing(_handle_at(place)),
    Kind.CONDITIONAL: _on_device(read_conditional),
}


def _read_any(runtime: Runtime, place: Address) -> Work:
    kind = ctypes.c_int32.from_address(place).value
    if kind not in _READERS:
        raise Refusal(Result.NOT_SUPPORTED, f"a node of type {kind}")
    return _READERS[kind](runtime, place + _UNION)


@call
def cudaGraphAddNode(
    runtime: Runtime,
    node: Address,
    graph: Handle,
    dependencies: Address,
    edges: Address,
    count: Size,
    parameters: Address,
) -> None:
    add_node(runtime.device, node, graph, dependencies, count, _read_any(runtime, parameters))


@release_12
@call
def cudaGraphAddNode_12(
    runtime: Runtime, node: Address, graph: Handle, dependencies: Address, count: Size, parameters: Address
) -> None:
    add_node(runtime.device, node, graph, dependencies, count, _read_any(runtime, parameters))


@call
def cudaGraphNodeSetParams(runtime: Runtime, node: Handle, parameters: Address) -> None:
    work = _read_any(runtime, parameters)
    node_of(runtime.device, node, work.kind).work = work


@call
def cudaGraphExecNodeSetParams(runtime: Runtime, made: Handle, node: Handle, parameters: Address) -> None:
    work = _read_any(runtime, parameters)
    node_within(runtime.device, made, node, work.kind).work = work


@call
def cudaGraphConditionalHandleCreate(
    runtime: Runtime, handle: Address, graph: Handle, default: UInt, flags: UInt
) -> None:
    runtime.driver("cuGraphConditionalHandleCreate", handle, graph, 0, default, flags)
