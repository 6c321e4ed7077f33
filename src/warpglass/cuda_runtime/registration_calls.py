"""Functions that code made by nvcc calls: registration of device code, and a launch's configuration.

Belongs here: the functions whose names begin with two underscores. They are not documented;
crt/host_runtime.h has their prototypes.
"""

from __future__ import annotations

import ctypes
import threading

from ..numba_device.calls import Address, Handle, Int, Size, put, text_at
from ..numba_device.launch_calls import Configuration
from ..numba_device.results import Refusal
from .calls import Dim3, call, call_anywhere, still
from .results import Status
from .runtime import Runtime


@call_anywhere
def __cudaRegisterFatBinary(runtime: Runtime, wrapper: Address) -> Address:
    return runtime.registered.add_binary(wrapper)


@call_anywhere
def __cudaRegisterFatBinaryEnd(runtime: Runtime, binary: Address) -> None:
    """All of a fat binary is registered; it is loaded when it is used."""


_REGISTER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@call_anywhere
def __cudaRegisterLinkedBinary(
    runtime: Runtime, register: Address, wrapper: Address, number: Address, reference: Address
) -> None:
    """What the units of separate compilation call, each by a name of its own that ends in its number.

    No library of NVIDIA's has it: nvlink writes these functions, and what builds programs leads them here.
    """
    _REGISTER(register)(runtime.registered.add_unit(wrapper))


@call_anywhere
def __cudaUnregisterFatBinary(runtime: Runtime, binary: Address) -> None:
    runtime.registered.remove_binary(binary)


@call_anywhere
def __cudaRegisterFunction(
    runtime: Runtime,
    binary: Address,
    host: Address,
    device_function: Address,
    name: Address,
    thread_limit: Int,
    thread: Address,
    block: Address,
    block_extents: Address,
    grid_extents: Address,
    warp_size: Address,
) -> None:
    runtime.registered.add_kernel(binary, host, text_at(name))


@call_anywhere
def __cudaRegisterVar(
    runtime: Runtime,
    binary: Address,
    shadow: Address,
    device_address: Address,
    name: Address,
    extern: Int,
    size: Size,
    constant: Int,
    of_all: Int,
) -> None:
    runtime.registered.add_variable(binary, shadow, text_at(name))


@call_anywhere
def __cudaRegisterManagedVar(
    runtime: Runtime,
    binary: Address,
    place: Address,
    device_address: Address,
    name: Address,
    extern: Int,
    size: Size,
    constant: Int,
    of_all: Int,
) -> None:
    runtime.registered.add_managed(binary, place, text_at(name))


@call_anywhere
def __cudaRegisterHostVar(runtime: Runtime, binary: Address, name: Address) -> None:
    """A variable of the host that device code names: it has its own address there too."""


@call_anywhere
def __cudaInitModule(runtime: Runtime, binary: Address) -> int:
    """Before a managed variable is used: it gets its address. Returns 1, a char."""
    runtime.use_primary()
    runtime.registered.load(binary)
    return 1


@still
@call
def __cudaGetKernel(runtime: Runtime, kernel: Address, function: Address) -> None:
    """A kernel's stub asks once and launches by the answer, which stays right when the device is reset.

    It launches whatever this returns, and the launch says why there is no kernel.
    """
    put(kernel, function)
    runtime.registered.kernel(function)


@still
@call_anywhere
def __cudaPushCallConfiguration(
    runtime: Runtime, grid: Dim3, block: Dim3, shared: Size, stream: Handle
) -> int:
    mine = runtime.configurations.setdefault(threading.get_ident(), [])
    mine.append(Configuration(grid.extents, block.extents, shared, stream))
    return 0


@still
@call_anywhere
def __cudaPopCallConfiguration(
    runtime: Runtime, grid: Address, block: Address, shared: Address, stream: Address
) -> None:
    mine = runtime.configurations.get(threading.get_ident())
    if not mine:
        raise Refusal(Status.MISSING_CONFIGURATION, "a kernel is called without <<<>>>")
    given = mine.pop()
    for place, extents in ((grid, given.grid), (block, given.block)):
        ctypes.memmove(place, ctypes.byref(Dim3(*extents)), ctypes.sizeof(Dim3))
    put(shared, given.shared)
    put(stream, given.stream)
