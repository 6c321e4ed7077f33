"""Functions of the driver API about what a kernel's launch takes of a multiprocessor, and launches."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, replace
from functools import partial
from math import prod

from .. import lab
from ..engine.cpu.replay import is_short
from ..engine.cpu.thread_pool import thread_count
from ..engine.launch.backend import Dim3, Launch
from ..models.occupancy import Demand, occupancy
from .calls import Address, Handle, Int, Size, UInt, call, put, put_int, still, word
from .device import VirtualDevice
from .device_launches import launch_all
from .graphs import Kind
from .modules import LONG, LoadedKernel
from .results import Refusal, Result
from .stream_calls import DEFAULT_STREAMS, Stream, stream_of

# CU_LAUNCH_PARAM_*: the list of `extra`
_END, _BUFFER, _BUFFER_SIZE = 0, 1, 2


# ---------------------------------------------------------------------------------------- occupancy
def resident_blocks(device: VirtualDevice, kernel: LoadedKernel, threads: int, shared: int) -> int:
    """The most blocks of a kernel that a multiprocessor holds at once."""
    found = kernel.attributes
    demand = Demand(threads, found["registers"], found["shared"], shared)
    return occupancy(demand, device.model.limits).blocks


@call
def cuOccupancyMaxActiveBlocksPerMultiprocessor(
    device: VirtualDevice, count: Address, function: Handle, threads: Int, shared: Size
) -> None:
    put_int(count, resident_blocks(device, device.get(function, LoadedKernel), threads, shared))


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
        blocks = resident_blocks(device, kernel, size, shared if given is None else given(size))
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
@dataclass(frozen=True, slots=True)
class Configuration:
    """What a launch is of: all but its parameters."""

    grid: Dim3
    block: Dim3
    shared: int
    stream: int
    cooperative: bool = False
    cluster: Dim3 | None = None


@still
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
    extents = (grid_x, grid_y, grid_z), (block_x, block_y, block_z)
    launch(device, function, Configuration(*extents, shared, stream), parameters, extra)


@dataclass(frozen=True, slots=True)
class KernelLaunch:
    """The work of a kernel, with its parameters as they were when the program gave them."""

    function: int
    given: Configuration
    packed: bytes

    @property
    def kind(self) -> Kind:
        """The type of its node."""
        return Kind.KERNEL

    def launch(self, device: VirtualDevice) -> Launch:
        """The launch."""
        kernel, given = device.get(self.function, LoadedKernel), self.given
        return kernel.launch(
            *(given.grid, given.block, given.shared, self.packed),
            cooperative=given.cooperative,
            cluster=given.cluster,
        )

    def run(self, device: VirtualDevice) -> None:
        """Launch the kernel."""
        launch, behind = self.launch(device), device.behind
        if behind.here:
            launch = replace(launch, alongside=behind.awaited)
        launch_all(device, device.get(self.function, LoadedKernel), launch)

    def leaves_cores(self, device: VirtualDevice) -> bool:
        """Whether it leaves cores to other work for long, as far as that is known."""
        kernel = device.get(self.function, LoadedKernel)
        seconds = kernel.seconds_of(self.given.grid, self.given.block)
        return seconds is not None and seconds >= LONG


def kernel_work(
    device: VirtualDevice, function: int, given: Configuration, parameters: int, extra: int
) -> KernelLaunch:
    """The work of a launch that is made later. Raises Refusal for one that cannot be made."""
    kernel = device.get(function, LoadedKernel)
    kernel.check(given.grid, given.block, given.shared)
    packed = _packed(kernel, parameters) if parameters or not extra else _given(kernel, extra)
    return KernelLaunch(function, given, packed)


def launch(
    device: VirtualDevice,
    function: int,
    given: Configuration,
    parameters: int,
    extra: int,
    called: int | None = None,
) -> None:
    """Launch a kernel, which C has `called` by another word if not by its handle. Raises Refusal."""
    stream = stream_of(device, given.stream)
    work = kernel_work(device, function, given, parameters, extra)
    if stream.captured is not None:
        stream.capture(work)
        return
    made, kernel = work.launch(device), device.get(function, LoadedKernel)
    behind, watched = device.behind, lab.watched()  # a launch that is watched is the only one
    waits = _may_wait(device, kernel)
    apart = waits or (not watched and _leaves_cores(device, kernel, given, made))
    if apart or (behind.busy and (watched or behind.holds(given.stream, stream.flags))):
        later = lab.for_another_thread(made)
        if later is not None:
            later = replace(later, alongside=behind.awaited)
            do = partial(launch_all, device, kernel, later)
            behind.put(given.stream, stream.flags, do, last=watched, waits=waits)
            return
        behind.settle()
    launch_all(device, kernel, made)
    if parameters and not given.cooperative and given.cluster is None and not kernel.module.launches:
        key = called or function, given.grid, given.block, given.shared, given.stream
        device.shortcuts.offer(key, lambda: kernel.repeatable(made))


def _may_wait(device: VirtualDevice, kernel: LoadedKernel) -> bool:
    """Whether a kernel may wait for what the host does next, in memory or in another stream."""
    return kernel.prepared.facts.waits_for_blocks and (
        device.memory.reached_by_host or any(True for _ in device.all_of(Stream))
    )


def _leaves_cores(device: VirtualDevice, kernel: LoadedKernel, given: Configuration, launch: Launch) -> bool:
    """Whether a launch leaves cores to other streams for so long that it is worth a thread of its own.

    One that has not been made before may. It is made ready at once, for what it would be refused for.
    """
    if given.stream in DEFAULT_STREAMS or prod(given.grid) >= thread_count() or kernel.module.launches:
        return False
    facts, seconds = kernel.prepared.facts, kernel.seconds_of(launch.grid, launch.block)
    if facts.services or (seconds is not None and seconds < LONG):
        return False
    if seconds is None:
        if is_short(kernel.prepared, launch):
            return False
        device.make_ready(launch)
    return True


def _packed(kernel: LoadedKernel, parameters: int) -> bytes:
    """The block of parameters, from a pointer to each."""
    places = kernel.places
    if not places:
        return bytes(kernel.layout.size)
    if not parameters:
        raise Refusal(Result.INVALID_VALUE, f"{kernel.compiled.name} takes parameters, and got none")
    read = ctypes.string_at
    block = bytearray(kernel.layout.size)
    pointers = memoryview(read(parameters, 8 * len(places))).cast("Q")
    for (offset, size), pointer in zip(places, pointers, strict=True):
        block[offset : offset + size] = read(pointer, size)
    return bytes(block)


def _given(kernel: LoadedKernel, extra: int) -> bytes:
    """The block of parameters as the program packed it: pairs of a key and a pointer."""
    found: dict[int, int] = {}
    while (key := word(extra)) != _END:
        found[key] = word(extra + 8)
        extra += 16
    size = word(found[_BUFFER_SIZE])
    return ctypes.string_at(found[_BUFFER], size).ljust(kernel.layout.size, b"\0")[: kernel.layout.size]


class _Config(ctypes.Structure):
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


class _Attribute(ctypes.Structure):
    """CUlaunchAttribute, whose value is a union of 64 bytes."""

    _fields_ = [("id", ctypes.c_uint32), ("_", ctypes.c_uint32), ("value", ctypes.c_uint32 * 16)]


_COOPERATIVE, _CLUSTER = 2, 4  # CU_LAUNCH_ATTRIBUTE_...


def configuration_at(config: Address) -> Configuration:
    """A CUlaunchConfig, or a cudaLaunchConfig_t, which has the same layout."""
    given = _Config.from_address(config)
    grid, block = (given.grid_x, given.grid_y, given.grid_z), (given.block_x, given.block_y, given.block_z)
    found: dict[int, list[int]] = {}
    if given.count:
        attributes = (_Attribute * given.count).from_address(given.attributes)
        found = {one.id: list(one.value) for one in attributes}
    cooperative = found.get(_COOPERATIVE, [0])[0] != 0
    cluster = None
    if _CLUSTER in found:
        x, y, z = found[_CLUSTER][:3]
        cluster = x, y, z
    return Configuration(grid, block, given.shared, given.stream or 0, cooperative, cluster)


@still
@call
def cuLaunchKernelEx(
    device: VirtualDevice, config: Address, function: Handle, parameters: Address, extra: Address
) -> None:
    launch(device, function, configuration_at(config), parameters, extra)


@still
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
    extents = (grid_x, grid_y, grid_z), (block_x, block_y, block_z)
    launch(device, function, Configuration(*extents, shared, stream, cooperative=True), parameters, 0)
