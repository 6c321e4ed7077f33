"""Kernels that walk through memory: contiguous, strided, by vectors, by two-dimensional index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..case import Case, Data, blocks

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles a kernel

N = 1 << 24
M = 1 << 22
SIDE = 2048
COLUMNS = 1000


def vector_add(out: Any, x: Any, y: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i < n:
        out[i] = x[i] + y[i]


def grid_stride_add(out: Any, x: Any, y: Any, n: Any) -> None:
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        out[i] = x[i] + y[i]


def squared_length(out: Any, points: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i < n:
        x = points[3 * i]
        y = points[3 * i + 1]
        z = points[3 * i + 2]
        out[i] = x * x + y * y + z * z


def matrix_add(out: Any, x: Any, y: Any, rows: Any, columns: Any) -> None:
    column, row = cuda.grid(2)
    if row < rows and column < columns:
        out[row, column] = x[row, column] + y[row, column]


def unravel(out: Any, columns: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i < n:
        out[i] = (i // columns) * 7 + i % columns


def transpose(out: Any, source: Any, n: Any) -> None:
    tile = cuda.shared.array((32, 33), np.float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    x = cuda.blockIdx.x * 32 + tx
    y = cuda.blockIdx.y * 32 + ty
    for k in range(0, 32, 8):
        tile[ty + k, tx] = source[y + k, x]
    cuda.syncthreads()
    x = cuda.blockIdx.y * 32 + tx
    y = cuda.blockIdx.x * 32 + ty
    for k in range(0, 32, 8):
        out[y + k, x] = tile[tx, ty + k]


def gather(out: Any, x: Any, index: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i < n:
        out[i] = x[index[i]]


# ------------------------------------------------------------------------------------ data and references
def _pair(n: int) -> Data:
    def make(rng: np.random.Generator) -> tuple[Any, ...]:
        x, y = rng.random((2, n), np.float32)
        return np.zeros(n, np.float32), x, y, np.int32(n)

    return make


def _add(out: Any, x: Any, y: Any, *_: Any) -> None:
    np.add(x, y, out=out)


def _quads(rng: np.random.Generator) -> tuple[Any, ...]:
    x, y = rng.random((2, N), np.float32)
    return np.zeros(N, np.float32), x, y, np.float32(1.5), np.int32(N // 4)


def _saxpy(out: Any, x: Any, y: Any, a: Any, *_: Any) -> None:
    np.multiply(x, a, out=out)
    np.add(out, y, out=out)


def _points(rng: np.random.Generator) -> tuple[Any, ...]:
    return np.zeros(M, np.float32), rng.random(3 * M, np.float32), np.int32(M)


def _squared(out: Any, points: Any, *_: Any) -> None:
    np.einsum("ij,ij->i", points.reshape(-1, 3), points.reshape(-1, 3), out=out)


def _matrices(rng: np.random.Generator) -> tuple[Any, ...]:
    x, y = rng.random((2, SIDE, SIDE), np.float32)
    return np.zeros((SIDE, SIDE), np.float32), x, y, np.int32(SIDE), np.int32(SIDE)


def _indices(rng: np.random.Generator) -> tuple[Any, ...]:
    return np.zeros(M, np.int32), np.int32(COLUMNS), np.int32(M)


def _unravel(out: Any, columns: Any, n: Any) -> None:
    i = np.arange(n, dtype=np.int32)
    np.add(i // columns * 7, i % columns, out=out)


def _square(rng: np.random.Generator) -> tuple[Any, ...]:
    return np.zeros((SIDE, SIDE), np.float32), rng.random((SIDE, SIDE), np.float32), np.int32(SIDE)


def _transpose(out: Any, source: Any, *_: Any) -> None:
    np.copyto(out, source.T)


def _random(rng: np.random.Generator) -> tuple[Any, ...]:
    x = rng.random(M, np.float32)
    return np.zeros(M, np.float32), x, rng.integers(0, M, M, np.int32), np.int32(M)


def _gather(out: Any, x: Any, index: Any, *_: Any) -> None:
    np.take(x, index, out=out, mode="wrap")


CASES = [
    Case("vector_add", blocks(N, 256), 256, _pair(N), _add, numpy_bound=1.3),
    Case("grid_stride_add", 256, 256, _pair(N), _add),
    Case("saxpy_vec4", blocks(N // 4, 256), 256, _quads, _saxpy, python=False),
    Case("squared_length", blocks(M, 256), 256, _points, _squared),
    Case("matrix_add", (SIDE // 32, SIDE // 8), (32, 8), _matrices, _add),
    Case("unravel", blocks(M, 256), 256, _indices, _unravel),
    Case("transpose", (SIDE // 32, SIDE // 32), (32, 8), _square, _transpose),
    Case("gather", blocks(M, 256), 256, _random, _gather),
]
