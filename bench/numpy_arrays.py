"""What kernels that walk through memory take on arrays as NumPy allocates them, and on aligned ones.

    python -m bench.numpy_arrays [--rounds 7] [--only NAME ...]

The arrays of bench/engine begin with a page, so what is stored are whole lines of a cache. Large arrays of
NumPy begin 16 bytes behind one, as malloc has its own words there. The two take turns, on one thread, and the
processor's time counts.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from typing import Any

import numpy as np

NAMES = (
    "vector_add",
    "grid_stride_add",
    "saxpy_vec4",
    "squared_length",
    "matrix_add",
    "transpose",
    "gather",
    "stencil",
    "srad_coefficients",
    "lbm_d2q9",
    "gelu_bias",
)
_SETTINGS = {"WARPGLASS_THREADS": "1", "WARPGLASS_TIER": "optimised"}


def as_allocated(array: Any) -> Any:
    """A copy where NumPy puts it; numbers as they are."""
    return np.copy(array) if isinstance(array, np.ndarray) else array


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", nargs="*", default=NAMES)
    options = parser.parse_args()
    if _SETTINGS.items() - os.environ.items():  # before the engine is loaded
        os.execve(
            sys.executable,
            [sys.executable, "-m", "bench.numpy_arrays", *sys.argv[1:]],
            os.environ | _SETTINGS,
        )
    from .engine.case import cases
    from .engine.contestants import Engine

    print(f"{'':20s} {'aligned':>9s} {'NumPy':>9s}   ms, and begins so many bytes behind a line")
    for theme, case in cases():
        if case.name not in options.only:
            continue
        one = Engine(theme, case, "C++")
        kinds = one.args, tuple(as_allocated(arg) for arg in one.args)
        taken: tuple[list[float], list[float]] = [], []
        for round_ in range(options.rounds + 1):
            for args, times in zip(kinds, taken, strict=True):
                one.args = args
                begun = time.process_time()
                one.launch()
                if round_:  # the first compiles
                    times.append(1e3 * (time.process_time() - begun))
        aligned, numpy = map(statistics.median, taken)
        behind = {arg.ctypes.data % 64 for arg in kinds[1] if isinstance(arg, np.ndarray)}
        print(
            f"{case.name:20s} {aligned:9.2f} {numpy:9.2f} {numpy / aligned:6.2f}   {sorted(behind)}",
            flush=True,
        )


if __name__ == "__main__":
    main()
