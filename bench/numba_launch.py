"""What a small launch through numba costs on the engine, and what numba alone takes of it.

    python bench/numba_launch.py

numba's own part is the same launch with a driver whose cuLaunchKernel returns at once: all that numba does in
Python, and its questions to the driver. It is what a machine with a GPU spends on its processor, but for the
real driver's own work. The two are measured in turns. Beside the short kernel stand one with a loop, which
the engine gives to its threads, and arrays of the host, which are allocated and copied for each launch.
"""

from __future__ import annotations

import importlib
import importlib.util
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from warpglass import numba_device
from warpglass.numba_device import activation
from warpglass.numba_device.shared_library import SharedLibrary

PACKAGES = ("numba_cuda", "numba.cuda"), ("numba_cuda_mlir", "numba_cuda_mlir.cuda")
LAUNCHES = ("cuLaunchKernel", "cuLaunchKernelEx")
ROUNDS, REPEAT = 9, 300


class Driver:
    """The virtual driver, whose launches can be switched off."""

    def __init__(self, library: SharedLibrary):
        self._library = library
        names = list(library.functions)
        self._places = [names.index(name) for name in LAUNCHES]
        self._real = [library.slots[place] for place in self._places]

    def launches(self, wanted: bool) -> None:
        """Let launches be made, or return at once."""
        for place, real in zip(self._places, self._real, strict=True):
            self._library.slots[place] = real if wanted else self._library.closed


def median_time(work: Callable[[], None]) -> float:
    """Median in microseconds."""
    taken: list[float] = []
    for _ in range(REPEAT):
        begun = time.perf_counter()
        work()
        taken.append(1e6 * (time.perf_counter() - begun))
    return statistics.median(taken)


def cases(cuda: Any) -> dict[str, Callable[[], None]]:
    """Small launches."""

    @cuda.jit("void(float32[::1], float32[::1], float32[::1], int32)")
    def add(out: Any, x: Any, y: Any, n: int) -> None:
        i = cuda.grid(1)
        if i < n:
            out[i] = x[i] + y[i]

    @cuda.jit("void(float32[::1], int32)")
    def sum_up(out: Any, n: int) -> None:
        i = cuda.grid(1)
        total = np.float32(0)
        for k in range(n):
            total += out[k]
        out[i] = total

    host = np.ones(4096, np.float32)
    x, y, out = (cuda.to_device(host) for _ in range(3))
    return {
        "add, arrays of the device": lambda: add[1, 64](out, x, y, 64),
        "add, 16 blocks": lambda: add[16, 256](out, x, y, 4096),
        "a loop": lambda: sum_up[1, 64](out, 16),
        "add, arrays of the host": lambda: add[1, 64](host, host, host, 64),
    }


def main() -> None:
    """Print a line for each case."""
    warnings.simplefilter("ignore")
    numba_device.activate()
    library = activation.active_library()
    assert library is not None, "the device is switched on"
    driver = Driver(library)
    found = [module for package, module in PACKAGES if importlib.util.find_spec(package) is not None]
    if not found:
        sys.exit("neither numba-cuda nor numba-cuda-mlir is installed")
    for module in found:
        for name, launch in cases(importlib.import_module(module)).items():
            for _ in range(50):
                launch()
            alone: list[float] = []
            whole: list[float] = []
            for _ in range(ROUNDS):
                for wanted, times in ((False, alone), (True, whole)):
                    driver.launches(wanted)
                    times.append(median_time(launch))
            first, second = statistics.median(alone), statistics.median(whole)
            print(f"{module}: {name:26s} {second:6.1f} us, numba alone {first:6.1f} us: {second / first:.2f}")


if __name__ == "__main__":
    main()
