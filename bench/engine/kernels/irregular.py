"""Lanes that go their own ways: loops and rows of different lengths, local arrays, calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse  # pyright: ignore[reportMissingImports]  # of the bench extra

from ..case import Case, blocks

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles a kernel

N = 1 << 17
SIDE, LIMIT = 512, 200
ROWS = 1 << 17
WINDOWS = 1 << 18
ROOTS = 1 << 20


def collatz(steps: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i >= n:
        return
    x = np.uint64(i + 1)
    count = 0
    while x != 1:
        if x % np.uint64(2) == 1:
            x = np.uint64(3) * x + np.uint64(1)
        else:
            x = x // np.uint64(2)
        count += 1
    steps[i] = count


def mandelbrot(out: Any, side: Any, limit: Any) -> None:
    column, row = cuda.grid(2)
    if row >= side or column >= side:
        return
    a = -2.0 + 2.5 * column / side
    b = -1.25 + 2.5 * row / side
    x = 0.0
    y = 0.0
    k = 0
    while k < limit and x * x + y * y <= 4:
        following = x * x - y * y + a
        y = 2 * x * y + b
        x = following
        k += 1
    out[row, column] = k


def spmv(y: Any, starts: Any, columns: Any, values: Any, x: Any, rows: Any) -> None:
    row = cuda.grid(1)
    if row >= rows:
        return
    total = np.float32(0)
    for k in range(starts[row], starts[row + 1]):
        total += values[k] * x[columns[k]]
    y[row] = total


def median9(out: Any, x: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i >= n:
        return
    ordered = cuda.local.array(9, np.float32)
    for k in range(9):
        one = x[i + k]
        at = k
        while at > 0 and ordered[at - 1] > one:
            ordered[at] = ordered[at - 1]
            at -= 1
        ordered[at] = one
    out[i] = ordered[4]


# ------------------------------------------------------------------------------------ data and references
def _counts(rng: np.random.Generator) -> tuple[Any, ...]:
    return np.zeros(N, np.int32), np.int32(N)


def _collatz(steps: Any, n: Any) -> None:
    x = np.arange(1, n + 1, dtype=np.uint64)
    steps[:] = 0
    going = np.flatnonzero(x != 1)
    while going.size:
        now = x[going]
        x[going] = np.where(now % 2 == 1, 3 * now + 1, now // 2)
        steps[going] += 1
        going = going[x[going] != 1]


def _plane(rng: np.random.Generator) -> tuple[Any, ...]:
    return np.zeros((SIDE, SIDE), np.int32), np.int32(SIDE), np.int32(LIMIT)


def _mandelbrot(out: Any, side: Any, limit: Any) -> None:
    line = np.arange(side)
    c = (-2.0 + 2.5 * line / side)[None, :] + 1j * (-1.25 + 2.5 * line / side)[:, None]
    z, going = np.zeros_like(c), np.ones(c.shape, bool)
    out[:] = 0
    for _ in range(limit):
        going &= z.real**2 + z.imag**2 <= 4
        z[going] = z[going] ** 2 + c[going]
        out[going] += 1


def _sparse(rng: np.random.Generator) -> tuple[Any, ...]:
    lengths = rng.integers(4, 28, ROWS)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    columns = rng.integers(0, ROWS, starts[-1], np.int32)
    values = rng.random(starts[-1], np.float32)
    return np.zeros(ROWS, np.float32), starts, columns, values, rng.random(ROWS, np.float32), np.int32(ROWS)


def _spmv(y: Any, starts: Any, columns: Any, values: Any, x: Any, rows: Any) -> None:
    y[:] = sparse.csr_array((values, columns, starts), shape=(rows, rows)) @ x


def _series(rng: np.random.Generator) -> tuple[Any, ...]:
    return np.zeros(WINDOWS, np.float32), rng.random(WINDOWS + 8, np.float32), np.int32(WINDOWS)


def _median9(out: Any, x: Any, *_: Any) -> None:
    np.median(np.lib.stride_tricks.sliding_window_view(x, 9), axis=1, out=out)


def _numbers(rng: np.random.Generator) -> tuple[Any, ...]:
    return np.zeros(ROOTS, np.float32), 1 + rng.random(ROOTS, np.float32), np.int32(ROOTS)


def _cube_roots(out: Any, x: Any, *_: Any) -> None:
    np.add(np.cbrt(x), np.cbrt(x + 1), out=out)


CASES = [
    Case("collatz", blocks(N, 256), 256, _counts, _collatz),
    Case("mandelbrot", (SIDE // 16, SIDE // 16), (16, 16), _plane, _mandelbrot, close=0.001),
    Case("spmv", blocks(ROWS, 256), 256, _sparse, _spmv),
    Case("median9", blocks(WINDOWS, 256), 256, _series, _median9),
    Case("cube_roots", blocks(ROOTS, 256), 256, _numbers, _cube_roots, python=False),
]
