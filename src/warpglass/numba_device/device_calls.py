"""Functions of the driver API about the device itself, its contexts, and errors."""

from __future__ import annotations

import ctypes
import importlib
import uuid
from collections.abc import Callable
from functools import cache
from typing import Any

from ..devices import Device as Gpu
from .calls import (
    Address,
    Handle,
    Int,
    Ordinal,
    Size,
    UInt,
    call,
    call_anywhere,
    put,
    put_int,
    put_text,
    still,
    text_at,
)
from .device import Context, VirtualDevice
from .results import Refusal, Result
from .status_texts import statuses

DRIVER_VERSION = 13000  # CUDA 13.0, whose PTX and functions these are
_API_VERSION = 3020
_KHZ = 1000
_BUS = b"0000:01:00.0"
_PRIORITIES = 0, -5
# CUlimit: stack size, printf buffer, malloc heap, device runtime depth, its launches, L2 fetch, L2 lines
_LIMITS = {0: 1024, 1: 1 << 20, 2: 8 << 20, 3: 2, 4: 2048, 5: 128, 6: 0}

# CUdevice_attribute, by its names; what is not listed is 0: not there, not possible.
ATTRIBUTES: dict[str, Callable[[Gpu], int]] = {
    "MAX_THREADS_PER_BLOCK": lambda gpu: gpu.limits.threads_per_block,
    "MAX_BLOCK_DIM_X": lambda gpu: gpu.limits.block_dims[0],
    "MAX_BLOCK_DIM_Y": lambda gpu: gpu.limits.block_dims[1],
    "MAX_BLOCK_DIM_Z": lambda gpu: gpu.limits.block_dims[2],
    "MAX_GRID_DIM_X": lambda gpu: gpu.limits.grid_dims[0],
    "MAX_GRID_DIM_Y": lambda gpu: gpu.limits.grid_dims[1],
    "MAX_GRID_DIM_Z": lambda gpu: gpu.limits.grid_dims[2],
    "MAX_SHARED_MEMORY_PER_BLOCK": lambda gpu: gpu.limits.shared_per_block,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": lambda gpu: gpu.limits.shared_per_block_optin,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": lambda gpu: gpu.limits.shared_per_sm,
    "RESERVED_SHARED_MEMORY_PER_BLOCK": lambda gpu: gpu.limits.shared_reserved,
    "TOTAL_CONSTANT_MEMORY": lambda gpu: 65536,
    "WARP_SIZE": lambda gpu: 32,
    "MAX_PITCH": lambda gpu: (1 << 31) - 1,
    "MAX_REGISTERS_PER_BLOCK": lambda gpu: gpu.limits.registers_per_block,
    "MAX_REGISTERS_PER_MULTIPROCESSOR": lambda gpu: gpu.limits.registers_per_sm,
    "MAX_THREADS_PER_MULTIPROCESSOR": lambda gpu: gpu.limits.threads_per_sm,
    "MAX_BLOCKS_PER_MULTIPROCESSOR": lambda gpu: gpu.limits.blocks_per_sm,
    "CLOCK_RATE": lambda gpu: int(gpu.clock_mhz * _KHZ),
    "MEMORY_CLOCK_RATE": lambda gpu: int(gpu.memory_clock_mhz * _KHZ),
    "GLOBAL_MEMORY_BUS_WIDTH": lambda gpu: gpu.memory_bus_bits,
    "L2_CACHE_SIZE": lambda gpu: gpu.l2_kib << 10,
    # From compute capability 8.0 on, five eighths of the cache: one reported 60 of 96 MiB.
    "MAX_PERSISTING_L2_CACHE_SIZE": lambda gpu: (gpu.l2_kib << 10) * 5 // 8 * (gpu.capability >= (8, 0)),
    "MAX_ACCESS_POLICY_WINDOW_SIZE": lambda gpu: (128 << 20) * (gpu.capability >= (8, 0)),
    "GENERIC_COMPRESSION_SUPPORTED": lambda gpu: int(gpu.capability >= (8, 0)),
    "MULTIPROCESSOR_COUNT": lambda gpu: gpu.multiprocessors,
    "COMPUTE_CAPABILITY_MAJOR": lambda gpu: gpu.capability[0],
    "COMPUTE_CAPABILITY_MINOR": lambda gpu: gpu.capability[1],
    "TEXTURE_ALIGNMENT": lambda gpu: 512,
    "TEXTURE_PITCH_ALIGNMENT": lambda gpu: 32,
    "SURFACE_ALIGNMENT": lambda gpu: 512,
    "PCI_BUS_ID": lambda gpu: 1,
    "ASYNC_ENGINE_COUNT": lambda gpu: 3,
    "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO": lambda gpu: (
        gpu.limits.fp32_lanes // max(1, gpu.limits.fp64_lanes)
    ),
    **dict.fromkeys(
        (
            "GPU_OVERLAP",
            "CAN_MAP_HOST_MEMORY",
            "CONCURRENT_KERNELS",
            "UNIFIED_ADDRESSING",
            "STREAM_PRIORITIES_SUPPORTED",
            "GLOBAL_L1_CACHE_SUPPORTED",
            "LOCAL_L1_CACHE_SUPPORTED",
            "MANAGED_MEMORY",
            "HOST_NATIVE_ATOMIC_SUPPORTED",
            "CONCURRENT_MANAGED_ACCESS",
            "COMPUTE_PREEMPTION_SUPPORTED",
            "CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM",
            "COOPERATIVE_LAUNCH",
            "HOST_REGISTER_SUPPORTED",
            "MEMORY_POOLS_SUPPORTED",
            "VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED",
            "HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED",
        ),
        lambda gpu: 1,
    ),
}


@cache
def _attributes() -> dict[int, str]:
    """CUdevice_attribute: its numbers with their names, of several for one those that ATTRIBUTES has."""
    driver: Any = importlib.import_module("cuda.bindings.driver")
    names = driver.CUdevice_attribute.__members__
    short = [(int(one), name.removeprefix("CU_DEVICE_ATTRIBUTE_")) for name, one in names.items()]
    return dict(sorted(short, key=lambda row: row[1] in ATTRIBUTES))


# ---------------------------------------------------------------------------------------- errors
_TEXTS: dict[str, ctypes.Array[ctypes.c_char]] = {}


def lasting(text: str) -> int:
    """The address of a C string that lives as long as the process."""
    if text not in _TEXTS:
        _TEXTS[text] = ctypes.create_string_buffer(text.encode())
    return ctypes.addressof(_TEXTS[text])


@cache
def _error_names() -> dict[int, str]:
    driver: Any = importlib.import_module("cuda.bindings.driver")
    return {int(one): name for name, one in driver.CUresult.__members__.items()}


@call_anywhere
def cuGetErrorName(device: VirtualDevice, error: Int, text: Address) -> None:
    name = _error_names().get(error)
    put(text, lasting(name) if name else 0)
    if name is None:
        raise Refusal(Result.INVALID_VALUE)


@call_anywhere
def cuGetErrorString(device: VirtualDevice, error: Int, text: Address) -> None:
    name = _error_names().get(error)
    if name is None:
        put(text, 0)
        raise Refusal(Result.INVALID_VALUE)
    plain = name.removeprefix("CUDA_ERROR_").replace("_", " ").lower()
    words = statuses().get(error, ("", plain))[1]
    note = next((said for result, said in device.notes.items() if result == error), None)
    put(text, lasting(f"{words}: {note}" if note else words))


# ---------------------------------------------------------------------------------------- the device
@call_anywhere
def cuInit(device: VirtualDevice, flags: UInt) -> None:
    device.check_visible()
    device.initialized = True


@call_anywhere
def cuGetExportTable(device: VirtualDevice, table: Address, key: Address) -> None:
    """NVIDIA's compilers ask for undocumented tables, and do without."""
    put(table, 0)
    raise Refusal(Result.NOT_FOUND)


@call_anywhere
def cuDriverGetVersion(device: VirtualDevice, version: Address) -> None:
    put_int(version, DRIVER_VERSION)


@call_anywhere
def cuDeviceGet(device: VirtualDevice, found: Address, ordinal: Ordinal) -> None:
    put_int(found, 0)


@call_anywhere
def cuDeviceGetCount(device: VirtualDevice, count: Address) -> None:
    put_int(count, 0)
    device.check_visible()
    put_int(count, 1)


@call_anywhere
def cuDeviceGetName(device: VirtualDevice, name: Address, room: Int, number: Ordinal) -> None:
    put_text(name, device.model.name.encode(), room)


@call_anywhere
def cuDeviceGetUuid(device: VirtualDevice, place: Address, number: Ordinal) -> None:
    ctypes.memmove(place, unique_number(device), 16)


def unique_number(device: VirtualDevice) -> bytes:
    """The 16 bytes by which programs tell GPUs apart."""
    return uuid.uuid5(uuid.NAMESPACE_DNS, f"{device.model.key}.warpglass").bytes


@call_anywhere
def cuDeviceTotalMem(device: VirtualDevice, size: Address, number: Ordinal) -> None:
    put(size, device.memory.capacity)


@call_anywhere
def cuDeviceGetAttribute(device: VirtualDevice, value: Address, attribute: Int, number: Ordinal) -> None:
    found = attribute_of(device.model, attribute)
    if found is None:
        raise Refusal(Result.INVALID_VALUE)
    put_int(value, found)


def attribute_of(model: Gpu, attribute: int) -> int | None:
    """The value of an attribute of a device by its number; None if there is none."""
    name = _attributes().get(attribute)
    return None if name is None else int(ATTRIBUTES[name](model) if name in ATTRIBUTES else 0)


@call_anywhere
def cuDeviceComputeCapability(device: VirtualDevice, major: Address, minor: Address, number: Ordinal) -> None:
    put_int(major, device.model.capability[0])
    put_int(minor, device.model.capability[1])


@call_anywhere
def cuDeviceGetPCIBusId(device: VirtualDevice, text: Address, room: Int, number: Ordinal) -> None:
    put_text(text, _BUS, room)


@call_anywhere
def cuDeviceGetByPCIBusId(device: VirtualDevice, found: Address, text: Address) -> None:
    if text_at(text).lower().rjust(len(_BUS), "0") != _BUS.decode():
        raise Refusal(Result.INVALID_DEVICE)
    put_int(found, 0)


# ---------------------------------------------------------------------------------------- contexts
@call_anywhere
def cuDevicePrimaryCtxRetain(device: VirtualDevice, context: Address, number: Ordinal) -> None:
    if device.primary is None:
        device.primary = device.add(Context())
    device.primary_users += 1
    put(context, device.primary)


@call_anywhere
def cuDevicePrimaryCtxRelease(device: VirtualDevice, number: Ordinal) -> None:
    if device.primary_users == 0:
        raise Refusal(Result.INVALID_CONTEXT)
    device.primary_users -= 1
    if device.primary_users == 0:
        device.reset()


@call_anywhere
def cuDevicePrimaryCtxReset(device: VirtualDevice, number: Ordinal) -> None:
    device.reset()


@call_anywhere
def cuDevicePrimaryCtxGetState(
    device: VirtualDevice, number: Ordinal, flags: Address, active: Address
) -> None:
    put(flags, device.primary_flags, ctypes.c_uint32)
    put_int(active, int(device.primary_users > 0))


@call_anywhere
def cuDevicePrimaryCtxSetFlags(device: VirtualDevice, number: Ordinal, flags: UInt) -> None:
    device.primary_flags = flags


@call_anywhere
def cuCtxCreate(
    device: VirtualDevice, context: Address, parameters: Address, flags: UInt, number: Ordinal
) -> None:
    handle = device.add(Context())
    device.stack.append(handle)
    put(context, handle)


@call_anywhere
def cuCtxCreate_v2(device: VirtualDevice, context: Address, flags: UInt, number: Ordinal) -> None:
    cuCtxCreate(device, context, 0, flags, number)


@call_anywhere
def cuCtxDestroy(device: VirtualDevice, context: Handle) -> None:
    device.remove(context, Context)
    if device.stack and device.stack[-1] == context:
        device.stack.pop()


@still
@call_anywhere
def cuCtxGetCurrent(device: VirtualDevice, context: Address) -> None:
    put(context, device.stack[-1] if device.stack else 0)


@call_anywhere
def cuCtxSetCurrent(device: VirtualDevice, context: Handle) -> None:
    if device.stack:
        device.stack.pop()
    if context:
        device.get(context, Context)
        device.stack.append(context)


@call_anywhere
def cuCtxPushCurrent(device: VirtualDevice, context: Handle) -> None:
    device.get(context, Context)
    device.stack.append(context)


@call_anywhere
def cuCtxPopCurrent(device: VirtualDevice, context: Address) -> None:
    if not device.stack:
        raise Refusal(Result.INVALID_CONTEXT)
    put(context, device.stack.pop())


@still
@call_anywhere
def cuCtxGetDevice(device: VirtualDevice, number: Address) -> None:
    if not device.stack:
        raise Refusal(Result.INVALID_CONTEXT)
    put_int(number, 0)


@call_anywhere
def cuCtxGetApiVersion(device: VirtualDevice, context: Handle, version: Address) -> None:
    put(version, _API_VERSION, ctypes.c_uint32)


@call
def cuCtxGetId(device: VirtualDevice, context: Handle, number: Address) -> None:
    put(number, context or device.stack[-1])


@call
def cuCtxGetFlags(device: VirtualDevice, flags: Address) -> None:
    put(flags, device.get(device.stack[-1], Context).flags, ctypes.c_uint32)


@still
@call
def cuCtxSynchronize(device: VirtualDevice) -> None:
    """Nothing is ever under way."""


@call
def cuCtxGetLimit(device: VirtualDevice, value: Address, limit: Int) -> None:
    if limit not in _LIMITS:
        raise Refusal(Result.INVALID_VALUE)
    put(value, device.get(device.stack[-1], Context).limits.get(limit, _LIMITS[limit]))


@call
def cuCtxSetLimit(device: VirtualDevice, limit: Int, value: Size) -> None:
    if limit not in _LIMITS:
        raise Refusal(Result.INVALID_VALUE)
    device.get(device.stack[-1], Context).limits[limit] = value


@call
def cuCtxGetStreamPriorityRange(device: VirtualDevice, least: Address, greatest: Address) -> None:
    put_int(least, _PRIORITIES[0])
    put_int(greatest, _PRIORITIES[1])


@call
def cuCtxGetCacheConfig(device: VirtualDevice, config: Address) -> None:
    put_int(config, 0)


@call
def cuCtxSetCacheConfig(device: VirtualDevice, config: Int) -> None:
    """A preference; there are no caches to divide."""


@call_anywhere
def cuLogsRegisterCallback(device: VirtualDevice, function: Address, data: Address, handle: Address) -> None:
    """What there is to say goes to standard error: the callback is called never."""
    put(handle, function)


@call_anywhere
def cuLogsUnregisterCallback(device: VirtualDevice, handle: Size) -> None:
    """Likewise."""


@call
def cuProfilerStart(device: VirtualDevice) -> None:
    """No profiler is attached, as on a GPU without one."""


@call
def cuProfilerStop(device: VirtualDevice) -> None:
    """Likewise."""
