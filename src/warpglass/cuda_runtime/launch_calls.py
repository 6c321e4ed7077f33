"""Functions of the runtime API that launch kernels and host functions."""

from __future__ import annotations

import ctypes
from math import prod

from ..numba_device.calls import Address, Handle, Size
from ..numba_device.launch_calls import Configuration, resident_blocks
from ..numba_device.launch_calls import launch as launch_kernel
from ..numba_device.results import Refusal, Result
from .calls import Dim3, also, call, same_as_driver, still
from .results import Status
from .runtime import Runtime


def _check(runtime: Runtime, grid: tuple[int, ...], block: tuple[int, ...]) -> None:
    """Raise Refusal for a configuration that no launch can have."""
    limits = runtime.device.model.limits
    for what, extents, most in (("grid", grid, limits.grid_dims), ("block", block, limits.block_dims)):
        if any(not 0 < extent <= limit for extent, limit in zip(extents, most, strict=True)):
            text = f"a {what} of {extents}; extents are 1 to {tuple(most)} on {runtime.device.model.name}"
            raise Refusal(Status.INVALID_CONFIGURATION, text)
    if prod(block) > limits.threads_per_block:
        text = f"a block of {block} has {prod(block)} threads; it may have {limits.threads_per_block}"
        raise Refusal(Status.INVALID_CONFIGURATION, text)


def _launch_of(runtime: Runtime, function: int, grid: tuple[int, ...], block: tuple[int, ...]) -> int:
    """The handle of a kernel that can be launched so; Refusal if it cannot."""
    kernel = runtime.registered.kernel(function)
    _check(runtime, grid, block)
    if prod(block) > kernel.bounds:
        text = f"{kernel.compiled.name} was compiled for blocks of {kernel.bounds} threads, not {prod(block)}"
        raise Refusal(Result.LAUNCH_OUT_OF_RESOURCES, text)
    return runtime.registered.kernel_handle(function)


@also("__cudaLaunchKernel")
@still
@call
def cudaLaunchKernel(
    runtime: Runtime,
    function: Address,
    grid: Dim3,
    block: Dim3,
    parameters: Address,
    shared: Size,
    stream: Handle,
) -> None:
    kernel = _launch_of(runtime, function, grid.extents, block.extents)
    given = Configuration(grid.extents, block.extents, shared, stream)
    launch_kernel(runtime.device, kernel, given, parameters, 0, function)


@still
@call
def cudaLaunchCooperativeKernel(
    runtime: Runtime,
    function: Address,
    grid: Dim3,
    block: Dim3,
    parameters: Address,
    shared: Size,
    stream: Handle,
) -> None:
    handle = _launch_of(runtime, function, grid.extents, block.extents)
    device = runtime.device
    blocks = resident_blocks(device, runtime.registered.kernel(function), prod(block.extents), shared)
    if prod(grid.extents) > blocks * device.model.multiprocessors:
        text = f"{prod(grid.extents)} blocks, but {blocks * device.model.multiprocessors} can run at once"
        raise Refusal(Result.COOPERATIVE_LAUNCH_TOO_LARGE, text)
    runtime.driver(
        "cuLaunchCooperativeKernel", handle, *grid.extents, *block.extents, shared, stream, parameters
    )


class LaunchConfig(ctypes.Structure):
    """cudaLaunchConfig_t."""

    _fields_ = [
        ("grid", Dim3),
        ("block", Dim3),
        ("shared", ctypes.c_size_t),
        ("stream", ctypes.c_uint64),
        ("attributes", ctypes.c_uint64),
        ("count", ctypes.c_uint32),
    ]


@still
@call
def cudaLaunchKernelExC(runtime: Runtime, config: Address, function: Address, parameters: Address) -> None:
    given = LaunchConfig.from_address(config)
    kernel = _launch_of(runtime, function, given.grid.extents, given.block.extents)
    runtime.driver("cuLaunchKernelEx", config, kernel, parameters, 0)


same_as_driver("cudaLaunchHostFunc")
