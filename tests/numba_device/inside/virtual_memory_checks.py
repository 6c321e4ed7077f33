"""Virtual memory of the virtual device, through cuda.bindings. Run under `warpglass run -m pytest`."""

from __future__ import annotations

import ctypes
import importlib
from typing import Any

driver: Any = importlib.import_module("cuda.bindings.driver")
GRANULE = 2 << 20


def ask(function: Any, *arguments: Any) -> Any:
    status, *results = function(*arguments)
    assert status == driver.CUresult.CUDA_SUCCESS, (function.__name__, status)
    return results[0] if results else None


def properties(shared: bool = False) -> Any:
    made = driver.CUmemAllocationProp()
    made.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    made.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    if shared:
        made.requestedHandleTypes = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    return made


def fill(place: int, value: int, size: int) -> None:
    ask(driver.cuMemsetD8, driver.CUdeviceptr(place), value, size)


def bytes_at(place: int, size: int) -> bytes:
    found = ctypes.create_string_buffer(size)
    ask(driver.cuMemcpyDtoH, ctypes.addressof(found), driver.CUdeviceptr(place), size)
    return found.raw


def test_memory_is_mapped_moved_and_shared() -> None:
    ask(driver.cuInit, 0)
    option = driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
    assert ask(driver.cuMemGetAllocationGranularity, properties(), option) == GRANULE
    ask(driver.cuCtxPushCurrent, ask(driver.cuDevicePrimaryCtxRetain, 0))

    base = int(ask(driver.cuMemAddressReserve, 3 * GRANULE, 4 * GRANULE, 0, 0))
    assert base % (4 * GRANULE) == 0
    first, second = (ask(driver.cuMemCreate, GRANULE, properties(shared=True), 0) for _ in range(2))
    for place, handle in ((base, first), (base + GRANULE, second)):
        ask(driver.cuMemMap, place, GRANULE, 0, handle, 0)
    fill(base, 1, 2 * GRANULE)  # side by side, they are one
    fill(base + GRANULE - 2, 2, 4)
    assert driver.cuMemMap(base, GRANULE, 0, second, 0)[0] != driver.CUresult.CUDA_SUCCESS  # taken
    assert driver.cuMemAddressFree(base, 3 * GRANULE)[0] != driver.CUresult.CUDA_SUCCESS  # in use

    kind = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
    file = ask(driver.cuMemExportToShareableHandle, second, kind, 0)
    again = ask(driver.cuMemImportFromShareableHandle, int(file), kind)
    ask(driver.cuMemMap, base + 2 * GRANULE, GRANULE, 0, again, 0)
    fill(base + GRANULE, 3, 1)
    assert bytes_at(base + GRANULE - 3, 5) == b"\1\2\2\3\2"
    assert bytes_at(base + 2 * GRANULE, 3) == b"\3\2\1"  # the same memory at another address

    kept = ask(driver.cuMemRetainAllocationHandle, int(base) + GRANULE + 5)  # what `second` names
    ask(driver.cuMemUnmap, base + GRANULE, GRANULE)
    assert driver.cuMemRetainAllocationHandle(int(base) + GRANULE)[0] != driver.CUresult.CUDA_SUCCESS
    assert driver.cuMemsetD8(driver.CUdeviceptr(base + GRANULE), 0, 1)[0] != driver.CUresult.CUDA_SUCCESS
    ask(driver.cuMemMap, base + GRANULE, GRANULE, 0, first, 0)
    assert bytes_at(base + GRANULE - 3, 5) == b"\1\2\2\1\1"
    ask(driver.cuMemUnmap, base + GRANULE, GRANULE)
    ask(driver.cuMemMap, base + GRANULE, GRANULE, 0, kept, 0)
    assert bytes_at(base + GRANULE, 3) == b"\3\2\1"
    ask(driver.cuMemUnmap, base, 3 * GRANULE)
    ask(driver.cuMemAddressFree, base, 3 * GRANULE)
    for handle in (first, second, again, kept):
        ask(driver.cuMemRelease, handle)
