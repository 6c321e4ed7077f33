"""Kernels in which the threads of a block work together in shared memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..case import Case, blocks

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles a kernel

N = 1 << 20
BYTES = 1 << 22


def odd_even_sort(x: Any) -> None:
    part = cuda.shared.array(1024, np.int32)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * 1024
    part[t] = x[first + t]
    cuda.syncthreads()
    for phase in range(1024):
        if t % 2 == phase % 2 and t + 1 < 1024:
            a = part[t]
            b = part[t + 1]
            if a > b:
                part[t] = b
                part[t + 1] = a
        cuda.syncthreads()
    x[first + t] = part[t]


def bitonic_sort(x: Any) -> None:
    part = cuda.shared.array(1024, np.int32)
    t = cuda.threadIdx.x
    first = cuda.blockIdx.x * 1024
    part[t] = x[first + t]
    cuda.syncthreads()
    k = 2
    while k <= 1024:
        j = k // 2
        while j > 0:
            other = t ^ j
            if other > t:
                a = part[t]
                b = part[other]
                if (a > b) == ((t & k) == 0):
                    part[t] = b
                    part[other] = a
            cuda.syncthreads()
            j //= 2
        k *= 2
    x[first + t] = part[t]


def scan(out: Any, x: Any) -> None:
    sums = cuda.shared.array(512, np.float32)
    t = cuda.threadIdx.x
    i = cuda.blockIdx.x * 512 + t
    sums[t] = x[i]
    cuda.syncthreads()
    d = 1
    while d < 512:
        left = np.float32(0)
        if t >= d:
            left = sums[t - d]
        cuda.syncthreads()
        sums[t] += left
        cuda.syncthreads()
        d *= 2
    out[i] = sums[t]


def histogram_shared(x: Any, bins: Any, n: Any) -> None:
    part = cuda.shared.array(256, np.uint32)
    t = cuda.threadIdx.x
    part[t] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        cuda.atomic.add(part, np.int32(x[i]), 1)
    cuda.syncthreads()
    cuda.atomic.add(bins, t, part[t])


def histogram_global(x: Any, bins: Any, n: Any) -> None:
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        cuda.atomic.add(bins, np.int32(x[i]), 1)


def count_positive(x: Any, count: Any, n: Any) -> None:
    i = cuda.grid(1)
    if i < n and x[i] > np.float32(0.5):
        cuda.atomic.add(count, 0, 1)


# ------------------------------------------------------------------------------------ data and references
def _unsorted(count: int) -> Any:
    def make(rng: np.random.Generator) -> tuple[Any, ...]:
        return (rng.integers(-(1 << 30), 1 << 30, 1024 * count, np.int32),)

    return make


def _sort(x: Any) -> None:
    x.reshape(-1, 1024).sort(axis=1)


def _floats(rng: np.random.Generator) -> tuple[Any, ...]:
    return np.zeros(N, np.float32), rng.random(N, np.float32)


def _scan(out: Any, x: Any) -> None:
    np.cumsum(x.reshape(-1, 512), axis=1, out=out.reshape(-1, 512))


def _bytes(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.integers(0, 256, BYTES, np.uint8), np.zeros(256, np.uint32), np.int32(BYTES)


def _histogram(x: Any, bins: Any, *_: Any) -> None:
    bins[:] = np.bincount(x, minlength=256)


def _signs(rng: np.random.Generator) -> tuple[Any, ...]:
    return rng.random(BYTES, np.float32), np.zeros(1, np.uint32), np.int32(BYTES)


def _count(x: Any, count: Any, *_: Any) -> None:
    count[0] = np.count_nonzero(x > np.float32(0.5))


CASES = [
    Case("odd_even_sort", 64, 1024, _unsorted(64), _sort, changes=(0,)),
    Case("bitonic_sort", 256, 1024, _unsorted(256), _sort, changes=(0,)),
    Case("scan", N // 512, 512, _floats, _scan),
    Case("histogram_shared", 64, 256, _bytes, _histogram, results=(1,), changes=(1,)),
    Case("histogram_global", 64, 256, _bytes, _histogram, results=(1,), changes=(1,)),
    Case("count_positive", blocks(BYTES, 256), 256, _signs, _count, results=(1,), changes=(1,)),
]
