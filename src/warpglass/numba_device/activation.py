"""Switching the virtual device on: who asks for NVIDIA's driver in this process then gets ours."""

from __future__ import annotations

import atexit
import ctypes
import os

from .. import devices
from ..errors import ArgumentError
from . import (  # noqa: F401  # functions by subject: importing a file fills CALLS
    array_calls,
    attribute_calls,
    device_calls,
    graph_calls,
    launch_calls,
    link_calls,
    memory_calls,
    memset_calls,
    module_calls,
    node_calls,
    node_parameter_calls,
    peer_calls,
    plane_calls,
    pool_calls,
    stream_calls,
    texture_calls,
    virtual_memory_calls,
)
from .calls import CALLS, Address, Int, Size, call_anywhere, put, put_int, text_at
from .compiler import Nvrtc
from .device import VirtualDevice
from .driver_names import exported, missing
from .hook import LOW_OCCUPANCY, watch_imports
from .linker import NvJitLink, find_library
from .results import Result
from .shared_library import SharedLibrary, Unavailable
from .versioned_names import with_versions
from .versions import refuse_imported

_SONAME = "libcuda.so.1"
_state: dict[str, object] = {}


def activate(model: str = "h100") -> VirtualDevice:
    """Let this process find one GPU, a `model` of `warpglass device`, whose work the CPU engine does.

    Must come before numba.cuda or numba_cuda_mlir are imported, and before the first use of the driver. A
    second call changes nothing. Raises ArgumentError where it comes too late, or the platform has no such
    libraries.
    """
    device = active_device()
    if device is not None:
        return device
    refuse_imported()
    _refuse_late()
    watch_imports()
    os.environ.setdefault(LOW_OCCUPANCY, "0")
    device = VirtualDevice(devices.get(model))
    functions = device.shortcuts.lead({name: one.callback(device) for name, one in CALLS.items()})
    try:
        library = SharedLibrary(_SONAME, with_versions(functions), Result.SUCCESS, versioned=False)
    except Unavailable as problem:
        raise ArgumentError(f"the virtual device cannot be switched on here: {problem}") from None
    _state.update(device=device, library=library)
    atexit.register(library.close)
    atexit.register(device.behind.finish)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=device.after_fork)
    for name, stand_in in (("nvJitLink", NvJitLink), ("nvrtc", Nvrtc)):
        path = find_library(name)
        if path is not None:
            _state[name] = before = stand_in(path)
            atexit.register(before.library.close)
    return device


def active_device() -> VirtualDevice | None:
    """The device that `activate` made; None before."""
    found = _state.get("device")
    return found if isinstance(found, VirtualDevice) else None


def active_library() -> SharedLibrary | None:
    """The library that programs take for the driver's; None before `activate`."""
    found = _state.get("library")
    return found if isinstance(found, SharedLibrary) else None


def stand_in_library(name: str) -> SharedLibrary | None:
    """The library that programs take for NVIDIA's `nvrtc` or `nvJitLink`; None if that is not installed."""
    found = _state.get(name)
    return found.library if isinstance(found, Nvrtc | NvJitLink) else None


def jit_linker() -> NvJitLink | None:
    """NVIDIA's linker of LTO-IR; None if it is not installed."""
    found = _state.get("nvJitLink")
    return found if isinstance(found, NvJitLink) else None


def _refuse_late() -> None:
    """Raise ArgumentError if a driver is loaded in this process: programs keep its addresses.

    That of the bridge (programs/bridge/) leads here.
    """
    try:
        loaded = ctypes.CDLL(_SONAME, mode=ctypes.DEFAULT_MODE | 4)  # RTLD_NOLOAD
    except OSError:
        return
    if hasattr(loaded, "warpglass_enter"):
        return
    raise ArgumentError(
        "NVIDIA's driver is in use in this process already: activate the virtual device before anything asks "
        "for a GPU, or start the program with `warpglass run`"
    )


@call_anywhere
def cuGetProcAddress_v2(
    device: VirtualDevice, name: Address, place: Address, version: Int, flags: Size, status: Address
) -> None:
    _find(name, place, status)


@call_anywhere
def cuGetProcAddress(device: VirtualDevice, name: Address, place: Address, version: Int, flags: Size) -> None:
    _find(name, place, 0)


def _find(name: int, place: int, status: int) -> None:
    """The address of a function by its name in cuda.h, which has no version."""
    library = active_library()
    assert library is not None, "the library is loaded"
    wanted = text_at(name)
    address = library.address("cuGetProcAddress_v2" if wanted == "cuGetProcAddress" else wanted)
    if address is None and wanted in exported():
        address = missing(wanted)  # a program may ask for many and call few
    put(place, address or 0)
    # CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND; the call succeeds nevertheless.
    put_int(status, 0 if address else 1)
