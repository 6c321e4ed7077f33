"""Each element of the result from its neighbourhood."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import ndimage  # pyright: ignore[reportMissingImports]  # of the bench extra

from ..case import Case, blocks

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles a kernel

N = 1 << 22
SIDE = 1024


def conv1d(out: Any, x: Any, taps: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i >= n:
        return
    total = np.float32(0)
    for k in range(9):
        at = i + k - 4
        if at >= 0 and at < n:
            total += x[at] * taps[k]
    out[i] = total


def conv2d(out: Any, x: Any, taps: Any, rows: Any, columns: Any) -> None:
    column, row = cuda.grid(2)
    if row >= rows or column >= columns:
        return
    total = np.float32(0)
    for u in range(-2, 3):
        for v in range(-2, 3):
            r = row + u
            c = column + v
            if r >= 0 and r < rows and c >= 0 and c < columns:
                total += x[r, c] * taps[u + 2, v + 2]
    out[row, column] = total


def stencil(out: Any, x: Any, rows: Any, columns: Any) -> None:
    column, row = cuda.grid(2)
    if row < 1 or row >= rows - 1 or column < 1 or column >= columns - 1:
        return
    here = x[row, column]
    around = x[row, column - 1] + x[row, column + 1] + x[row - 1, column] + x[row + 1, column]
    out[row, column] = here + np.float32(0.2) * (around - np.float32(4) * here)


def blur(out: Any, x: Any, rows: Any, columns: Any) -> None:
    column, row = cuda.grid(2)
    if row >= rows or column >= columns:
        return
    for channel in range(3):
        total = 0
        for u in range(-1, 2):
            for v in range(-1, 2):
                r = min(max(row + u, 0), rows - 1)
                c = min(max(column + v, 0), columns - 1)
                total += x[r, c, channel]
        out[row, column, channel] = total // 9


# ------------------------------------------------------------------------------------ data and references
def _signal(rng: np.random.Generator) -> tuple[Any, ...]:
    return np.zeros(N, np.float32), rng.random(N, np.float32), rng.random(9, np.float32), np.int32(N)


def _conv1d(out: Any, x: Any, taps: Any, *_: Any) -> None:
    ndimage.convolve1d(x, taps[::-1], output=out, mode="constant")


def _image(rng: np.random.Generator) -> tuple[Any, ...]:
    x, taps = rng.random((SIDE, SIDE), np.float32), rng.random((5, 5), np.float32)
    return np.zeros_like(x), x, taps, np.int32(SIDE), np.int32(SIDE)


def _conv2d(out: Any, x: Any, taps: Any, *_: Any) -> None:
    ndimage.correlate(x, taps, output=out, mode="constant")


def _plate(rng: np.random.Generator) -> tuple[Any, ...]:
    x = rng.random((2 * SIDE, 2 * SIDE), np.float32)
    return np.zeros_like(x), x, np.int32(2 * SIDE), np.int32(2 * SIDE)


def _stencil(out: Any, x: Any, *_: Any) -> None:
    here = x[1:-1, 1:-1]
    around = x[1:-1, :-2] + x[1:-1, 2:] + x[:-2, 1:-1] + x[2:, 1:-1]
    np.add(here, np.float32(0.2) * (around - 4 * here), out=out[1:-1, 1:-1])


def _picture(rng: np.random.Generator) -> tuple[Any, ...]:
    x = rng.integers(0, 256, (SIDE, SIDE, 3), np.uint8)
    return np.zeros_like(x), x, np.int32(SIDE), np.int32(SIDE)


def _blur(out: Any, x: Any, *_: Any) -> None:
    wide = np.pad(x, ((1, 1), (1, 1), (0, 0)), mode="edge").astype(np.uint16)
    rows = wide[:-2] + wide[1:-1] + wide[2:]
    np.floor_divide(rows[:, :-2] + rows[:, 1:-1] + rows[:, 2:], 9, out=out, casting="unsafe")


_GRID = (SIDE // 32, SIDE // 8)

CASES = [
    Case("conv1d", blocks(N, 256), 256, _signal, _conv1d, numpy_bound=1.3),
    Case("conv2d", _GRID, (32, 8), _image, _conv2d),
    Case("stencil", (2 * SIDE // 32, 2 * SIDE // 8), (32, 8), _plate, _stencil),
    Case("blur", _GRID, (32, 8), _picture, _blur),
]
