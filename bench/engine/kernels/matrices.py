"""Products of square matrices, one thread for each element of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..case import Case

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles a kernel

N = 512


def matmul_naive(c: Any, a: Any, b: Any, n: Any) -> None:
    column, row = cuda.grid(2)
    if row >= n or column >= n:
        return
    total = np.float32(0)
    for k in range(n):
        total += a[row, k] * b[k, column]
    c[row, column] = total


def matmul_tiled(c: Any, a: Any, b: Any, n: Any) -> None:
    a_tile = cuda.shared.array((16, 16), np.float32)
    b_tile = cuda.shared.array((16, 16), np.float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = np.float32(0)
    for m in range(0, n, 16):
        a_tile[ty, tx] = a[row, m + tx]
        b_tile[ty, tx] = b[m + ty, column]
        cuda.syncthreads()
        for k in range(16):
            total += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()
    c[row, column] = total


def matmul_tiled_wide(c: Any, a: Any, b: Any, n: Any) -> None:
    a_tile = cuda.shared.array((16, 32), np.float32)
    b_tile = cuda.shared.array((32, 32), np.float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = np.float32(0)
    for m in range(0, n, 32):
        a_tile[ty, tx] = a[row, m + tx]
        b_tile[ty, tx] = b[m + ty, column]
        b_tile[ty + 16, tx] = b[m + ty + 16, column]
        cuda.syncthreads()
        for k in range(32):
            total += a_tile[ty, k] * b_tile[k, tx]
        cuda.syncthreads()
    c[row, column] = total


# ------------------------------------------------------------------------------------ data and references
def _matrices(rng: np.random.Generator) -> tuple[Any, ...]:
    a, b = rng.random((2, N, N), np.float32)
    return np.zeros((N, N), np.float32), a, b, np.int32(N)


def _product(c: Any, a: Any, b: Any, *_: Any) -> None:
    np.matmul(a, b, out=c)


_WIDE = (N // 32, N // 16)

CASES = [
    Case("matmul_naive", (N // 16, N // 16), (16, 16), _matrices, _product),
    Case("matmul_naive_wide", _WIDE, (32, 16), _matrices, _product, kernel="matmul_naive"),
    Case("matmul_tiled", (N // 16, N // 16), (16, 16), _matrices, _product, numpy_bound=2.5),
    Case("matmul_tiled_wide", _WIDE, (32, 16), _matrices, _product, numpy_bound=2.5),
]
