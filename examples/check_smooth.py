"""A program whose launches the checker looks at: `warpglass check examples/check_smooth.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import warpglass as wg

N, BLOCK = 1000, 128
x, y = np.random.default_rng(0).random(N, np.float32), np.zeros(N, np.float32)
padded = np.pad(x, 1)
expected = (padded[:-2] + padded[1:-1] + padded[2:]) / 3

for name in ("smooth", "smooth_right"):
    kernel = wg.load(Path(__file__).parent / "smooth.cu", name)
    for grid in (-(-N // BLOCK), N // BLOCK):  # rounded up, and rounded down
        y[:] = 0
        kernel[grid, BLOCK](x, wg.out(y), N)
        print(f"{name}, {grid} blocks: {np.isclose(y, expected).mean():.1%} right")
