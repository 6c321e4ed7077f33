"""Functions of the runtime API about memory in stream order and memory pools."""

from __future__ import annotations

from .calls import same_as_driver

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
)
