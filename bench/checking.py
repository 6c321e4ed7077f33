"""What checking costs: processor time and shadow memory of checked launches, beside plain ones.

    python bench/checking.py [--size N] [--repeat 5] [--rungs A,B] [streams | LADDER ...]

Plain launches (which check bounds) and launches under all detectors alternate on one thread, in optimised
code; each figure is the least of all. Making and freeing shadow memory and explaining findings belong to a
checked launch, compiling does not. Streams are kernels that do little but move memory, 2^22 words unless
said otherwise; a ladder's rungs run on the sizes of its tables. Without names, the streams and the reduction
ladder are measured. Shadow memory stands in bytes per byte of the arrays. Ends with status 1 if a stream is
above 20, a ladder's geometric mean above 8, or a kernel needs more than 2 bytes per byte.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

os.environ["WARPGLASS_THREADS"] = "1"
os.environ["WARPGLASS_TIER"] = "optimised"

import numpy as np

from warpglass import lab, source
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.launch.backend import Launch, Outcome
from warpglass.ladders import find_ladder
from warpglass.ladders.trial import Options, Toolchain
from warpglass.observe.detectors import Checker

STREAM, MEAN, SHADOW = 20.0, 8.0, 2.0

STREAMS = r"""
#define I (blockIdx.x * blockDim.x + threadIdx.x)
extern "C" __global__ void add(float* out, const float* x, const float* y, int n) {
    if (I < n) out[I] = x[I] + y[I];
}
extern "C" __global__ void saxpy(float* y, const float* x, float a, int n) {
    if (I < n) y[I] += a * x[I];
}
extern "C" __global__ void copy4(float4* out, const float4* x, int n) {
    if (I < n / 4) out[I] = x[I];
}
extern "C" __global__ void stencil(float* out, const float* x, int n) {
    if (0 < I && I < n - 1) out[I] = x[I - 1] + x[I] + x[I + 1];
}
extern "C" __global__ void transpose(float* out, const float* x, int side) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    out[column * side + row] = x[row * side + column];
}
"""


class Switch(CpuBackend):
    """The engine, checking or not, and what launches took."""

    checks = False
    launches = 0
    seconds = 0.0
    touched, shadow = 0, 0  # bytes of the arrays and of shadow memory

    def run(self, launch: Launch) -> Outcome:
        """Run a launch, checked if that is switched on."""
        self.launches += 1
        began = time.process_time()
        if not self.checks:
            outcome = super().run(launch)
            self.seconds += time.process_time() - began
            return outcome
        checker = Checker()
        outcome, _ = self.observe(launch, checker, checker.begin)
        checker.findings(complete=True)
        used = checker.shadow_bytes
        del checker
        self.seconds += time.process_time() - began
        self.shadow += used
        self.touched += sum(array.nbytes for array in launch.args if isinstance(array, np.ndarray))
        return outcome


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of a plain and of a checked run, and bytes of shadow memory per byte of the arrays."""

    plain: float
    checked: float
    shadow: float

    @property
    def ratio(self) -> float:
        """How much slower checking is."""
        return self.checked / self.plain

    def __str__(self) -> str:
        return f"{1e3 * self.plain:9.2f} ms {1e3 * self.checked:9.2f} ms {self.ratio:7.2f} {self.shadow:7.3f}"


def measure(run: Callable[[], object], restore: Callable[[], None], backend: Switch, repeat: int) -> Cost:
    """Run plain and checked in turns; the first of each compiles."""
    least = {False: math.inf, True: math.inf}
    for number in range(repeat + 1):
        for checks in (False, True):
            backend.checks, backend.seconds, backend.touched, backend.shadow = checks, 0.0, 0, 0
            restore()
            run()
            if number:
                least[checks] = min(least[checks], backend.seconds)
    return Cost(least[False], least[True], backend.shadow / max(1, backend.touched))


def measure_streams(backend: Switch, size: int, repeat: int) -> list[Cost]:
    """Kernels that do little but move memory."""
    side = 1 << (size.bit_length() - 1) // 2
    x, y, out = (np.ones(size, np.float32) for _ in range(3))
    flat = (-(-size // 256), 1, 1), (256, 1, 1)
    square = (side // 32, side // 8, 1), (32, 8, 1)
    quarter = (-(-size // 1024), 1, 1), (256, 1, 1)
    launches: Sequence[tuple[str, Any, tuple[Any, ...]]] = (
        ("add", flat, (out, x, y, np.int32(size))),
        ("saxpy", flat, (y, x, np.float32(0.5), np.int32(size))),
        ("copy4", quarter, (out, x, np.int32(size))),
        ("stencil", flat, (out, x, np.int32(size))),
        ("transpose", square, (out[: side * side], x[: side * side], np.int32(side))),
    )
    found: list[Cost] = []
    for name, (grid, block), args in launches:
        compiled = lab.compile(STREAMS, name).compile(args)
        launch = Launch(compiled, grid, block, args, 0, 600.0)
        found.append(measure(lambda launch=launch: backend.run(launch), lambda: None, backend, repeat))
        print(f"{name:28} {'cuda':7} {found[-1]}", flush=True)
    return found


def measure_ladder(
    name: str, backend: Switch, size: int | None, rungs: tuple[str, ...], repeat: int
) -> list[Cost]:
    """A ladder's rungs in both languages."""
    tools = Toolchain(open_cuda=source.load, open_python=source.from_numba)
    found: list[Cost] = []
    for trial in find_ladder(name).trials(Options(size=size, rungs=rungs), backend, tools):
        before = backend.launches
        cost = measure(trial.run, trial.restore, backend, repeat)
        if backend.launches == before:  # the baseline, which is no kernel
            continue
        found.append(cost)
        print(f"{trial.card.rung:28} {trial.card.language:7} {cost}", flush=True)
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--size", type=int, help="elements, of streams and ladders")
    parser.add_argument("--repeat", type=int, default=5, help="launches of each kind")
    parser.add_argument("--rungs", default="", help="rungs of a ladder, all without")
    parser.add_argument("names", nargs="*", default=["streams", "reduction"])
    wanted = parser.parse_args()
    backend = Switch()
    print(f"{'kernel':28} {'from':7} {'plain':>12} {'checked':>12} {'ratio':>7} {'shadow':>7}")
    bad = False
    costs: list[Cost] = []
    for name in wanted.names:
        if name == "streams":
            here = measure_streams(backend, wanted.size or 1 << 22, wanted.repeat)
            worst = max(cost.ratio for cost in here)
            print(f"streams: largest ratio {worst:.2f} (at most {STREAM:g})")
            bad |= worst > STREAM
        else:
            rungs = tuple(filter(None, wanted.rungs.split(",")))
            here = measure_ladder(name, backend, wanted.size, rungs, wanted.repeat)
            mean = math.prod(cost.ratio for cost in here) ** (1 / len(here))
            print(f"{name}: geometric mean {mean:.2f} (at most {MEAN:g})")
            bad |= mean > MEAN
        costs += here
    most = max(cost.shadow for cost in costs)
    print(f"shadow memory: at most {most:.3f} bytes per byte (at most {SHADOW:g})")
    sys.exit(bad or most > SHADOW)


if __name__ == "__main__":
    main()
