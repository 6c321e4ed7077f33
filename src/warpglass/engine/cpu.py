"""The CPU engine as a back end: launches, faults, the watchdog, the sticky state of the device."""

from __future__ import annotations

import os
import platform
import queue
import time
from typing import Any

import numpy as np

from .. import devices
from ..codegen.context import OK, SLOT
from ..devices import Device
from ..errors import ArgumentError, KernelTimeout, LaunchError
from .arguments import Bound, pack
from .backend import Launch, Outcome
from .faults import explain_fault
from .limits import check_launch
from .memory import Placed, place, range_table
from .pool import Pool, thread_count
from .prepared import Executable, Prepared, Worker, prepare

# Blocks below which a second worker is not worth waking.
_SMALL_GRID = 4
_POOL = Pool()


class CpuBackend:
    """Runs kernels on the CPU in lockstep warps; `model` names the GPU whose launch limits apply."""

    name = "cpu"

    def __init__(self, model: str = "h100"):
        self.model: Device = devices.get(model)
        self._broken: LaunchError | None = None

    @property
    def description(self) -> str:
        """The device line of a report."""
        threads = thread_count()
        plural = "" if threads == 1 else "s"
        return f"warpglass engine on {_cpu_name()}, {threads} thread{plural} (CPU; no GPU is involved)"

    # ------------------------------------------------------------------------------------ launching
    def run(self, launch: Launch) -> Outcome:
        """Run a kernel to completion; results are in the argument arrays."""
        if self._broken is not None:
            raise self._still_broken(self._broken)
        prepared = prepare(launch.compiled)
        static = prepared.program.shared.static
        check_launch(
            self.model, launch.grid, launch.block, static, launch.shared, directives=prepared.directives
        )
        bound = prepared.binder.bind(launch.args)
        self._refuse_device_arrays(bound)
        executable = prepared.executable(launch.block, launch.grid, bound)
        started = time.perf_counter()
        try:
            self._execute(launch, prepared, executable, bound, static + launch.shared)
        except LaunchError as error:
            if error.sticky:
                self._broken = error
            raise
        return Outcome(time.perf_counter() - started, "engine")

    def _execute(
        self, launch: Launch, prepared: Prepared, executable: Executable, bound: Bound, shared_size: int
    ) -> None:
        placed = place(bound.allocations)
        parameters = np.frombuffer(pack(bound, [one.base for one in placed]) or b"\0", np.uint8)
        blocks = launch.grid[0] * launch.grid[1] * launch.grid[2]
        workers = thread_count() if blocks >= _SMALL_GRID else 1
        shared_words = np.array([0, 0, 1 << 62], np.int64)  # the block counter, the stop flag, the first bad block
        chunk = max(1, min(64, blocks // (workers * 8)))
        run = executable.machine.run
        codes = [OK] * workers
        kept: list[Any] = [parameters, shared_words]
        contexts: list[Worker] = []
        for number in range(workers):
            worker = executable.worker(number, shared_size)
            contexts.append(worker)
            kept.append(
                _fill(worker, executable, launch, placed, parameters, shared_words, shared_size, blocks, chunk)
            )

        def job(number: int) -> None:
            codes[number] = run(contexts[number].context.ctypes.data)

        self._wait(_POOL.start(job, workers), workers, shared_words, launch)
        for number, code in enumerate(codes):
            if code == FAULTED:
                raise explain_fault(contexts[number].context, executable, prepared, bound, placed, launch)

    def _wait(
        self, done: queue.SimpleQueue[BaseException | None], workers: int, words: np.ndarray, launch: Launch
    ) -> None:
        """Wait for all workers; on a timeout or an interrupt stop them first."""
        deadline = time.monotonic() + launch.timeout
        finished = 0
        timed_out = False
        try:
            while finished < workers:
                try:
                    error = done.get(timeout=max(0.0, deadline - time.monotonic()))
                except queue.Empty:
                    timed_out = True
                    break
                finished += 1
                if error is not None:
                    raise error
        finally:
            if finished < workers:
                words[1] = 1
                while finished < workers:
                    done.get()
                    finished += 1
        if timed_out:
            raise KernelTimeout(
                f"{launch.compiled.name} did not end within {launch.timeout:g} s and was stopped; "
                f"the device must be reset"
            )

    def _refuse_device_arrays(self, bound: Bound) -> None:
        for array in bound.arrays:
            if array.device is not None:
                raise ArgumentError(
                    f"argument {array.position + 1} ({array.name}) lies on CUDA device {array.device}; "
                    f"the CPU engine needs it in host memory"
                )

    def _still_broken(self, first: LaunchError) -> LaunchError:
        return LaunchError(
            f"the device refuses work since an earlier launch failed ({first.cuda_name}); reset it first: {first}",
            cuda_name=first.cuda_name,
            synchronous=False,
            sticky=True,
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
        self._broken = None


FAULTED = -2


def _fill(
    worker: Worker,
    executable: Executable,
    launch: Launch,
    placed: tuple[Placed, ...],
    parameters: np.ndarray,
    shared_words: np.ndarray,
    shared_size: int,
    blocks: int,
    chunk: int,
) -> np.ndarray:
    """Fill a worker's context for a launch; returns what must live until the launch ends."""
    ranges = range_table(placed, worker.shared.ctypes.data, shared_size)
    worker.sites[:] = 0
    counter = shared_words.ctypes.data
    words = {
        "next_block": counter,
        "block_count": blocks,
        "chunk": chunk,
        "grid_x": launch.grid[0],
        "grid_y": launch.grid[1],
        "grid_z": launch.grid[2],
        "parameters": parameters.ctypes.data,
        "shared": worker.shared.ctypes.data,
        "shared_size": shared_size,
        "frames": worker.frames.ctypes.data,
        "states": worker.states.ctypes.data,
        "counters": worker.counters.ctypes.data,
        "ranges": ranges.ctypes.data,
        "range_count": len(ranges),
        "sites": worker.sites.ctypes.data,
        "stop": counter + 8,
        "limit": counter + 16,
        "threads": executable.threads.ctypes.data,
    }
    for name, value in words.items():
        worker.context[SLOT[name]] = value
    return ranges


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            for line in info:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or os.name
