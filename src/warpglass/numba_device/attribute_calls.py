"""Functions of the driver API about attributes of streams and of graphs' kernel nodes.

They are kept as the program gives them, for it to ask; of nodes, whether a launch is cooperative counts.
"""

from __future__ import annotations

import ctypes
from dataclasses import replace

from .calls import Address, Handle, Int, call
from .device import VirtualDevice
from .graphs import Kind, Node
from .launch_calls import KernelLaunch
from .node_calls import node_of
from .results import Refusal, Result
from .stream_calls import DEFAULT_STREAMS, Stream, stream_of

_SIZE = 64  # bytes of CUlaunchAttributeValue
_COOPERATIVE, _PRIORITY = 2, 8  # CU_LAUNCH_ATTRIBUTE_*
_MOST = 32  # attributes


def _check(attribute: int) -> None:
    if not 0 < attribute < _MOST:
        raise Refusal(Result.INVALID_VALUE, f"there is no launch attribute {attribute}")


def _put(place: Address, content: bytes) -> None:
    ctypes.memmove(place, content.ljust(_SIZE, b"\0"), _SIZE)


# ---------------------------------------------------------------------------------------- streams
@call
def cuStreamGetAttribute(device: VirtualDevice, stream: Handle, attribute: Int, value: Address) -> None:
    _check(attribute)
    known = stream_of(device, stream)
    own = known.priority.to_bytes(4, "little", signed=True) if attribute == _PRIORITY else b""
    _put(value, known.attributes.get(attribute, own))


@call
def cuStreamSetAttribute(device: VirtualDevice, stream: Handle, attribute: Int, value: Address) -> None:
    _check(attribute)
    if stream not in DEFAULT_STREAMS:
        device.get(stream, Stream).attributes[attribute] = ctypes.string_at(value, _SIZE)


@call
def cuStreamCopyAttributes(device: VirtualDevice, target: Handle, source: Handle) -> None:
    stream_of(device, target).attributes.update(stream_of(device, source).attributes)


# ---------------------------------------------------------------------------------------- nodes
@call
def cuGraphKernelNodeGetAttribute(
    device: VirtualDevice, node: Handle, attribute: Int, value: Address
) -> None:
    _check(attribute)
    _put(value, node_of(device, node, Kind.KERNEL).attributes.get(attribute, b""))


@call
def cuGraphKernelNodeSetAttribute(
    device: VirtualDevice, node: Handle, attribute: Int, value: Address
) -> None:
    _check(attribute)
    _set(node_of(device, node, Kind.KERNEL), attribute, ctypes.string_at(value, _SIZE))


def _set(node: Node, attribute: int, content: bytes) -> None:
    node.attributes[attribute] = content
    if attribute == _COOPERATIVE and isinstance(node.work, KernelLaunch):
        given = replace(node.work.given, cooperative=any(content[:4]))
        node.work = replace(node.work, given=given)


@call
def cuGraphKernelNodeCopyAttributes(device: VirtualDevice, target: Handle, source: Handle) -> None:
    to, of = (node_of(device, node, Kind.KERNEL) for node in (target, source))
    for attribute, content in of.attributes.items():
        _set(to, attribute, content)
