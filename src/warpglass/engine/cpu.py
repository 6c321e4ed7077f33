"""The CPU engine as a back end: launches, faults, the watchdog, the sticky state of the device."""

from __future__ import annotations

import os
import platform
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from .. import devices
from ..codegen.context import DEADLOCK, FAULT
from ..devices import Device
from ..errors import ArgumentError, LaunchError
from .arguments import Bound, pack
from .backend import Launch, Outcome
from .faults import Scene, explain_deadlock, explain_fault, explain_timeout
from .limits import check_launch
from .memory import place, range_words
from .pool import Pool, thread_count
from .prepared import Executable, Prepared, prepare
from .sticky import StickyState

# Blocks below which a second worker is not worth waking.
_SMALL_GRID = 4
_POOL = Pool()


class CpuBackend:
    """Runs kernels on the CPU in lockstep warps; `model` names the GPU whose launch limits apply."""

    name = "cpu"

    def __init__(self, model: str = "h100"):
        self.model: Device = devices.get(model)
        self._state = StickyState()

    @property
    def description(self) -> str:
        """The device line of a report."""
        threads = thread_count()
        plural = "" if threads == 1 else "s"
        return f"warpglass engine on {_cpu_name()}, {threads} thread{plural} (CPU; no GPU is involved)"

    # ------------------------------------------------------------------------------------ launching
    def run(self, launch: Launch) -> Outcome:
        """Run a kernel to completion; results are in the argument arrays."""
        self._state.check()
        prepared = prepare(launch.compiled)
        static = prepared.program.shared.static
        check_launch(
            self.model, launch.grid, launch.block, static, launch.shared, directives=prepared.directives
        )
        bound = prepared.binder.bind(launch.args)
        self._refuse_device_arrays(bound)
        with _POOL.lock:
            _POOL.settle()
            executable = prepared.executable(launch.block, launch.grid, bound)
            try:
                seconds = _execute(launch, prepared, executable, bound)
            except LaunchError as error:
                self._state.note(error)
                raise
        return Outcome(seconds, "engine")

    def _refuse_device_arrays(self, bound: Bound) -> None:
        for array in bound.arrays:
            if array.device is not None:
                raise ArgumentError(
                    f"argument {array.position + 1} ({array.name}) lies on CUDA device {array.device}; "
                    f"the CPU engine needs it in host memory"
                )

    # ------------------------------------------------------------------------------------ arrays
    def to_device(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The array itself: the engine works on host memory."""
        return array

    def to_host(self, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The array itself."""
        return array

    def copy(self, source: np.ndarray[Any, Any], target: np.ndarray[Any, Any]) -> None:
        """Copy one array over another."""
        np.copyto(target, source)

    def flush_caches(self) -> None:
        """Nothing to do: engine times are wall times of the host, caches and all."""

    def reset(self) -> None:
        """Forget a sticky error, as cudaDeviceReset does."""
        self._state.clear()


def _execute(launch: Launch, prepared: Prepared, executable: Executable, bound: Bound) -> float:
    """Run a launch on the pool, whose lock is held; returns its seconds or raises what went wrong."""
    placed = place(bound.allocations)
    parameters = pack(bound, [one.base for one in placed])
    ranges = prepared.module.words + range_words(placed)
    shared = prepared.program.shared.static + launch.shared
    x, y, z = launch.grid
    blocks = x * y * z
    count = thread_count() if blocks >= _SMALL_GRID else 1
    chunk = max(1, min(64, blocks // (count * 8)))
    control = executable.control
    workers = executable.workers(count)
    control.clear()
    for worker in workers:
        worker.fill(launch.grid, blocks, chunk, parameters, shared, ranges)
    run = executable.machine.run
    started = time.perf_counter()
    codes, late = _POOL.run(lambda k: run(workers[k].address), count, control.stop, launch.timeout)
    seconds = time.perf_counter() - started
    if any(codes):
        scene = Scene(launch, prepared, executable, bound, placed)
        broken = [worker.context for worker, code in zip(workers, codes, strict=True) if code == FAULT]
        if broken:
            raise explain_fault(scene, broken)
        stuck = [worker for worker, code in zip(workers, codes, strict=True) if code == DEADLOCK]
        if stuck:
            raise explain_deadlock(scene, stuck[0].context, stuck[0].states, stuck[0].barriers)
        if late:
            raise explain_timeout(scene, [worker.context for worker in workers])
    return seconds


@lru_cache(maxsize=1)
def _cpu_name() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as info:
            for line in info:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or os.name
