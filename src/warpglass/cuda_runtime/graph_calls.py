"""Functions of the runtime API about graphs: captured from streams, or made node by node."""

from __future__ import annotations

from .calls import same_as_driver

same_as_driver(
    "cudaStreamBeginCapture",
    "cudaStreamEndCapture",
    "cudaStreamIsCapturing",
    "cudaStreamGetCaptureInfo",
    "cudaGraphCreate",
    "cudaGraphDestroy",
    "cudaGraphGetNodes",
    "cudaGraphInstantiate",
    "cudaGraphInstantiateWithFlags",
    "cudaGraphInstantiateWithParams",
    "cudaGraphExecUpdate",
    "cudaGraphExecDestroy",
    "cudaGraphUpload",
    "cudaGraphLaunch",
    "cudaUserObjectCreate",
    "cudaUserObjectRetain",
    "cudaUserObjectRelease",
    "cudaGraphRetainUserObject",
    "cudaGraphReleaseUserObject",
)
