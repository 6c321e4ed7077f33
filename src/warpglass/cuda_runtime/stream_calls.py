"""Functions of the runtime API about streams and events."""

from __future__ import annotations

from ..numba_device.calls import Address
from .calls import call, call_anywhere, same_as_driver, still
from .runtime import Runtime

same_as_driver(
    "cudaStreamCreateWithFlags=cuStreamCreate",
    "cudaStreamCreateWithPriority",
    "cudaStreamDestroy",
    "cudaStreamSynchronize",
    "cudaStreamQuery",
    "cudaStreamGetFlags",
    "cudaStreamGetPriority",
    "cudaStreamGetId",
    "cudaStreamGetDevice",
    "cudaStreamWaitEvent",
    "cudaStreamAddCallback",
    "cudaStreamAttachMemAsync",
    "cudaEventCreateWithFlags=cuEventCreate",
    "cudaEventDestroy",
    "cudaEventRecord",
    "cudaEventRecordWithFlags",
    "cudaEventQuery",
    "cudaEventSynchronize",
    "cudaEventElapsedTime",
    "cudaIpcGetEventHandle",
    "cudaIpcOpenEventHandle",
)


@call
def cudaStreamCreate(runtime: Runtime, stream: Address) -> None:
    runtime.driver("cuStreamCreate", stream, 0)


@still
@call
def cudaEventCreate(runtime: Runtime, event: Address) -> None:
    runtime.driver("cuEventCreate", event, 0)


@call_anywhere
def cudaThreadExchangeStreamCaptureMode(runtime: Runtime, mode: Address) -> None:
    """All calls may be made while a stream is captured."""
