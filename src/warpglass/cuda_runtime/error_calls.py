"""Functions of the runtime API about errors."""

from __future__ import annotations

from ..numba_device.calls import Address, Int
from ..numba_device.device_calls import lasting
from ..numba_device.status_texts import statuses
from .calls import call_anywhere, still
from .runtime import Runtime


@still
@call_anywhere
def cudaGetLastError(runtime: Runtime) -> int:
    return runtime.last_error(forget=True)


@still
@call_anywhere
def cudaPeekAtLastError(runtime: Runtime) -> int:
    return runtime.last_error(forget=False)


@still
@call_anywhere
def cudaGetErrorName(runtime: Runtime, status: Int) -> Address:
    name, _ = statuses().get(status, ("unrecognized error code", ""))
    return lasting(name)


@still
@call_anywhere
def cudaGetErrorString(runtime: Runtime, status: Int) -> Address:
    _, text = statuses().get(status, ("", "unrecognized error code"))
    return lasting(text)
