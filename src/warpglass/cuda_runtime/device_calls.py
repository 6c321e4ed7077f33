"""Functions of the runtime API about the device, versions, limits and what profilers would be told."""

from __future__ import annotations

import ctypes

from ..numba_device.calls import Address, Int, Ordinal, Size, UInt, put, put_int
from ..numba_device.device_calls import DRIVER_VERSION
from ..numba_device.results import Refusal, Result
from .calls import call, call_anywhere, release_12, same_as_driver, still
from .properties import PROPERTIES, PROPERTIES_12, put_properties
from .runtime import Runtime

same_as_driver(
    "cudaGetDeviceCount=cuDeviceGetCount",
    "cudaDeviceGetAttribute",
    "cudaDeviceGetPCIBusId",
    "cudaDeviceGetByPCIBusId",
    "cudaDeviceSynchronize=cuCtxSynchronize",
    "cudaDeviceGetLimit=cuCtxGetLimit",
    "cudaDeviceSetLimit=cuCtxSetLimit",
    "cudaDeviceGetCacheConfig=cuCtxGetCacheConfig",
    "cudaDeviceSetCacheConfig=cuCtxSetCacheConfig",
    "cudaDeviceGetStreamPriorityRange=cuCtxGetStreamPriorityRange",
    "cudaDeviceCanAccessPeer",
    "cudaDeviceGetP2PAttribute",
    "cudaDriverGetVersion",
    "cudaProfilerStart",
    "cudaProfilerStop",
    "cudaThreadSynchronize=cuCtxSynchronize",
    "cudaThreadGetLimit=cuCtxGetLimit",
    "cudaThreadSetLimit=cuCtxSetLimit",
    "cudaThreadGetCacheConfig=cuCtxGetCacheConfig",
    "cudaThreadSetCacheConfig=cuCtxSetCacheConfig",
)


# ---------------------------------------------------------------------------------------- choosing
@still
@call_anywhere
def cudaGetDevice(runtime: Runtime, number: Address) -> None:
    put_int(number, 0)


@still
@call_anywhere
def cudaSetDevice(runtime: Runtime, number: Ordinal) -> None:
    runtime.use_primary()


@call_anywhere
def cudaInitDevice(runtime: Runtime, number: Ordinal, device_flags: UInt, flags: UInt) -> None:
    runtime.use_primary()


@call_anywhere
def cudaSetValidDevices(runtime: Runtime, numbers: Address, count: Int) -> None:
    listed = (ctypes.c_int32 * count).from_address(numbers) if count else ()
    for number in listed:
        if number:
            raise Refusal(Result.INVALID_DEVICE, f"there is no device {number}: warpglass has one, device 0")


@call_anywhere
def cudaChooseDevice(runtime: Runtime, number: Address, properties: Address) -> None:
    put_int(number, 0)


@call_anywhere
def cudaSetDeviceFlags(runtime: Runtime, flags: UInt) -> None:
    runtime.device.primary_flags = flags


@call_anywhere
def cudaGetDeviceFlags(runtime: Runtime, flags: Address) -> None:
    put(flags, runtime.device.primary_flags, ctypes.c_uint32)


@call_anywhere
def cudaDeviceReset(runtime: Runtime) -> None:
    runtime.device.reset()


@call_anywhere
def cudaThreadExit(runtime: Runtime) -> None:
    runtime.device.reset()


# ---------------------------------------------------------------------------------------- properties
@still
@call_anywhere
def cudaRuntimeGetVersion(runtime: Runtime, version: Address) -> None:
    put_int(version, DRIVER_VERSION)


@release_12
@still
@call_anywhere
def cudaRuntimeGetVersion_12(runtime: Runtime, version: Address) -> None:
    put_int(version, 12080)


@still
@call_anywhere
def cudaGetDeviceProperties(runtime: Runtime, properties: Address, number: Ordinal) -> None:
    put_properties(runtime.device, PROPERTIES, properties)


@still
@call_anywhere
def cudaGetDeviceProperties_v2(runtime: Runtime, properties: Address, number: Ordinal) -> None:
    put_properties(runtime.device, PROPERTIES_12, properties)


# ---------------------------------------------------------------------------------------- peers, caches
@call
def cudaDeviceEnablePeerAccess(runtime: Runtime, number: Ordinal, flags: UInt) -> None:
    raise Refusal(Result.PEER_ACCESS_UNSUPPORTED)


@call
def cudaDeviceDisablePeerAccess(runtime: Runtime, number: Ordinal) -> None:
    raise Refusal(Result.PEER_ACCESS_NOT_ENABLED)


@call_anywhere
def cudaDeviceGetSharedMemConfig(runtime: Runtime, config: Address) -> None:
    put_int(config, 1)  # banks of four bytes


@call_anywhere
def cudaDeviceSetSharedMemConfig(runtime: Runtime, config: Int) -> None:
    """Banks have four bytes on all GPUs there are."""


@call_anywhere
def cudaCtxResetPersistingL2Cache(runtime: Runtime) -> None:
    """No line of the second-level cache persists."""


@call_anywhere
def cudaDeviceFlushGPUDirectRDMAWrites(runtime: Runtime, target: Int, scope: Int) -> None:
    """No other device writes."""


@call
def cudaDeviceGetTexture1DLinearMaxWidth(
    runtime: Runtime, width: Address, description: Address, number: Ordinal
) -> None:
    put(width, 1 << 28)


# ---------------------------------------------------------------------------------------- the driver below
@call_anywhere
def cudaGetDriverEntryPoint(
    runtime: Runtime, name: Address, place: Address, flags: Size, status: Address
) -> None:
    runtime.driver("cuGetProcAddress_v2", name, place, DRIVER_VERSION, flags, status)


@call_anywhere
def cudaGetDriverEntryPointByVersion(
    runtime: Runtime, name: Address, place: Address, version: UInt, flags: Size, status: Address
) -> None:
    runtime.driver("cuGetProcAddress_v2", name, place, version, flags, status)


@call_anywhere
def cudaGetExportTable(runtime: Runtime, table: Address, key: Address) -> None:
    runtime.driver("cuGetExportTable", table, key)
