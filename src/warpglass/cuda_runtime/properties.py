"""cudaDeviceProp, what a program asks about a GPU at once: its layouts in CUDA 13 and 12, and the values."""

from __future__ import annotations

import ctypes
from typing import Any

from ..numba_device.device import VirtualDevice
from ..numba_device.device_calls import ATTRIBUTES, unique_number

_LAYOUT = """
name:char[256] uuid:char[16] luid:char[8] luidDeviceNodeMask:uint totalGlobalMem:size sharedMemPerBlock:size
regsPerBlock warpSize memPitch:size maxThreadsPerBlock maxThreadsDim[3] maxGridSize[3] clockRate@12
totalConstMem:size major minor textureAlignment:size texturePitchAlignment:size deviceOverlap@12
multiProcessorCount kernelExecTimeoutEnabled@12 integrated canMapHostMemory computeMode@12 maxTexture1D
maxTexture1DMipmap maxTexture1DLinear@12 maxTexture2D[2] maxTexture2DMipmap[2] maxTexture2DLinear[3]
maxTexture2DGather[2] maxTexture3D[3] maxTexture3DAlt[3] maxTextureCubemap maxTexture1DLayered[2]
maxTexture2DLayered[3] maxTextureCubemapLayered[2] maxSurface1D maxSurface2D[2] maxSurface3D[3]
maxSurface1DLayered[2] maxSurface2DLayered[3] maxSurfaceCubemap maxSurfaceCubemapLayered[2]
surfaceAlignment:size concurrentKernels ECCEnabled pciBusID pciDeviceID pciDomainID tccDriver asyncEngineCount
unifiedAddressing memoryClockRate@12 memoryBusWidth l2CacheSize persistingL2CacheMaxSize
maxThreadsPerMultiProcessor streamPrioritiesSupported globalL1CacheSupported localL1CacheSupported
sharedMemPerMultiprocessor:size regsPerMultiprocessor managedMemory isMultiGpuBoard multiGpuBoardGroupID
hostNativeAtomicSupported singleToDoublePrecisionPerfRatio@12 pageableMemoryAccess concurrentManagedAccess
computePreemptionSupported canUseHostPointerForRegisteredMem cooperativeLaunch cooperativeMultiDeviceLaunch@12
sharedMemPerBlockOptin:size pageableMemoryAccessUsesHostPageTables directManagedMemAccessFromHost
maxBlocksPerMultiProcessor accessPolicyMaxWindowSize reservedSharedMemPerBlock:size hostRegisterSupported
sparseCudaArraySupported hostRegisterReadOnlySupported timelineSemaphoreInteropSupported memoryPoolsSupported
gpuDirectRDMASupported gpuDirectRDMAFlushWritesOptions:uint gpuDirectRDMAWritesOrdering
memoryPoolSupportedHandleTypes:uint deferredMappingCudaArraySupported ipcEventSupported clusterLaunch
unifiedFunctionPointers deviceNumaConfig@13 deviceNumaId@13 mpsEnabled@13 hostNumaId@13 gpuPciDeviceID:uint@13
gpuPciSubsystemID:uint@13 hostNumaMultinodeIpcSupported@13
"""
_TYPES: dict[str, Any] = {
    "": ctypes.c_int32,
    "uint": ctypes.c_uint32,
    "size": ctypes.c_size_t,
    "char": ctypes.c_char,
}
_RESERVED = {"12": 63, "13": 56}

# Members by the attribute that has their value (ATTRIBUTES).
_ATTRIBUTES = {
    "sharedMemPerBlock": "MAX_SHARED_MEMORY_PER_BLOCK",
    "regsPerBlock": "MAX_REGISTERS_PER_BLOCK",
    "warpSize": "WARP_SIZE",
    "memPitch": "MAX_PITCH",
    "maxThreadsPerBlock": "MAX_THREADS_PER_BLOCK",
    "clockRate": "CLOCK_RATE",
    "totalConstMem": "TOTAL_CONSTANT_MEMORY",
    "major": "COMPUTE_CAPABILITY_MAJOR",
    "minor": "COMPUTE_CAPABILITY_MINOR",
    "textureAlignment": "TEXTURE_ALIGNMENT",
    "texturePitchAlignment": "TEXTURE_PITCH_ALIGNMENT",
    "deviceOverlap": "GPU_OVERLAP",
    "multiProcessorCount": "MULTIPROCESSOR_COUNT",
    "canMapHostMemory": "CAN_MAP_HOST_MEMORY",
    "surfaceAlignment": "SURFACE_ALIGNMENT",
    "concurrentKernels": "CONCURRENT_KERNELS",
    "pciBusID": "PCI_BUS_ID",
    "asyncEngineCount": "ASYNC_ENGINE_COUNT",
    "unifiedAddressing": "UNIFIED_ADDRESSING",
    "memoryClockRate": "MEMORY_CLOCK_RATE",
    "memoryBusWidth": "GLOBAL_MEMORY_BUS_WIDTH",
    "l2CacheSize": "L2_CACHE_SIZE",
    "persistingL2CacheMaxSize": "MAX_PERSISTING_L2_CACHE_SIZE",
    "accessPolicyMaxWindowSize": "MAX_ACCESS_POLICY_WINDOW_SIZE",
    "maxThreadsPerMultiProcessor": "MAX_THREADS_PER_MULTIPROCESSOR",
    "streamPrioritiesSupported": "STREAM_PRIORITIES_SUPPORTED",
    "globalL1CacheSupported": "GLOBAL_L1_CACHE_SUPPORTED",
    "localL1CacheSupported": "LOCAL_L1_CACHE_SUPPORTED",
    "sharedMemPerMultiprocessor": "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR",
    "regsPerMultiprocessor": "MAX_REGISTERS_PER_MULTIPROCESSOR",
    "managedMemory": "MANAGED_MEMORY",
    "hostNativeAtomicSupported": "HOST_NATIVE_ATOMIC_SUPPORTED",
    "singleToDoublePrecisionPerfRatio": "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO",
    "concurrentManagedAccess": "CONCURRENT_MANAGED_ACCESS",
    "computePreemptionSupported": "COMPUTE_PREEMPTION_SUPPORTED",
    "canUseHostPointerForRegisteredMem": "CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM",
    "cooperativeLaunch": "COOPERATIVE_LAUNCH",
    "sharedMemPerBlockOptin": "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
    "maxBlocksPerMultiProcessor": "MAX_BLOCKS_PER_MULTIPROCESSOR",
    "reservedSharedMemPerBlock": "RESERVED_SHARED_MEMORY_PER_BLOCK",
    "hostRegisterSupported": "HOST_REGISTER_SUPPORTED",
    "memoryPoolsSupported": "MEMORY_POOLS_SUPPORTED",
}
_ARRAYS = {
    "maxThreadsDim": tuple(f"MAX_BLOCK_DIM_{axis}" for axis in "XYZ"),
    "maxGridSize": tuple(f"MAX_GRID_DIM_{axis}" for axis in "XYZ"),
}


def _layout(release: str) -> type[ctypes.Structure]:
    fields: list[tuple[str, Any]] = []
    for word in _LAYOUT.split():
        name, _, only = word.partition("@")
        name, _, kind = name.partition(":")
        count = (kind or name).partition("[")[2].rstrip("]")
        name, kind = name.partition("[")[0], kind.partition("[")[0]
        if only in ("", release):
            fields.append((name, _TYPES[kind] * int(count) if count else _TYPES[kind]))
    fields.append(("reserved", ctypes.c_int32 * _RESERVED[release]))
    return type("cudaDeviceProp", (ctypes.Structure,), {"_fields_": fields})


PROPERTIES, PROPERTIES_12 = _layout("13"), _layout("12")


def put_properties(device: VirtualDevice, layout: type[ctypes.Structure], place: int) -> None:
    """Write the properties of a device, in one of the layouts, to an address of the host."""
    found: Any = layout()
    found.name = device.model.name.encode()
    ctypes.memmove(ctypes.byref(found, layout.uuid.offset), unique_number(device), 16)  # type: ignore[attr-defined]
    found.totalGlobalMem = device.memory.capacity
    for name, attribute in _ATTRIBUTES.items():
        setattr(found, name, ATTRIBUTES[attribute](device.model))
    for name, attributes in _ARRAYS.items():
        setattr(found, name, tuple(ATTRIBUTES[one](device.model) for one in attributes))
    ctypes.memmove(place, ctypes.byref(found), ctypes.sizeof(found))
