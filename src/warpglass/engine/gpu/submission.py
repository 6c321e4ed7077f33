"""Launches and copies in the driver's own form, which can be submitted again and again without waiting.

Belongs here: what goes to cuLaunchKernel, and the recording of what a host program submits. backend.py
decides what is launched, stopwatch.py says how long it takes.

A recording is what a program did on the device: kernels, and copies into device arrays. What comes from the
host is kept on the device, so that submitting it all again needs nothing from there. A program that reads
results and goes on accordingly cannot be recorded: submitted again it might do something else.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..launch.arrays import ArrayView
from ..launch.backend import Dim3
from .driver import Driver

LEGACY_STREAM = 0  # what libraries submit to by default; it waits for other streams, and they for it
_MANY = 32  # submissions that take the host longer than the device, unless they are one graph


@dataclass(frozen=True, slots=True)
class Submission:
    """One launch with its parameters, packed."""

    driver: Driver
    function: Any
    grid: Dim3
    block: Dim3
    shared: int
    places: Any  # the parameters' addresses, an array of ctypes
    attributes: Sequence[Any]
    keep: Any  # what the addresses point to, and the launch's arrays

    def __call__(self, stream: Any) -> None:
        """Hand the kernel to the driver."""
        where = ctypes.addressof(self.places)
        if not self.attributes:
            self.driver.call(
                "cuLaunchKernel", self.function, *self.grid, *self.block, self.shared, stream, where, 0
            )
            return
        config = self.driver.api.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = self.grid
        config.blockDimX, config.blockDimY, config.blockDimZ = self.block
        config.sharedMemBytes = self.shared
        config.hStream = stream
        config.attrs = list(self.attributes)
        config.numAttrs = len(self.attributes)
        self.driver.call("cuLaunchKernelEx", config, self.function, where, 0)


def packed_parameters(block: bytes, offsets: Sequence[int]) -> tuple[Any, Any]:
    """The places of a launch's parameters, and the memory that they lie in.

    A whole block would have to be laid out as the architecture does, which aligns parameters of more
    than 16 bytes within its constant bank rather than within the block.
    """
    data = ctypes.create_string_buffer(block, max(len(block), 1))
    start = ctypes.addressof(data)
    return (ctypes.c_void_p * max(len(offsets), 1))(*[start + offset for offset in offsets]), data


def launch_attributes(api: Any, cooperative: bool, cluster: Dim3 | None) -> list[Any]:
    """What a launch asks for beside its grid and block."""
    found: list[Any] = []
    if cooperative:
        attribute = api.CUlaunchAttribute()
        attribute.id = api.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_COOPERATIVE
        attribute.value.cooperative = 1
        found.append(attribute)
    if cluster is not None:
        attribute = api.CUlaunchAttribute()
        attribute.id = api.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
        extents = attribute.value.clusterDim
        extents.x, extents.y, extents.z = cluster
        found.append(attribute)
    return found


@dataclass(slots=True, weakref_slot=True)
class Recording:
    """What a program submitted, in its order; `repeatable` says whether it can be submitted again."""

    driver: Driver
    steps: list[Callable[[Any], None]] = field(default_factory=list[Callable[[Any], None]])
    repeatable: bool = True
    _has_read: bool = False
    _graph: Any = None

    def launched(self, submission: Submission, on_device: bool) -> None:
        """Note a launch; arrays that travelled for it alone are gone after it."""
        self.repeatable &= on_device and not self._has_read
        self.steps.append(submission)

    def copied(self, source: ArrayView, target: ArrayView) -> None:
        """Note a copy; one that the host gets changes nothing on the device, unless a launch follows."""
        nbytes = source.high - source.low
        if target.device is None:
            self._has_read = True
        elif nbytes:
            kept, address = self._kept(source, nbytes)
            self.steps.append(
                lambda stream, to=(target, kept): self.driver.call(
                    "cuMemcpyDtoDAsync", to[0].low, address, nbytes, stream
                )
            )

    def _kept(self, source: ArrayView, nbytes: int) -> tuple[Any, int]:
        """Device memory with what is copied, and its address."""
        if source.device is not None:
            return source, source.low
        address = int(self.driver.call("cuMemAlloc", nbytes))
        weakref.finalize(self, self.driver.status, "cuMemFree", address)
        self.driver.call("cuMemcpyHtoD", address, source.low, nbytes)
        return None, address

    def submit(self) -> None:
        """Submit it all to the legacy stream, and do not wait."""
        if len(self.steps) > _MANY:
            if self._graph is None:
                self._graph = self._capture()
            self.driver.call("cuGraphLaunch", self._graph, LEGACY_STREAM)
            return
        for step in self.steps:
            step(LEGACY_STREAM)

    def _capture(self) -> Any:
        """The steps as one graph, which the driver submits faster than we do."""
        call, api = self.driver.call, self.driver.api
        stream = call("cuStreamCreate", api.CUstream_flags.CU_STREAM_NON_BLOCKING)
        call("cuStreamBeginCapture", stream, api.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
        for step in self.steps:
            step(stream)
        graph = call("cuStreamEndCapture", stream)
        made = call("cuGraphInstantiate", graph, 0)
        call("cuGraphDestroy", graph)
        call("cuStreamDestroy", stream)
        weakref.finalize(self, self.driver.status, "cuGraphExecDestroy", made)
        return made
