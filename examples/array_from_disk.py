"""An array on disk, handed to a kernel as it lies there: `python examples/array_from_disk.py [FILE.npy]`.

The file is mapped into memory, not read; the engine's loads fetch what they touch. Without a file the example
writes one of 2^22 doubles.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import warpglass as wg
from warpglass.ladders import find_ladder

BLOCK = 256


def main(source: str = "") -> None:
    """Sum a file's elements, block by block."""
    path = Path(source or tempfile.mkdtemp()) / ("" if source else "numbers.npy")
    if not source:
        np.save(path, np.random.default_rng(1).random(2**22))
    x = np.load(path, mmap_mode="r")
    if x.dtype != np.float64 or x.ndim != 1:
        sys.exit(f"{path} holds {x.dtype} {x.shape}; this example sums one-dimensional arrays of float64")
    partial = np.zeros(-(-x.size // BLOCK))
    rung = find_ladder("reduction").rung("shared_sequential")
    kernel = wg.load(rung.kernels[0].file, "shared_sequential<double>")
    kernel[partial.size, BLOCK, 0, 8 * BLOCK](x, partial, np.uint32(x.size))
    right = np.isclose(partial.sum(), x.sum(), rtol=1e-12)
    print(f"{x.nbytes / 1e6:.1f} MB in {partial.size} blocks, right: {right}")


if __name__ == "__main__":
    main(*sys.argv[1:2])
