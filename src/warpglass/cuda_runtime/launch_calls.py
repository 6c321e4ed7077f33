"""Functions of the runtime API that launch kernels and host functions."""

from __future__ import annotations

from math import prod

from ..engine.launch.backend import Dim3 as Dim
from ..numba_device.calls import Address, Handle, Size
from ..numba_device.launch_calls import Configuration, configuration_at, resident_blocks
from ..numba_device.launch_calls import launch as launch_kernel
from ..numba_device.module_calls import handle_of
from ..numba_device.results import Refusal, Result
from .calls import Dim3, also, call, same_as_driver, still
from .results import Status
from .runtime import Runtime


def _check(runtime: Runtime, grid: Dim, block: Dim) -> None:
    """Raise Refusal for a configuration that no launch can have, with the status that an H100 gives it."""
    model = runtime.device.model
    limits = model.limits
    for what, extents, most in (("grid", grid, limits.grid_dims), ("block", block, limits.block_dims)):
        x, y, z = extents
        if not (0 < x <= most[0] and 0 < y <= most[1] and 0 < z <= most[2]):
            text = f"a {what} of {extents}; extents are 1 to {tuple(most)} on {model.name}"
            status = Status.INVALID_CONFIGURATION if 0 in extents else Result.INVALID_VALUE
            raise Refusal(status, text)


def _launch_of(runtime: Runtime, function: int, grid: Dim, block: Dim) -> int:
    """The handle of a kernel that can be launched so; Refusal if it cannot."""
    kernel = runtime.registered.kernel(function)
    _check(runtime, grid, block)
    return handle_of(runtime.device, kernel)


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


@still
@call
def cudaLaunchKernelExC(runtime: Runtime, config: Address, function: Address, parameters: Address) -> None:
    given = configuration_at(config)
    launch_kernel(
        runtime.device, _launch_of(runtime, function, given.grid, given.block), given, parameters, 0
    )


same_as_driver("cudaLaunchHostFunc")
