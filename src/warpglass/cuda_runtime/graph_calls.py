"""Functions of the runtime API about graphs: captured from streams, or made node by node."""

from __future__ import annotations

from ..numba_device.calls import Address, Handle, Size, UInt
from .calls import call, release_12, same_as_driver
from .runtime import Runtime

same_as_driver(
    "cudaStreamBeginCapture",
    "cudaStreamBeginCaptureToGraph",
    "cudaStreamEndCapture",
    "cudaStreamIsCapturing",
    "cudaStreamGetCaptureInfo",
    "cudaStreamUpdateCaptureDependencies",
    "cudaGraphCreate",
    "cudaGraphDestroy",
    "cudaGraphClone",
    "cudaGraphDebugDotPrint",
    "cudaGraphGetNodes",
    "cudaGraphGetRootNodes",
    "cudaGraphGetEdges",
    "cudaGraphNodeGetDependencies",
    "cudaGraphNodeGetDependentNodes",
    "cudaGraphNodeGetType",
    "cudaGraphNodeFindInClone",
    "cudaGraphNodeSetEnabled",
    "cudaGraphNodeGetEnabled",
    "cudaGraphAddDependencies",
    "cudaGraphRemoveDependencies",
    "cudaGraphDestroyNode",
    "cudaGraphInstantiate",
    "cudaGraphInstantiateWithFlags",
    "cudaGraphInstantiateWithParams",
    "cudaGraphExecGetFlags",
    "cudaGraphExecUpdate",
    "cudaGraphExecDestroy",
    "cudaGraphUpload",
    "cudaGraphLaunch",
    "cudaDeviceGraphMemTrim",
    "cudaDeviceGetGraphMemAttribute",
    "cudaDeviceSetGraphMemAttribute",
    "cudaUserObjectCreate",
    "cudaUserObjectRetain",
    "cudaUserObjectRelease",
    "cudaGraphRetainUserObject",
    "cudaGraphReleaseUserObject",
)


@release_12
@call
def cudaStreamGetCaptureInfo_12(runtime: Runtime, stream: Handle, status: Address, number: Address) -> None:
    runtime.driver("cuStreamGetCaptureInfo", stream, status, number, 0, 0, 0, 0)


@call
def cudaStreamGetCaptureInfo_v2(
    runtime: Runtime,
    stream: Handle,
    status: Address,
    number: Address,
    graph: Address,
    dependencies: Address,
    count: Address,
) -> None:
    runtime.driver("cuStreamGetCaptureInfo", stream, status, number, graph, dependencies, 0, count)


@release_12
@call
def cudaStreamUpdateCaptureDependencies_12(
    runtime: Runtime, stream: Handle, dependencies: Address, count: Size, flags: UInt
) -> None:
    runtime.driver("cuStreamUpdateCaptureDependencies", stream, dependencies, 0, count, flags)


@release_12
@call
def cudaGraphAddDependencies_12(
    runtime: Runtime, graph: Handle, of: Address, to: Address, count: Size
) -> None:
    runtime.driver("cuGraphAddDependencies", graph, of, to, 0, count)


@release_12
@call
def cudaGraphRemoveDependencies_12(
    runtime: Runtime, graph: Handle, of: Address, to: Address, count: Size
) -> None:
    runtime.driver("cuGraphRemoveDependencies", graph, of, to, 0, count)


@release_12
@call
def cudaGraphGetEdges_12(runtime: Runtime, graph: Handle, of: Address, to: Address, count: Address) -> None:
    runtime.driver("cuGraphGetEdges", graph, of, to, 0, count)


@release_12
@call
def cudaGraphNodeGetDependencies_12(runtime: Runtime, node: Handle, nodes: Address, count: Address) -> None:
    runtime.driver("cuGraphNodeGetDependencies", node, nodes, 0, count)


@release_12
@call
def cudaGraphNodeGetDependentNodes_12(runtime: Runtime, node: Handle, nodes: Address, count: Address) -> None:
    runtime.driver("cuGraphNodeGetDependentNodes", node, nodes, 0, count)
