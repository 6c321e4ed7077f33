"""Functions of the runtime API about kernels: their attributes, handles, and occupancy."""

from __future__ import annotations

import ctypes
from math import prod

from ..engine.launch.limits import LARGEST_CLUSTER
from ..numba_device.calls import Address, Handle, Int, Ordinal, Size, UInt, put, put_int
from ..numba_device.launch_calls import configuration_at, resident_blocks
from ..numba_device.module_calls import attribute_of
from .calls import also, call, still
from .runtime import Runtime

# cudaFuncAttributes: its members in order, with the number of the driver's attribute that has the value.
_MEMBERS = (
    ("sharedSizeBytes", ctypes.c_size_t, 1),
    ("constSizeBytes", ctypes.c_size_t, 2),
    ("localSizeBytes", ctypes.c_size_t, 3),
    ("maxThreadsPerBlock", ctypes.c_int32, 0),
    ("numRegs", ctypes.c_int32, 4),
    ("ptxVersion", ctypes.c_int32, 5),
    ("binaryVersion", ctypes.c_int32, 6),
    ("cacheModeCA", ctypes.c_int32, 7),
    ("maxDynamicSharedSizeBytes", ctypes.c_int32, 8),
    ("preferredShmemCarveout", ctypes.c_int32, 9),
    ("clusterDimMustBeSet", ctypes.c_int32, 10),
    ("requiredClusterWidth", ctypes.c_int32, 11),
    ("requiredClusterHeight", ctypes.c_int32, 12),
    ("requiredClusterDepth", ctypes.c_int32, 13),
    ("clusterSchedulingPolicyPreference", ctypes.c_int32, 15),
    ("nonPortableClusterSizeAllowed", ctypes.c_int32, 14),
    ("reserved", ctypes.c_int32 * 16, None),
)


class _Attributes(ctypes.Structure):
    _fields_ = [(name, kind) for name, kind, _ in _MEMBERS]


@still
@call
def cudaFuncGetAttributes(runtime: Runtime, place: Address, function: Address) -> None:
    kernel = runtime.registered.kernel(function)
    found = _Attributes()
    for name, _, number in _MEMBERS:
        if number is not None:
            setattr(found, name, attribute_of(kernel, number))
    ctypes.memmove(place, ctypes.byref(found), ctypes.sizeof(found))


@call
def cudaFuncSetAttribute(runtime: Runtime, function: Address, attribute: Int, value: Int) -> None:
    runtime.driver("cuFuncSetAttribute", runtime.registered.kernel_handle(function), attribute, value)


@call
def cudaKernelSetAttributeForDevice(
    runtime: Runtime, kernel: Handle, attribute: Int, value: Int, number: Ordinal
) -> None:
    cudaFuncSetAttribute(runtime, kernel, attribute, value)


@still
@call
def cudaFuncSetCacheConfig(runtime: Runtime, function: Address, config: Int) -> None:
    runtime.registered.kernel(function)


@still
@call
def cudaFuncSetSharedMemConfig(runtime: Runtime, function: Address, config: Int) -> None:
    runtime.registered.kernel(function)


@still
@call
def cudaFuncGetName(runtime: Runtime, name: Address, function: Address) -> None:
    runtime.driver("cuFuncGetName", name, runtime.registered.kernel_handle(function))


@still
@call
def cudaFuncGetParamInfo(
    runtime: Runtime, function: Address, index: Size, offset: Address, size: Address
) -> None:
    runtime.driver("cuFuncGetParamInfo", runtime.registered.kernel_handle(function), index, offset, size)


@also("cudaGetFuncBySymbol")
@still
@call
def cudaGetKernel(runtime: Runtime, kernel: Address, function: Address) -> None:
    put(kernel, runtime.registered.kernel_handle(function))


# ---------------------------------------------------------------------------------------- occupancy
@still
@call
def cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    runtime: Runtime, count: Address, function: Address, threads: Int, shared: Size
) -> None:
    kernel = runtime.registered.kernel_handle(function)
    runtime.driver("cuOccupancyMaxActiveBlocksPerMultiprocessor", count, kernel, threads, shared)


@still
@call
def cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    runtime: Runtime, count: Address, function: Address, threads: Int, shared: Size, flags: UInt
) -> None:
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(runtime, count, function, threads, shared)


@still
@call
def cudaOccupancyAvailableDynamicSMemPerBlock(
    runtime: Runtime, size: Address, function: Address, blocks: Int, threads: Int
) -> None:
    kernel = runtime.registered.kernel_handle(function)
    runtime.driver("cuOccupancyAvailableDynamicSMemPerBlock", size, kernel, blocks, threads)


@still
@call
def cudaOccupancyMaxPotentialClusterSize(
    runtime: Runtime, size: Address, function: Address, config: Address
) -> None:
    runtime.registered.kernel(function)
    put_int(size, LARGEST_CLUSTER)


@still
@call
def cudaOccupancyMaxActiveClusters(
    runtime: Runtime, count: Address, function: Address, config: Address
) -> None:
    given = configuration_at(config)
    kernel = runtime.registered.kernel(function)
    blocks = resident_blocks(runtime.device, kernel, prod(given.block), given.shared)
    put_int(count, blocks * runtime.device.model.multiprocessors // prod(given.cluster or (1,)))
