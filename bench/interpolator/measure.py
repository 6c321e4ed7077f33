"""Writes what a GPU gives for all arguments of some binades, from which `derive` finds the tables.

    python -m bench.interpolator.measure FOLDER [gpu | cpu]

FOLDER/NAME-FIRST.npy holds the patterns (uint32[2**23]) of the results of NAME for the arguments whose
patterns are FIRST and those that follow: 28 files, 0.9 GB. Forms with `.ftz`, and tanh, are the unit's
instruction MUFU and little else. With cpu the engine answers, and its own tables are derived again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import warpglass as wg

SIZE = 1 << 23  # patterns of a binade
_ONE = 127 << 23

# The exponents of arguments that go through each table. Around 1.0 lg2 shows more bits of its sums. The sines
# of the first quadrant come from sin and, backwards, from cos. tanh is its argument below 2**-8, 1 from 8 on.
_EXPONENTS: dict[str, tuple[int, ...]] = {
    "rcp": (0,),
    "rsqrt": (0, 1),
    "sqrt": (0, 1),
    "ex2": (0,),
    "lg2": (-1, 0, 1),
    "sin": (-3, -2, -1, 0),
    "cos": (-3, -2, -1, 0),
    "tanh": tuple(range(-8, 3)),
}
_KERNEL = """
extern "C" __global__ void results(unsigned first, unsigned *y) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float r;
    asm("INSTRUCTION %0, %1;" : "=f"(r) : "f"(__uint_as_float(first + i)));
    y[i] = __float_as_uint(r);
}
"""
_BLOCK = 256


def binades(name: str) -> Iterator[int]:
    """The patterns of the first arguments of the binades that are measured for a function."""
    return (_ONE + exponent * SIZE for exponent in _EXPONENTS[name])


def path(folder: Path, name: str, first: int) -> Path:
    """The file of a binade."""
    return folder / f"{name}-{first:08x}.npy"


def main() -> None:
    """Measure and write."""
    match sys.argv[1:]:
        case [folder, *rest] if rest in ([], ["gpu"], ["cpu"]):
            device = rest[0] if rest else "gpu"
        case _:
            sys.exit(__doc__)
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name in _EXPONENTS:
        instruction = f"{name}.approx{'' if name == 'tanh' else '.ftz'}.f32"
        kernel = wg.compile(_KERNEL.replace("INSTRUCTION", instruction), "results", language="cuda")
        for first in binades(name):
            y = np.zeros(SIZE, np.uint32)
            wg.run(kernel, SIZE // _BLOCK, _BLOCK, (np.uint32(first), y), device=device)
            np.save(path(Path(folder), name, first), y)
        print(name, flush=True)


if __name__ == "__main__":
    main()
