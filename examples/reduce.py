"""A CUDA C++ kernel from Python: the last three lines of main() replace the notes' host program."""

from pathlib import Path

import numpy as np

import warpglass as wg


def main() -> None:
    """Sum 2^20 random numbers in blocks of 256 and compare with NumPy."""
    x, partial = np.random.default_rng(1).random(2**20), np.zeros(4096)
    kernel = wg.load(Path(__file__).with_name("reduce.cu"), "reduce<256>")
    kernel[4096, 256](x, partial, x.size)
    print(f"kernel {partial.sum():.6f}, NumPy {x.sum():.6f}")


if __name__ == "__main__":
    main()
