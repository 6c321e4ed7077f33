"""Ranks with a GPU each, which exchange arrays of CuPy through NCCL, by CuPy's own binding.

Everything is enqueued on CuPy's current stream of the rank's device.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentError, PackageError
from .communicator import RankLost

_BYTES = 1  # ncclUint8


class Nccl:
    """A communicator of CuPy arrays."""

    def __init__(self, rank: int, size: int, communicator: Any):
        self.module = importlib.import_module("cupy")
        self.rank, self.size, self._made = rank, size, communicator

    def exchange(self, pieces: Sequence[Any], counts: Sequence[int]) -> list[Any]:
        """All sends and receives as one group; a rank's own piece does not leave it."""
        cupy = self.module
        packed = [cupy.ascontiguousarray(piece) for piece in pieces]
        found = [
            packed[other].copy()
            if other == self.rank
            else cupy.empty((counts[other], *packed[other].shape[1:]), packed[other].dtype)
            for other in range(self.size)
        ]
        nccl = cupy.cuda.nccl
        stream = cupy.cuda.get_current_stream().ptr
        try:
            nccl.groupStart()
            for other in range(self.size):
                if other == self.rank:
                    continue
                if packed[other].size:
                    self._made.send(packed[other].data.ptr, packed[other].nbytes, _BYTES, other, stream)
                if found[other].size:
                    self._made.recv(found[other].data.ptr, found[other].nbytes, _BYTES, other, stream)
            nccl.groupEnd()
        except nccl.NcclError as problem:
            raise RankLost(f"NCCL: {problem}") from None
        return found

    def wait(self) -> None:
        """Wait for the device."""
        self.module.cuda.Device().synchronize()

    @property
    def name(self) -> str:
        """As the driver calls the GPU."""
        runtime = self.module.cuda.runtime
        return runtime.getDeviceProperties(runtime.getDevice())["name"].decode()

    def close(self) -> None:
        """Wait for what is under way, and end it."""
        self.wait()
        self._made.destroy()

    def abort(self) -> None:
        """End what waits for a rank that has failed."""
        self._made.abort()


def nccl_binding() -> Any:
    """CuPy's module for NCCL; raises PackageError where there is none."""
    try:
        cupy = importlib.import_module("cupy")
        nccl = importlib.import_module("cupy.cuda.nccl")
    except ImportError as problem:
        raise PackageError(
            f"several GPUs need CuPy with NCCL: pip install cupy-cuda13x nvidia-nccl-cu13 ({problem})"
        ) from None
    if not getattr(nccl, "available", False):
        raise PackageError("several GPUs need NCCL: pip install nvidia-nccl-cu13")
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as problem:
        raise ArgumentError(f"there is no GPU here: {problem}") from None
    return nccl


def use_device(device: int) -> None:
    """Make a GPU the calling thread's current one."""
    importlib.import_module("cupy").cuda.Device(device).use()


def check_devices(devices: Sequence[int]) -> None:
    """Raise ArgumentError for GPUs that there are not, and for one that is named twice."""
    nccl_binding()
    count = importlib.import_module("cupy").cuda.runtime.getDeviceCount()
    for one in devices:
        if not 0 <= one < count:
            raise ArgumentError(f"there is no GPU {one}: this machine has {count}, counted from 0")
    if len(set(devices)) < len(devices):
        raise ArgumentError(f"devices {list(devices)}: NCCL takes each GPU once")
