"""Which launches a device refuses before the kernel starts, and as which CUDA error.

Belongs here: grid, block, shared memory and register limits, checked against devices/. Both back ends call
check_launch: the engine for its model device, the GPU so that the message names the limit.

The error names are those of the CUDA runtime: cudaErrorInvalidConfiguration for a grid, block or
`.reqntid` that cannot be, cudaErrorInvalidValue for more dynamic shared memory than a launch may ask for,
cudaErrorLaunchOutOfResources for a block whose threads or registers exceed what the kernel allows,
cudaErrorInvalidPtx for the static shared memory and the parameters that ptxas refuses. All fail at the launch
call (synchronous) and leave the device usable (not sticky).
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from ...devices.device import Limits
from ...errors import LaunchError
from .backend import Dim3

_AXES = "xyz"
_WARP = 32
# Bytes of a kernel's parameters (ptxas of CUDA 13 says so): from this compute capability on, and before.
_WIDE_SINCE, _PARAMETERS, FEW_PARAMETERS = (7, 0), 32764, 4352
# Blocks of a cluster that every GPU takes which has clusters.
_CLUSTERS_SINCE, LARGEST_CLUSTER = (9, 0), 8

Directives = Sequence[tuple[str, tuple[int, ...]]]


class LimitedDevice(Protocol):
    """What check_launch must know of a device: devices.Device, or a GPU that is present."""

    @property
    def name(self) -> str: ...

    @property
    def limits(self) -> Limits: ...


def as_dim3(value: object, what: str) -> Dim3:
    """Three extents from an int or a sequence of one to three ints; `what` is "grid", "block" or "cluster".

    Raises LaunchError where CUDA would: zero, negative and non-integer extents, and more than three.
    """
    if type(value) is int and value > 0:
        return value, 1, 1
    if type(value) is tuple and 0 < len(value) < 4:
        x, y, z = (*value, 1, 1)[:3]
        if type(x) is type(y) is type(z) is int and x > 0 < y and z > 0:
            return x, y, z
    parts: Sequence[object] = value if isinstance(value, tuple | list) else (value,)
    if not 1 <= len(parts) <= 3:
        raise _invalid(f"the {what} {value!r} has {len(parts)} dimensions; it needs one, two or three")
    extents = [_extent(part, value, what) for part in parts]
    return _padded(tuple(extents))


def _extent(part: object, whole: object, what: str) -> int:
    if not isinstance(part, bool | np.bool_):
        try:
            extent = operator.index(part)  # type: ignore[arg-type]  # refuses floats, strings, None
        except TypeError:
            pass
        else:
            if extent > 0:
                return extent
            raise _invalid(f"the {what} {whole!r} has an extent of {extent}; every extent is at least 1")
    hint = "; use (n + block - 1) // block, which is an integer" if isinstance(part, float) else ""
    raise _invalid(f"the {what} {whole!r} holds {part!r}, which is no integer{hint}")


def check_launch(
    device: LimitedDevice,
    grid: Dim3,
    block: Dim3,
    shared_static: int = 0,
    shared_dynamic: int = 0,
    registers: int | None = None,
    directives: Directives = (),
    parameters: int = 0,
    *,
    wide_parameters: bool = True,
) -> None:
    """Raise LaunchError if the device refuses this launch.

    Sizes in bytes; `registers` per thread, if known. `directives` are the entry's, as the PTX tree has them
    (("maxntid", (512,)), ...). `wide_parameters` says that the PTX is of a version that knows large parameter
    blocks (8.1).
    """
    limits = device.limits
    label = f"{device.name} (compute capability {limits.capability[0]}.{limits.capability[1]})"
    for what, dims, most in (("block", block, limits.block_dims), ("grid", grid, limits.grid_dims)):
        for axis, extent, limit in zip(_AXES, dims, most, strict=True):
            if extent > limit:
                raise _invalid(f"{what} {dims}: {axis} is {extent}, but {label} allows at most {limit}")
    threads = block[0] * block[1] * block[2]
    if threads > limits.threads_per_block:
        raise _invalid(
            f"block {block} has {threads} threads, but {label} allows at most "
            f"{limits.threads_per_block} per block"
        )
    _check_parameters(label, limits, parameters, wide_parameters)
    _check_shared(label, limits, shared_static, shared_dynamic)
    _check_directives(block, threads, directives)
    if registers is not None:
        _check_registers(label, limits, threads, registers)


def _check_parameters(label: str, limits: Limits, size: int, wide: bool) -> None:
    """What ptxas says: "uses too much parameter space"."""
    most = _PARAMETERS if wide and limits.capability >= _WIDE_SINCE else FEW_PARAMETERS
    if size > most:
        raise _refused(
            "cudaErrorInvalidPtx", f"{size} bytes of parameters, but {label} allows at most {most} per kernel"
        )


def _check_shared(label: str, limits: Limits, static: int, dynamic: int) -> None:
    most = limits.shared_per_block_optin
    if static > limits.shared_per_block:  # what ptxas says: "uses too much shared data"
        raise _refused(
            "cudaErrorInvalidPtx",
            f"{static} bytes of static shared memory, but {label} allows at most {limits.shared_per_block}"
            + (f"; dynamic shared memory may have {most} (extern __shared__)" if static <= most else ""),
        )
    if dynamic < 0:
        raise _refused("cudaErrorInvalidValue", f"dynamic shared memory of {dynamic} bytes")
    if static + dynamic > most:
        raise _refused(
            "cudaErrorInvalidValue",
            f"{dynamic} bytes of dynamic and {static} of static shared memory are {static + dynamic}, but "
            f"{label} allows at most {most} per block",
        )


def _check_directives(block: Dim3, threads: int, directives: Directives) -> None:
    for directive, values in directives:
        if directive == "reqntid":
            required = _padded(values)
            if block != required:
                raise _invalid(f"block {block}, but the kernel requires exactly {required} (.reqntid)")
        elif directive == "maxntid":
            allowed = 1
            for value in values:
                allowed *= value
            if threads > allowed:
                # The product counts, not the single extents (PTX ISA, .maxntid).
                raise _refused(
                    "cudaErrorLaunchOutOfResources",
                    f"block {block} has {threads} threads, but the kernel was compiled for at most "
                    f"{allowed} (__launch_bounds__, .maxntid)",
                )


def cluster_of(device: LimitedDevice, grid: Dim3, asked: Dim3 | None, directives: Directives) -> Dim3 | None:
    """The clusters of a launch, in blocks, from what it asks for and what the kernel's directives say.

    None where neither does: each block is one. Raises LaunchError for clusters that the device cannot have.
    """
    said = {name: values for name, values in directives if name in ("reqnctapercluster", "explicitcluster")}
    required = _padded(said["reqnctapercluster"]) if said.get("reqnctapercluster") else None
    if required is not None and asked is not None and asked != required:
        text = f"clusters of {asked} blocks, but the kernel requires {required} (__cluster_dims__)"
        raise _refused("cudaErrorInvalidClusterSize", text)
    cluster = asked or required
    if cluster is None:
        if "explicitcluster" in said:
            text = "the kernel is for clusters (__cluster_dims__()), and the launch does not say how large"
            raise _refused("cudaErrorInvalidClusterSize", f"{text} they are")
        return None
    blocks = cluster[0] * cluster[1] * cluster[2]
    if not 0 < blocks <= LARGEST_CLUSTER:
        raise _refused(
            "cudaErrorInvalidClusterSize",
            f"a cluster of {cluster} has {blocks} blocks; it may have 1 to {LARGEST_CLUSTER}",
        )
    if any(extent % step for extent, step in zip(grid, cluster, strict=True)):
        text = f"the grid {grid} is no multiple of the cluster {cluster}"
        raise _refused("cudaErrorInvalidClusterSize", text)
    if blocks > 1 and device.limits.capability < _CLUSTERS_SINCE:
        text = f"clusters of {blocks} blocks: {device.name} has none (compute capability 9.0 is the first)"
        raise _refused("cudaErrorNotSupported", text)
    return cluster


def registers_needed(limits: Limits, threads: int, registers: int) -> int:
    """What a block takes of the registers, as they are allocated (cudaOccMaxBlocksPerSMRegsLimit)."""
    warps = -(-threads // _WARP)
    if limits.capability < (2, 0):  # allocated per block, in pairs of warps
        return _up(_up(warps, limits.sub_partitions) * registers * _WARP, limits.register_unit)
    return _up(registers * _WARP, limits.register_unit) * _up(warps, limits.sub_partitions)


def _check_registers(label: str, limits: Limits, threads: int, registers: int) -> None:
    """The hardware's check of one block's registers."""
    needed = registers_needed(limits, threads, registers)
    if needed > limits.registers_per_block:
        raise _refused(
            "cudaErrorLaunchOutOfResources",
            f"{threads} threads of {registers} registers need {needed} registers as allocated, but "
            f"{label} has {limits.registers_per_block} per block: use smaller blocks, or compile the kernel "
            f"for {threads} threads (__launch_bounds__, max_registers)",
        )


def _up(value: int, step: int) -> int:
    return -(-value // step) * step


def _padded(values: tuple[int, ...]) -> Dim3:
    full = (*values, 1, 1)
    return full[0], full[1], full[2]


def _invalid(text: str) -> LaunchError:
    return _refused("cudaErrorInvalidConfiguration", text)


def _refused(cuda_name: str, text: str) -> LaunchError:
    return LaunchError(f"{cuda_name}: {text}", cuda_name=cuda_name, synchronous=True, sticky=False)
