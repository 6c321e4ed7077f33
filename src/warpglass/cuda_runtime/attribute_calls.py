"""Functions of the runtime API about attributes of streams and of graphs' kernel nodes."""

from __future__ import annotations

from ..numba_device.calls import Handle
from .calls import call, release_12, same_as_driver
from .runtime import Runtime

same_as_driver(
    "cudaStreamGetAttribute",
    "cudaStreamSetAttribute",
    "cudaStreamCopyAttributes",
    "cudaGraphKernelNodeGetAttribute",
    "cudaGraphKernelNodeSetAttribute",
    "cudaGraphKernelNodeCopyAttributes",
)


@release_12
@call
def cudaGraphKernelNodeCopyAttributes_12(runtime: Runtime, source: Handle, target: Handle) -> None:
    runtime.driver("cuGraphKernelNodeCopyAttributes", target, source)
