"""What a launch costs besides the kernel: the first one in a fresh process, one of many, and compiling.

    python bench/launch.py

The kernels are a small vector addition and a loop of few rounds, so their own time hardly counts; those of a
program are launched by bench/launch.cu. The first launch of a process is measured with PTX and machine code
in the disk cache and the package's byte code compiled, in parts: importing NumPy (which any program that has
arrays does), importing warpglass, loading the kernel, the launch.

Compiling is from PTX to machine code that is ready to run, of the reduction ladder's C++ kernels: quick code
and optimised code that are nowhere yet, and what is known from the disk. It is the processor's time.
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from warpglass import lab, ptx, source
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.cpu.prepared import Prepared
from warpglass.engine.cpu.tiers import OPTIMISED, QUICK, VARIABLE
from warpglass.engine.launch.backend import Launch, Outcome
from warpglass.ladders import find_ladder
from warpglass.ladders.trial import Options, Toolchain

SOURCE = r"""
extern "C" __global__ void add(float* out, const float* x, const float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = x[i] + y[i];
}
extern "C" __global__ void rounds(float* out, int n) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum = sum * 0.5f + 1;
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""
FIRST = """
import json, sys, time
begun = time.perf_counter()
marks = {}
def mark(name, since=[begun]):
    now = time.perf_counter()
    marks[name] = 1e3 * (now - since[0])
    since[0] = now
import numpy as np
mark("import numpy")
import warpglass
from warpglass import lab
mark("import warpglass.lab")
kernel = warpglass.compile(sys.argv[1], "add")
mark("load the kernel")
x = np.ones(256, np.float32)
warpglass.run(kernel, 4, 64, (x.copy(), x, x, 256))
mark("first launch")
marks["total"] = 1e3 * (time.perf_counter() - begun)
print(json.dumps(marks))
"""


def first_launches(repeat: int) -> dict[str, float]:
    """Medians in milliseconds of each part of a fresh process' first launch."""
    environment = {key: text for key, text in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = str(Path(lab.__file__).parents[1])
    runs: list[dict[str, float]] = []
    for _ in range(repeat + 1):  # the first fills the caches
        command = [sys.executable, "-c", FIRST, SOURCE]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout))
    return {part: statistics.median(run[part] for run in runs[1:]) for part in runs[0]}


def later_launches(launch: Callable[[], None], repeat: int) -> tuple[float, float]:
    """Minimum and median in microseconds."""
    for _ in range(100):
        launch()
    taken: list[float] = []
    for _ in range(repeat):
        begun = time.perf_counter()
        launch()
        taken.append(1e6 * (time.perf_counter() - begun))
    return min(taken), statistics.median(taken)


class Catch(CpuBackend):
    """The engine, which notes what it is asked to launch."""

    def __init__(self) -> None:
        super().__init__()
        self.launches: dict[str, Launch] = {}

    def run(self, launch: Launch) -> Outcome:
        """Run a launch."""
        self.launches.setdefault(launch.compiled.name, launch)
        return super().run(launch)


def kernels() -> list[Launch]:
    """A launch of each of the ladder's C++ kernels."""
    backend = Catch()
    tools = Toolchain(open_cuda=source.load, open_python=source.from_numba)
    for trial in find_ladder("reduction").trials(Options(size=1 << 12, languages=("cuda",)), backend, tools):
        trial.restore()
        trial.run()
    return list(backend.launches.values())


def compile_times(launch: Launch, repeat: int = 5) -> tuple[float, ...]:
    """Milliseconds for quick code, for optimised code, and for quick code from the disk."""
    found: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for tier, cache in ((QUICK, ""), (OPTIMISED, ""), (QUICK, folder)):
            os.environ[VARIABLE], os.environ["WARPGLASS_CACHE"] = tier, cache
            taken: list[float] = []
            for _ in range(repeat + 1):
                ptx.parse.cache_clear()
                begun = time.process_time()
                prepared = Prepared(launch.compiled)
                prepared.executable(launch.block, launch.grid, prepared.binder.bind(launch.args))
                taken.append(1e3 * (time.process_time() - begun))
            found.append(min(taken[1:]))
    return tuple(found)


def print_compile_times() -> None:
    """A line for each kernel, and the geometric means."""
    rows: list[tuple[float, ...]] = []
    print(f"compiling, in ms {'':23s}     quick optimised from disk")
    for launch in kernels():
        rows.append(compile_times(launch))
        print(f"{launch.compiled.name[:40]:40s}" + "".join(f"{ms:10.1f}" for ms in rows[-1]))
    means = [statistics.geometric_mean(column) for column in zip(*rows, strict=True)]
    print(f"{'geometric mean':40s}" + "".join(f"{ms:10.1f}" for ms in means))


def main() -> None:
    """Print all figures."""
    print(lab.backend().description)
    for part, milliseconds in first_launches(7).items():
        print(f"fresh process, {part:22s} {milliseconds:8.1f} ms")
    kernel = lab.compile(SOURCE, "add")
    x, y, out = (np.ones(4096, np.float32) for _ in range(3))
    for grid in (1, 2, 16):
        least, middle = later_launches(lambda grid=grid: kernel[grid, 64](out, x, y, 64 * grid), 2000)
        print(f"later launch, grid {grid:3d}, block 64: median {middle:6.1f} us, least {least:6.1f} us")
    loop, numbers = lab.compile(SOURCE, "rounds"), itertools.count()
    least, middle = later_launches(lambda: loop[16, 64](out, 4), 5000)
    print(f"later launch of a loop: median {middle:6.1f} us, least {least:6.1f} us")
    least, middle = later_launches(lambda: loop[16, 64](out, next(numbers) % 9), 5000)
    print(f"with another number each time: median {middle:6.1f} us, least {least:6.1f} us")
    print_compile_times()


if __name__ == "__main__":
    main()
