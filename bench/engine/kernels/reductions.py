"""Sums: each block leaves the sum of its elements in partial[blockIdx.x]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..case import Case

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles a kernel

N = 1 << 22
BLOCK = 512


def reduce_neighbored(x: Any, partial: Any, n: Any) -> None:
    t = cuda.threadIdx.x
    size = cuda.blockDim.x
    first = cuda.blockIdx.x * size
    if first + t >= n:
        return
    s = 1
    while s < size:
        if t % (2 * s) == 0:
            x[first + t] += x[first + t + s]
        cuda.syncthreads()
        s *= 2
    if t == 0:
        partial[cuda.blockIdx.x] = x[first]


def reduce_interleaved(x: Any, partial: Any, n: Any) -> None:
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * cuda.blockDim.x
    if first + t >= n:
        return
    s = cuda.blockDim.x // 2
    while s > 0:
        if t < s:
            x[first + t] += x[first + t + s]
        cuda.syncthreads()
        s >>= 1
    if t == 0:
        partial[cuda.blockIdx.x] = x[first]


def reduce_unroll8(x: Any, partial: Any, n: Any) -> None:
    t = cuda.threadIdx.x
    size = cuda.blockDim.x
    first = cuda.blockIdx.x * size * 8
    i = first + t
    if i + 7 * size < n:
        total = x[i]
        for k in range(1, 8):
            total += x[i + k * size]
        x[i] = total
    cuda.syncthreads()
    s = size // 2
    while s > 0:
        if t < s:
            x[i] += x[i + s]
        cuda.syncthreads()
        s >>= 1
    if t == 0:
        partial[cuda.blockIdx.x] = x[first]


def reduce_shared_modulo(x: Any, partial: Any, n: Any) -> None:
    sums = cuda.shared.array(512, np.float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    sums[t] = x[i] if i < n else 0.0
    cuda.syncthreads()
    s = 1
    while s < cuda.blockDim.x:
        if t % (2 * s) == 0:
            sums[t] += sums[t + s]
        cuda.syncthreads()
        s *= 2
    if t == 0:
        partial[cuda.blockIdx.x] = sums[0]


def reduce_shared_strided(x: Any, partial: Any, n: Any) -> None:
    sums = cuda.shared.array(512, np.float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    sums[t] = x[i] if i < n else 0.0
    cuda.syncthreads()
    s = 1
    while s < cuda.blockDim.x:
        at = 2 * s * t
        if at < cuda.blockDim.x:
            sums[at] += sums[at + s]
        cuda.syncthreads()
        s *= 2
    if t == 0:
        partial[cuda.blockIdx.x] = sums[0]


def reduce_shared_sequential(x: Any, partial: Any, n: Any) -> None:
    sums = cuda.shared.array(512, np.float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    sums[t] = x[i] if i < n else 0.0
    cuda.syncthreads()
    s = cuda.blockDim.x // 2
    while s > 0:
        if t < s:
            sums[t] += sums[t + s]
        cuda.syncthreads()
        s >>= 1
    if t == 0:
        partial[cuda.blockIdx.x] = sums[0]


def reduce_shuffle(x: Any, partial: Any, n: Any) -> None:
    sums = cuda.shared.array(16, np.float64)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    total = x[i] if i < n else 0.0
    d = 16
    while d > 0:
        total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)
        d >>= 1
    if t % 32 == 0:
        sums[t // 32] = total
    cuda.syncthreads()
    if t < 32:
        total = sums[t] if t < 16 else 0.0
        d = 8
        while d > 0:
            total += cuda.shfl_down_sync(0xFFFFFFFF, total, d)
            d >>= 1
        if t == 0:
            partial[cuda.blockIdx.x] = total


def dot_product(x: Any, y: Any, partial: Any, n: Any) -> None:
    sums = cuda.shared.array(256, np.float32)
    t = cuda.threadIdx.x
    total = np.float32(0)
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        total += x[i] * y[i]
    sums[t] = total
    cuda.syncthreads()
    s = cuda.blockDim.x // 2
    while s > 0:
        if t < s:
            sums[t] += sums[t + s]
        cuda.syncthreads()
        s >>= 1
    if t == 0:
        partial[cuda.blockIdx.x] = sums[0]


# ------------------------------------------------------------------------------------ data and references
def _numbers(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.random(N), np.zeros(N // BLOCK), np.int32(N)


def _numbers8(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.random(N), np.zeros(N // BLOCK // 8), np.int32(N)


def _sum(x: Any, partial: Any, *_: Any) -> None:
    np.sum(x.reshape(partial.size, -1), axis=1, out=partial)


def _vectors(rng: np.random.Generator) -> tuple[Any, ...]:
    x, y = rng.random((2, N), np.float32)
    return x, y, np.zeros(256, np.float32), np.int32(N)


def _dot(x: Any, y: Any, partial: Any, *_: Any) -> None:
    partial[0] = np.dot(x, y)
    partial[1:] = 0


_SUM = {"grid": N // BLOCK, "block": BLOCK, "reference": _sum, "results": (1,)}

CASES = [
    Case("reduce_neighbored", data=_numbers, changes=(0,), **_SUM),
    Case("reduce_interleaved", data=_numbers, changes=(0,), numpy_bound=3.5, **_SUM),
    Case("reduce_unroll8", N // BLOCK // 8, BLOCK, _numbers8, _sum, results=(1,), changes=(0,)),
    Case("reduce_shared_modulo", data=_numbers, **_SUM),
    Case("reduce_shared_strided", data=_numbers, **_SUM),
    Case("reduce_shared_sequential", data=_numbers, **_SUM),
    Case("reduce_shuffle", data=_numbers, simulated=False, **_SUM),
    Case("dot_product", 256, 256, _vectors, _dot, results=(2,), summed=True, numpy_bound=1.3),
]
