"""Functions of the driver API about modules, libraries, kernels and functions, and their launches.

A library is a module, and a kernel a function: there is one device.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

from .calls import Address, Handle, Int, Ordinal, Size, UInt, also, call, put, put_int, still, text_at
from .device import VirtualDevice
from .device_calls import lasting
from .images import parse_image, read_image
from .jit_logs import JitLogs
from .modules import LoadedKernel, LoadedModule
from .results import Refusal, Result

_MAX_DYNAMIC_SHARED, _CARVEOUT = 8, 9


# ---------------------------------------------------------------------------------------- loading
@also("cuModuleLoadFatBinary")
@call
def cuModuleLoadData(device: VirtualDevice, module: Address, image: Address) -> None:
    put(module, device.add(LoadedModule(device, read_image(image, architecture(device)))))


def architecture(device: VirtualDevice) -> int:
    """The architecture whose code the device takes, such as 90."""
    major, minor = device.model.capability
    return 10 * major + minor


@call
def cuModuleLoadDataEx(
    device: VirtualDevice, module: Address, image: Address, count: UInt, options: Address, values: Address
) -> None:
    with JitLogs.of(count, options, values).filled():
        cuModuleLoadData(device, module, image)


@call
def cuModuleLoad(device: VirtualDevice, module: Address, path: Address) -> None:
    file = Path(text_at(path))
    try:
        content = file.read_bytes()
    except OSError as error:
        raise Refusal(Result.FILE_NOT_FOUND, f"{file}: {error.strerror}") from None
    put(module, device.add(LoadedModule(device, parse_image(content, architecture(device)))))


@also("cuLibraryUnload")
@call
def cuModuleUnload(device: VirtualDevice, module: Handle) -> None:
    unload(device, module)


def unload(device: VirtualDevice, module: int) -> None:
    """Remove a module with its kernels."""
    unloaded = device.remove(module, LoadedModule)
    unloaded.unload()
    for kernel in list(device.handles_of(LoadedKernel)):
        if device.get(kernel, LoadedKernel).module is unloaded:
            device.remove(kernel, LoadedKernel)


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
    with JitLogs.of(count, options, values).filled():
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


# ---------------------------------------------------------------------------------------- finding
def handle_of(device: VirtualDevice, kernel: LoadedKernel) -> int:
    """The handle of a kernel: the same whenever it is asked for."""
    if kernel.handle is None:
        kernel.handle = device.add(kernel)
    return kernel.handle


@also("cuLibraryGetKernel")
@call
def cuModuleGetFunction(device: VirtualDevice, function: Address, module: Handle, name: Address) -> None:
    put(function, handle_of(device, device.get(module, LoadedModule).kernel(text_at(name))))


@also("cuLibraryGetKernelCount")
@call
def cuModuleGetFunctionCount(device: VirtualDevice, count: Address, module: Handle) -> None:
    put(count, len(device.get(module, LoadedModule).entries), ctypes.c_uint32)


@call
def cuLibraryEnumerateKernels(device: VirtualDevice, kernels: Address, count: UInt, library: Handle) -> None:
    module = device.get(library, LoadedModule)
    for position, name in enumerate(module.entries[:count]):
        put(kernels + 8 * position, handle_of(device, module.kernel(name)))


@call
def cuLibraryGetModule(device: VirtualDevice, module: Address, library: Handle) -> None:
    device.get(library, LoadedModule)
    put(module, library)


@still
@call
def cuKernelGetFunction(device: VirtualDevice, function: Address, kernel: Handle) -> None:
    device.get(kernel, LoadedKernel)
    put(function, kernel)


@also("cuFuncGetModule")
@call
def cuKernelGetLibrary(device: VirtualDevice, library: Address, kernel: Handle) -> None:
    wanted = device.get(kernel, LoadedKernel).module
    put(
        library,
        next(one for one in device.handles_of(LoadedModule) if device.get(one, LoadedModule) is wanted),
    )


@also("cuLibraryGetGlobal")
@call
def cuModuleGetGlobal(
    device: VirtualDevice, address: Address, size: Address, module: Handle, name: Address
) -> None:
    place, extent = device.get(module, LoadedModule).lent(text_at(name))
    put(address, place)
    put(size, extent)


# ---------------------------------------------------------------------------------------- asking
def attribute_of(kernel: LoadedKernel, attribute: int) -> int:
    """One of CUfunction_attribute; 0 for those that no kernel here has."""
    if attribute == _MAX_DYNAMIC_SHARED:
        return kernel.max_dynamic_shared
    if attribute == _CARVEOUT:
        return kernel.carveout
    names = {0: "threads", 1: "shared", 2: "const", 3: "local", 4: "registers"}
    if attribute in names:
        return kernel.attributes[names[attribute]]
    major, minor = kernel.module.device.model.capability
    return {5: kernel.module.architecture, 6: 10 * major + minor}.get(attribute, 0)


@still
@call
def cuFuncGetAttribute(device: VirtualDevice, value: Address, attribute: Int, function: Handle) -> None:
    put_int(value, attribute_of(device.get(function, LoadedKernel), attribute))


@call
def cuKernelGetAttribute(
    device: VirtualDevice, value: Address, attribute: Int, kernel: Handle, number: Ordinal
) -> None:
    cuFuncGetAttribute(device, value, attribute, kernel)


@call
def cuFuncSetAttribute(device: VirtualDevice, function: Handle, attribute: Int, value: Int) -> None:
    kernel = device.get(function, LoadedKernel)
    if attribute == _MAX_DYNAMIC_SHARED:
        most = device.model.limits.shared_per_block_optin - kernel.static_shared
        if not 0 <= value <= most:
            text = (
                f"{value} bytes of dynamic shared memory, but {device.model.name} has {most} for this kernel"
            )
            raise Refusal(Result.INVALID_VALUE, text)
        kernel.allowed_shared = value
    elif attribute == _CARVEOUT and -1 <= value <= 100:
        kernel.carveout = value
    else:
        raise Refusal(Result.INVALID_VALUE, f"attribute {attribute} of a kernel cannot be {value}")


@call
def cuKernelSetAttribute(
    device: VirtualDevice, attribute: Int, value: Int, kernel: Handle, number: Ordinal
) -> None:
    cuFuncSetAttribute(device, kernel, attribute, value)


@call
def cuFuncSetCacheConfig(device: VirtualDevice, function: Handle, config: Int) -> None:
    device.get(function, LoadedKernel)


@call
def cuKernelSetCacheConfig(device: VirtualDevice, kernel: Handle, config: Int, number: Int) -> None:
    device.get(kernel, LoadedKernel)


@also("cuKernelGetName")
@call
def cuFuncGetName(device: VirtualDevice, name: Address, function: Handle) -> None:
    put(name, lasting(device.get(function, LoadedKernel).entry.name))


@also("cuKernelGetParamInfo")
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
def cuFuncIsLoaded(device: VirtualDevice, state: Address, function: Handle) -> None:
    device.get(function, LoadedKernel)
    put_int(state, 1)


@call
def cuFuncLoad(device: VirtualDevice, function: Handle) -> None:
    device.get(function, LoadedKernel)
