"""Functions of the runtime API about memory in stream order and memory pools."""

from __future__ import annotations

from ..numba_device.calls import Address, Handle, Int
from .calls import call, same_as_driver
from .runtime import Runtime

same_as_driver(
    "cudaMallocAsync=cuMemAllocAsync",
    "cudaMallocFromPoolAsync=cuMemAllocFromPoolAsync",
    "cudaFreeAsync=cuMemFreeAsync",
    "cudaDeviceGetDefaultMemPool",
    "cudaDeviceGetMemPool",
    "cudaDeviceSetMemPool",
    "cudaMemPoolCreate",
    "cudaMemPoolDestroy",
    "cudaMemPoolSetAttribute",
    "cudaMemPoolGetAttribute",
    "cudaMemPoolTrimTo",
    "cudaMemPoolSetAccess",
    "cudaMemPoolGetAccess",
)


@call
def cudaMemGetDefaultMemPool(runtime: Runtime, pool: Address, location: Address, kind: Int) -> None:
    runtime.driver("cuDeviceGetDefaultMemPool", pool, 0)


@call
def cudaMemGetMemPool(runtime: Runtime, pool: Address, location: Address, kind: Int) -> None:
    runtime.driver("cuDeviceGetMemPool", pool, 0)


@call
def cudaMemSetMemPool(runtime: Runtime, location: Address, kind: Int, pool: Handle) -> None:
    runtime.driver("cuDeviceSetMemPool", 0, pool)
