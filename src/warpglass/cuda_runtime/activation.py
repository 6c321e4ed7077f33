"""Switching the runtime on: who asks for libcudart in this process then gets ours."""

from __future__ import annotations

import atexit
from typing import Any

from ..errors import ArgumentError
from ..numba_device import activate as activate_device
from ..numba_device.calls import Call
from ..numba_device.shared_library import SharedLibrary, Unavailable
from ..numba_device.shortcut_runtime import FUNCTIONS
from . import (  # noqa: F401  # functions by subject: importing a file fills CALLS
    array_calls,
    attribute_calls,
    batch_calls,
    device_calls,
    error_calls,
    function_calls,
    graph_calls,
    launch_calls,
    library_calls,
    memory_calls,
    node_calls,
    plane_calls,
    pool_calls,
    registration_calls,
    stream_calls,
    symbol_calls,
    texture_calls,
)
from .calls import CALLS
from .exports import RELEASES, table
from .results import Status
from .runtime import Runtime

_state: dict[str, Any] = {}


def activate(model: str = "h100") -> SharedLibrary:
    """Let programs that are loaded from now on find the runtime, on a GPU `model` of `warpglass devices`.

    Returns the library of the newest release, which is found as libcudart.so.13; libcudart.so.12 is there as
    well. A second call changes nothing. Raises ArgumentError where the virtual GPU cannot be switched on.
    """
    if _state:
        return _state["libraries"][RELEASES[-1]]
    runtime = Runtime(activate_device(model))
    led = _led(runtime)
    callbacks: dict[Call, Any] = {}  # one for each function, whatever names it has
    libraries: dict[int, SharedLibrary] = {}
    for release in RELEASES:
        functions: dict[str, Any] = {}
        for name, one in table(release).items():
            if one not in callbacks:
                callbacks[one] = led.get(one.name) or one.callback(runtime)
            functions[name] = callbacks[one]
        try:
            libraries[release] = SharedLibrary(f"libcudart.so.{release}", functions, Status.SUCCESS)
        except Unavailable as problem:
            raise ArgumentError(f"the CUDA runtime cannot be switched on here: {problem}") from None
        atexit.register(libraries[release].close)
    _state.update(runtime=runtime, libraries=libraries)
    return libraries[RELEASES[-1]]


def _led(runtime: Runtime) -> dict[str, Any]:
    """The functions that machine code stands before, by name."""
    found = runtime.shortcuts.lead({name: CALLS[name].callback(runtime) for name in FUNCTIONS})
    return {**found, "__cudaLaunchKernel": found["cudaLaunchKernel"]}


def active_runtime() -> Runtime | None:
    """The runtime that `activate` made; None before."""
    return _state.get("runtime")


def addresses(release: int = RELEASES[-1]) -> dict[str, int]:
    """The address of each function by the name that NVIDIA's library of a release, 12 or 13, exports."""
    library: SharedLibrary = _state["libraries"][release]
    return {name: library.address(name) or 0 for name in library.functions}
