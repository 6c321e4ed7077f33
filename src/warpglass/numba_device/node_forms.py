"""How programs give the parameters of a graph's nodes: structures, and the four functions about each.

The runtime's structures begin as the driver's do, so both APIs read them here; a form says how parameters
become work, and work parameters again. What a program is given pointers to lives as long as the node.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .calls import Address, Calls, Handle, Size
from .device import VirtualDevice
from .graphs import Kind, Node, Work
from .launch_calls import Configuration, KernelLaunch, kernel_work
from .memset_calls import Fill
from .modules import LoadedKernel
from .node_calls import add_node, node_of, node_within
from .stream_calls import HostCall


class KernelParameters(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS, cudaKernelNodeParams: what both begin with."""

    _fields_ = [
        ("function", ctypes.c_uint64),
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared", ctypes.c_uint32),
        ("parameters", ctypes.c_uint64),
        ("extra", ctypes.c_uint64),
    ]


class FillParameters(ctypes.Structure):
    """CUDA_MEMSET_NODE_PARAMS, cudaMemsetParams."""

    _fields_ = [
        ("target", ctypes.c_uint64),
        ("pitch", ctypes.c_size_t),
        ("value", ctypes.c_uint32),
        ("element", ctypes.c_uint32),
        ("width", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    ]


class HostParameters(ctypes.Structure):
    """CUDA_HOST_NODE_PARAMS, cudaHostNodeParams."""

    _fields_ = [("function", ctypes.c_uint64), ("data", ctypes.c_uint64)]


@dataclass(frozen=True, slots=True)
class Form:
    """The parameters of a kind of nodes: `read` makes work of them, `write` gives a node's.

    Both get what functions of their API work on.
    """

    kind: Kind
    read: Callable[[Any, Address], Work]
    write: Callable[[Any, Node, Address], None]


def read_kernel(device: VirtualDevice, place: Address, function: int | None = None) -> KernelLaunch:
    """A kernel's launch; `function` is its handle if the parameters name it otherwise. Raises Refusal."""
    given = KernelParameters.from_address(place)
    configuration = Configuration(tuple(given.grid), tuple(given.block), given.shared, 0)
    return kernel_work(
        device, given.function if function is None else function, configuration, given.parameters, given.extra
    )


def write_kernel(device: VirtualDevice, node: Node, place: Address) -> None:
    """The launch of a node."""
    work = node.work
    assert isinstance(work, KernelLaunch), "its kind says so"
    given = work.given
    block = ctypes.create_string_buffer(work.packed, max(1, len(work.packed)))
    places = device.get(work.function, LoadedKernel).places
    pointers = (ctypes.c_uint64 * max(1, len(places)))(
        *(ctypes.addressof(block) + offset for offset, _ in places)
    )
    node.keep = block, pointers
    found = KernelParameters(
        work.function,
        (ctypes.c_uint32 * 3)(*given.grid),
        (ctypes.c_uint32 * 3)(*given.block),
        given.shared,
        ctypes.addressof(pointers),
        0,
    )
    ctypes.memmove(place, ctypes.byref(found), ctypes.sizeof(found))


def read_fill(device: VirtualDevice, place: Address) -> Fill:
    """What is to be filled."""
    given = FillParameters.from_address(place)
    return Fill(given.target, given.pitch, given.value, given.element, given.width, given.height)


def write_fill(target: object, node: Node, place: Address) -> None:
    """What a node fills."""
    work: Any = node.work
    if not isinstance(work, Fill):  # captured
        start, value, count = work.said[:3]
        work = Fill(start, 0, value, 1, count, 1)
    found = FillParameters(work.target, work.pitch, work.value, work.element, work.width, work.height)
    ctypes.memmove(place, ctypes.byref(found), ctypes.sizeof(found))


def read_host(device: VirtualDevice, place: Address) -> HostCall:
    """The function of the host that is to be called."""
    given = HostParameters.from_address(place)
    return HostCall(given.function, given.data)


def write_host(target: object, node: Node, place: Address) -> None:
    """The function of the host that a node calls."""
    work = node.work
    assert isinstance(work, HostCall), "its kind says so"
    found = HostParameters(work.function, work.data)
    ctypes.memmove(place, ctypes.byref(found), ctypes.sizeof(found))


KERNEL = Form(Kind.KERNEL, read_kernel, write_kernel)
FILL = Form(Kind.MEMSET, read_fill, write_fill)
HOST = Form(Kind.HOST, read_host, write_host)


def register(
    calls: Calls, api: str, name: str, form: Form, device_of: Callable[[Any], VirtualDevice], *, context: bool
) -> None:
    """Register the four functions about nodes of a form, `cuGraphAddKernelNode` and so on.

    With `context` the first and the last have a context for their last parameter.
    """

    def add(
        target: Any,
        node: Address,
        graph: Handle,
        dependencies: Address,
        count: Size,
        parameters: Address,
        *_: Any,
    ) -> None:
        device = device_of(target)
        add_node(device, node, graph, dependencies, count, form.read(target, parameters))

    def get(target: Any, node: Handle, parameters: Address) -> None:
        form.write(target, node_of(device_of(target), node, form.kind), parameters)

    def change(target: Any, node: Handle, parameters: Address) -> None:
        device = device_of(target)
        node_of(device, node, form.kind).work = form.read(target, parameters)

    def change_made(target: Any, made: Handle, node: Handle, parameters: Address, *_: Any) -> None:
        device = device_of(target)
        node_within(device, made, node, form.kind).work = form.read(target, parameters)

    for function, words, last in (
        (add, f"Add{name}Node", context),
        (get, f"{name}NodeGetParams", False),
        (change, f"{name}NodeSetParams", False),
        (change_made, f"Exec{name}NodeSetParams", context),
    ):
        function.__name__ = f"{api}Graph{words}"
        function.__signature__ = _signature(function, last)  # type: ignore[attr-defined]
        calls.call(function)


def _signature(function: Callable[..., None], context: bool) -> inspect.Signature:
    signature = inspect.signature(function)
    kept = [one for one in signature.parameters.values() if one.kind is not one.VAR_POSITIONAL]
    if context:
        kept.append(
            inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="Handle")
        )
    return signature.replace(parameters=kept)
