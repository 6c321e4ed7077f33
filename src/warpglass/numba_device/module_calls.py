"""Functions of the driver API about modules, libraries, kernels and functions, and their launches.

A library is a module, and a kernel a function: there is one device.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

from ..models.occupancy import Demand, occupancy
from .calls import Address, Handle, Int, Refusal, Result, Size, UInt, call, put, put_int, text_at, word
from .device import VirtualDevice
from .device_calls import DRIVER_VERSION, check_device, lasting
from .images import parse_image, read_image
from .modules import LoadedKernel, LoadedModule
from .stream_calls import stream_of

# CU_LAUNCH_PARAM_*: the list of `extra`
_END, _BUFFER, _BUFFER_SIZE = 0, 1, 2
_MAX_DYNAMIC_SHARED, _CARVEOUT = 8, 9
_PTX_VERSION = DRIVER_VERSION // 100 - 40  # CUDA 13.0 has PTX 9.0


# ---------------------------------------------------------------------------------------- loading
@call
def cuModuleLoadData(device: VirtualDevice, module: Address, image: Address) -> None:
    put(module, device.add(LoadedModule(device, read_image(image))))


@call
def cuModuleLoadDataEx(
    device: VirtualDevice, module: Address, image: Address, count: UInt, options: Address, values: Address
) -> None:
    cuModuleLoadData(device, module, image)


@call
def cuModuleLoadFatBinary(device: VirtualDevice, module: Address, image: Address) -> None:
    cuModuleLoadData(device, module, image)


@call
def cuModuleLoad(device: VirtualDevice, module: Address, path: Address) -> None:
    file = Path(text_at(path))
    try:
        content = file.read_bytes()
    except OSError as error:
        raise Refusal(Result.FILE_NOT_FOUND, f"{file}: {error.strerror}") from None
    put(module, device.add(LoadedModule(device, parse_image(content))))


@call
def cuModuleUnload(device: VirtualDevice, module: Handle) -> None:
    _unload(device, module)


@call
def cuLibraryLoadData(
    device: VirtualDevice,
    library: Address,
    image: Address,
    options: Address,
    values: Address,
    count: UInt,
    library_options: Address,
    library_values: Address,
    library_count: UInt,
) -> None:
    cuModuleLoadData(device, library, image)


@call
def cuLibraryLoadFromFile(
    device: VirtualDevice,
    library: Address,
    path: Address,
    options: Address,
    values: Address,
    count: UInt,
    library_options: Address,
    library_values: Address,
    library_count: UInt,
) -> None:
    cuModuleLoad(device, library, path)


@call
def cuLibraryUnload(device: VirtualDevice, library: Handle) -> None:
    _unload(device, library)


def _unload(device: VirtualDevice, handle: int) -> None:
    module = device.remove(handle, LoadedModule)
    for kernel in list(device.handles_of(LoadedKernel)):
        if device.get(kernel, LoadedKernel).module is module:
            device.remove(kernel, LoadedKernel)


# ---------------------------------------------------------------------------------------- finding
def _find_kernel(device: VirtualDevice, place: int, module: int, name: int) -> None:
    kernel = device.get(module, LoadedModule).kernel(text_at(name))
    put(place, _handle(device, kernel))


def _handle(device: VirtualDevice, kernel: LoadedKernel) -> int:
    """The handle of a kernel: the same whenever it is asked for."""
    if kernel.handle is None:
        kernel.handle = device.add(kernel)
    return kernel.handle


@call
def cuModuleGetFunction(device: VirtualDevice, function: Address, module: Handle, name: Address) -> None:
    _find_kernel(device, function, module, name)


@call
def cuLibraryGetKernel(device: VirtualDevice, kernel: Address, library: Handle, name: Address) -> None:
    _find_kernel(device, kernel, library, name)


@call
def cuModuleGetFunctionCount(device: VirtualDevice, count: Address, module: Handle) -> None:
    put(count, len(device.get(module, LoadedModule).entries), ctypes.c_uint32)


@call
def cuLibraryGetKernelCount(device: VirtualDevice, count: Address, library: Handle) -> None:
    cuModuleGetFunctionCount(device, count, library)


@call
def cuLibraryEnumerateKernels(device: VirtualDevice, kernels: Address, count: UInt, library: Handle) -> None:
    module = device.get(library, LoadedModule)
    for position, name in enumerate(module.entries[:count]):
        put(kernels + 8 * position, _handle(device, module.kernel(name)))


@call
def cuLibraryGetModule(device: VirtualDevice, module: Address, library: Handle) -> None:
    device.get(library, LoadedModule)
    put(module, library)


@call
def cuKernelGetFunction(device: VirtualDevice, function: Address, kernel: Handle) -> None:
    device.get(kernel, LoadedKernel)
    put(function, kernel)


@call
def cuKernelGetLibrary(device: VirtualDevice, library: Address, kernel: Handle) -> None:
    wanted = device.get(kernel, LoadedKernel).module
    put(
        library,
        next(one for one in device.handles_of(LoadedModule) if device.get(one, LoadedModule) is wanted),
    )


@call
def cuFuncGetModule(device: VirtualDevice, module: Address, function: Handle) -> None:
    cuKernelGetLibrary(device, module, function)


def _find_variable(device: VirtualDevice, address: int, size: int, module: int, name: int) -> None:
    place, extent = device.get(module, LoadedModule).variable(text_at(name))
    put(address, place)
    put(size, extent)


@call
def cuModuleGetGlobal(
    device: VirtualDevice, address: Address, size: Address, module: Handle, name: Address
) -> None:
    _find_variable(device, address, size, module, name)


@call
def cuLibraryGetGlobal(
    device: VirtualDevice, address: Address, size: Address, library: Handle, name: Address
) -> None:
    _find_variable(device, address, size, library, name)


# ---------------------------------------------------------------------------------------- asking
def _attribute(kernel: LoadedKernel, attribute: int) -> int:
    """One of CUfunction_attribute."""
    if attribute == _MAX_DYNAMIC_SHARED:
        return kernel.max_dynamic_shared
    if attribute == _CARVEOUT:
        return kernel.carveout
    names = {0: "threads", 1: "shared", 2: "const", 3: "local", 4: "registers"}
    if attribute in names:
        return kernel.attributes[names[attribute]]
    major, minor = kernel.module.device.model.capability
    return {5: _PTX_VERSION, 6: 10 * major + minor}.get(attribute, 0)


@call
def cuFuncGetAttribute(device: VirtualDevice, value: Address, attribute: Int, function: Handle) -> None:
    put_int(value, _attribute(device.get(function, LoadedKernel), attribute))


@call
def cuKernelGetAttribute(
    device: VirtualDevice, value: Address, attribute: Int, kernel: Handle, number: Int
) -> None:
    check_device(number)
    cuFuncGetAttribute(device, value, attribute, kernel)


@call
def cuFuncSetAttribute(device: VirtualDevice, function: Handle, attribute: Int, value: Int) -> None:
    kernel = device.get(function, LoadedKernel)
    most = device.model.limits.shared_per_block_optin
    if attribute == _MAX_DYNAMIC_SHARED and 0 <= value <= most:
        kernel.max_dynamic_shared = value
    elif attribute == _CARVEOUT and -1 <= value <= 100:
        kernel.carveout = value
    else:
        raise Refusal(Result.INVALID_VALUE, f"attribute {attribute} of a kernel cannot be {value}")


@call
def cuKernelSetAttribute(
    device: VirtualDevice, attribute: Int, value: Int, kernel: Handle, number: Int
) -> None:
    check_device(number)
    cuFuncSetAttribute(device, kernel, attribute, value)


@call
def cuFuncSetCacheConfig(device: VirtualDevice, function: Handle, config: Int) -> None:
    device.get(function, LoadedKernel)


@call
def cuKernelSetCacheConfig(device: VirtualDevice, kernel: Handle, config: Int, number: Int) -> None:
    device.get(kernel, LoadedKernel)


@call
def cuFuncGetName(device: VirtualDevice, name: Address, function: Handle) -> None:
    put(name, lasting(device.get(function, LoadedKernel).entry.name))


@call
def cuKernelGetName(device: VirtualDevice, name: Address, kernel: Handle) -> None:
    cuFuncGetName(device, name, kernel)


@call
def cuFuncGetParamInfo(
    device: VirtualDevice, function: Handle, index: Size, offset: Address, size: Address
) -> None:
    places = device.get(function, LoadedKernel).places
    if index >= len(places):
        raise Refusal(Result.INVALID_VALUE)
    put(offset, places[index][0])
    put(size, places[index][1])


@call
def cuKernelGetParamInfo(
    device: VirtualDevice, kernel: Handle, index: Size, offset: Address, size: Address
) -> None:
    cuFuncGetParamInfo(device, kernel, index, offset, size)


@call
def cuFuncIsLoaded(device: VirtualDevice, state: Address, function: Handle) -> None:
    device.get(function, LoadedKernel)
    put_int(state, 1)


@call
def cuFuncLoad(device: VirtualDevice, function: Handle) -> None:
    device.get(function, LoadedKernel)


# ---------------------------------------------------------------------------------------- occupancy
def _resident_blocks(device: VirtualDevice, kernel: LoadedKernel, threads: int, shared: int) -> int:
    found = kernel.attributes
    demand = Demand(threads, found["registers"], found["shared"], shared)
    return occupancy(demand, device.model.limits).blocks


@call
def cuOccupancyMaxActiveBlocksPerMultiprocessor(
    device: VirtualDevice, count: Address, function: Handle, threads: Int, shared: Size
) -> None:
    put_int(count, _resident_blocks(device, device.get(function, LoadedKernel), threads, shared))


@call
def cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    device: VirtualDevice, count: Address, function: Handle, threads: Int, shared: Size, flags: UInt
) -> None:
    cuOccupancyMaxActiveBlocksPerMultiprocessor(device, count, function, threads, shared)


_SHARED_OF_BLOCK = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)


@call
def cuOccupancyMaxPotentialBlockSize(
    device: VirtualDevice,
    grid: Address,
    block: Address,
    function: Handle,
    shared_of_block: Address,
    shared: Size,
    limit: Int,
) -> None:
    kernel = device.get(function, LoadedKernel)
    most = kernel.attributes["threads"]
    given = _SHARED_OF_BLOCK(shared_of_block) if shared_of_block else None
    best, threads = 0, 0
    for size in range(min(most, limit or most) // 32 * 32, 0, -32):
        blocks = _resident_blocks(device, kernel, size, shared if given is None else given(size))
        if blocks * size > best * threads:
            best, threads = blocks, size
    put_int(grid, best * device.model.multiprocessors)
    put_int(block, threads)


@call
def cuOccupancyAvailableDynamicSMemPerBlock(
    device: VirtualDevice, size: Address, function: Handle, blocks: Int, threads: Int
) -> None:
    limits = device.model.limits
    static = device.get(function, LoadedKernel).attributes["shared"]
    share = limits.shared_per_sm // max(1, blocks) // limits.shared_unit * limits.shared_unit
    put(size, max(0, min(share - limits.shared_reserved, limits.shared_per_block_optin) - static))


# ---------------------------------------------------------------------------------------- launching
@call
def cuLaunchKernel(
    device: VirtualDevice,
    function: Handle,
    grid_x: UInt,
    grid_y: UInt,
    grid_z: UInt,
    block_x: UInt,
    block_y: UInt,
    block_z: UInt,
    shared: UInt,
    stream: Handle,
    parameters: Address,
    extra: Address,
) -> None:
    stream_of(device, stream)
    kernel = device.get(function, LoadedKernel)
    grid, block = (grid_x, grid_y, grid_z), (block_x, block_y, block_z)
    if 0 in grid or 0 in block:
        raise Refusal(Result.INVALID_VALUE, f"an extent of the grid {grid} or the block {block} is 0")
    if block_x * block_y * block_z > kernel.bounds:
        text = f"a block of {block}, but the kernel was compiled for at most {kernel.bounds} threads"
        raise Refusal(Result.INVALID_VALUE, text)
    if shared > kernel.max_dynamic_shared:
        raise Refusal(
            Result.INVALID_VALUE,
            f"{shared} bytes of dynamic shared memory, but the kernel allows {kernel.max_dynamic_shared}",
        )
    packed = _packed(kernel, parameters) if parameters or not extra else _given(kernel, extra)
    device.launch(kernel.launch(grid, block, shared, packed))


def _packed(kernel: LoadedKernel, parameters: int) -> bytes:
    """The block of parameters, from a pointer to each."""
    places = kernel.places
    block = bytearray(kernel.layout.size)
    if places and not parameters:
        raise Refusal(Result.INVALID_VALUE, f"{kernel.compiled.name} takes parameters, and got none")
    pointers = (ctypes.c_uint64 * len(places)).from_address(parameters) if places else ()
    for (offset, size), pointer in zip(places, pointers, strict=True):
        block[offset : offset + size] = ctypes.string_at(pointer, size)
    return bytes(block)


def _given(kernel: LoadedKernel, extra: int) -> bytes:
    """The block of parameters as the program packed it: pairs of a key and a pointer."""
    found: dict[int, int] = {}
    while (key := word(extra)) != _END:
        found[key] = word(extra + 8)
        extra += 16
    size = word(found[_BUFFER_SIZE])
    return ctypes.string_at(found[_BUFFER], size).ljust(kernel.layout.size, b"\0")[: kernel.layout.size]


class _Configuration(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = [
        *(
            (name, ctypes.c_uint32)
            for name in ("grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z")
        ),
        ("shared", ctypes.c_uint32),
        ("stream", ctypes.c_uint64),
        ("attributes", ctypes.c_uint64),
        ("count", ctypes.c_uint32),
    ]


@call
def cuLaunchKernelEx(
    device: VirtualDevice, config: Address, function: Handle, parameters: Address, extra: Address
) -> None:
    given = _Configuration.from_address(config)
    extents = given.grid_x, given.grid_y, given.grid_z, given.block_x, given.block_y, given.block_z
    cuLaunchKernel(device, function, *extents, given.shared, given.stream or 0, parameters, extra)


@call
def cuLaunchCooperativeKernel(
    device: VirtualDevice,
    function: Handle,
    grid_x: UInt,
    grid_y: UInt,
    grid_z: UInt,
    block_x: UInt,
    block_y: UInt,
    block_z: UInt,
    shared: UInt,
    stream: Handle,
    parameters: Address,
) -> None:
    extents = grid_x, grid_y, grid_z, block_x, block_y, block_z
    cuLaunchKernel(device, function, *extents, shared, stream, parameters, 0)
