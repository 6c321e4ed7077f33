"""Python kernels and atomics: every operation on every type, in global and shared memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from warpglass.errors import KernelFault
from warpglass.source.numba_package import Package

Launch = Callable[..., None]

WORDS = [np.int32, np.uint32, np.int64, np.uint64]
NUMBERS = [*WORDS, np.float32, np.float64]


def small(dtype: Any, count: int = 200, seed: int = 1) -> np.ndarray[Any, Any]:
    """Small whole numbers, whose float sums do not depend on the order."""
    low = 0 if np.dtype(dtype).kind == "u" else -50
    return np.random.default_rng(seed).integers(low, 50, count).astype(dtype)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_add(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, bins):
        i = cuda.grid(1)
        if i < x.shape[0]:
            cuda.atomic.add(bins, i % 7, x[i])

    x, bins = small(dtype), np.zeros(7, dtype)
    launch(kernel, 4, 64, x, bins)
    np.testing.assert_array_equal(bins, [x[k::7].sum() for k in range(7)])


@pytest.mark.parametrize("dtype", NUMBERS)
def test_sub(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, bins):
        i = cuda.grid(1)
        if i < x.shape[0]:
            cuda.atomic.sub(bins, i % 7, x[i])

    x, bins = small(dtype), np.full(7, 100, dtype)
    launch(kernel, 4, 64, x, bins)
    np.testing.assert_array_equal(bins, [dtype(100) - x[k::7].sum(dtype=dtype) for k in range(7)])


@pytest.mark.parametrize("dtype", NUMBERS)
def test_max_and_min(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, high, low):
        i = cuda.grid(1)
        if i < x.shape[0]:
            cuda.atomic.max(high, i % 7, x[i])
            cuda.atomic.min(low, i % 7, x[i])

    x = small(dtype)
    high, low = np.full(7, x[0], dtype), np.full(7, x[0], dtype)
    launch(kernel, 4, 64, x, high, low)
    np.testing.assert_array_equal(high, [max(x[0], x[k::7].max()) for k in range(7)])
    np.testing.assert_array_equal(low, [min(x[0], x[k::7].min()) for k in range(7)])


@pytest.mark.parametrize("dtype", NUMBERS)
def test_nanmax_and_nanmin(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, high, low):
        i = cuda.grid(1)
        if i < x.shape[0]:
            cuda.atomic.nanmax(high, 0, x[i])
            cuda.atomic.nanmin(low, 0, x[i])

    x = small(dtype)
    if np.dtype(dtype).kind == "f":
        x[::3] = math.nan
    high, low = np.full(1, x[1], dtype), np.full(1, x[1], dtype)
    launch(kernel, 4, 64, x, high, low)
    assert high[0] == np.nanmax(x)
    assert low[0] == np.nanmin(x)


@pytest.mark.parametrize("dtype", WORDS)
def test_bitwise(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, conjunction, disjunction, parity):
        i = cuda.grid(1)
        if i < x.shape[0]:
            cuda.atomic.and_(conjunction, i % 3, x[i])
            cuda.atomic.or_(disjunction, i % 3, x[i])
            cuda.atomic.xor(parity, i % 3, x[i])

    info = np.iinfo(dtype)
    x = np.random.default_rng(1).integers(info.min, info.max, 12, dtype, endpoint=True)
    outs = np.full(3, -1 if info.min else info.max, dtype), np.zeros(3, dtype), np.zeros(3, dtype)
    launch(kernel, 1, 32, x, *outs)
    for out, ufunc in zip(outs, (np.bitwise_and, np.bitwise_or, np.bitwise_xor), strict=True):
        np.testing.assert_array_equal(out, [ufunc.reduce(x[k::3]) for k in range(3)])


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_inc_and_dec(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(up, down, limit):
        cuda.atomic.inc(up, 0, limit)
        cuda.atomic.dec(down, 0, limit)

    up, down = np.zeros(1, dtype), np.zeros(1, dtype)
    launch(kernel, 2, 50, up, down, dtype(6))
    assert up[0] == 100 % 7
    assert down[0] == -100 % 7


@pytest.mark.parametrize("dtype", WORDS)
def test_exch(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, place, out):
        i = cuda.grid(1)
        out[i] = cuda.atomic.exch(place, 0, x[i])

    x, place, out = (np.arange(64) + 1).astype(dtype), np.zeros(1, dtype), np.zeros(64, dtype)
    launch(kernel, 2, 32, x, place, out)
    assert sorted([*out.tolist(), place[0]]) == list(range(65))  # a chain: every value is seen once


@pytest.mark.parametrize("dtype", WORDS)
def test_cas(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, old, new, out):
        i = cuda.grid(1)
        out[i] = cuda.atomic.cas(x, i, old, new)

    x, out = (np.arange(32) % 5).astype(dtype), np.zeros(32, dtype)
    before = x.copy()
    launch(kernel, 1, 32, x, dtype(3), dtype(77), out)
    np.testing.assert_array_equal(out, before)
    np.testing.assert_array_equal(x, np.where(before == 3, 77, before))


@pytest.mark.parametrize("dtype", WORDS)
def test_compare_and_swap(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(winner, names, out):
        i = cuda.grid(1)
        out[i] = cuda.atomic.compare_and_swap(winner, 0, names[i])

    winner, names, out = np.zeros(1, dtype), np.arange(1, 65).astype(dtype), np.zeros(64, dtype)
    launch(kernel, 2, 32, winner, names, out)
    assert np.count_nonzero(out == 0) == 1
    assert winner[0] == np.flatnonzero(out == 0)[0] + 1


def test_results_are_the_old_values(cuda: Any, launch: Launch) -> None:
    def kernel(counter, out):
        i = cuda.grid(1)
        out[i] = cuda.atomic.add(counter, 0, 1)

    counter, out = np.zeros(1, np.int64), np.zeros(200, np.int64)
    launch(kernel, 2, 100, counter, out)
    assert counter[0] == 200
    assert sorted(out) == list(range(200))


def test_tuple_indices(cuda: Any, launch: Launch) -> None:
    def kernel(x, table, cube):
        i = cuda.grid(1)
        if i < x.shape[0]:
            cuda.atomic.add(table, (x[i] % 3, x[i] % 5), 1)
            cuda.atomic.max(cube, (x[i] % 2, 1, x[i] % 3), x[i])

    x = np.random.default_rng(1).integers(0, 1000, 300)
    table, cube = np.zeros((3, 5), np.int32), np.zeros((2, 2, 3), np.int64)
    launch(kernel, 4, 96, x, table, cube)
    wanted, high = np.zeros_like(table), np.zeros_like(cube)
    np.add.at(wanted, (x % 3, x % 5), 1)
    np.maximum.at(high, (x % 2, np.ones_like(x), x % 3), x)
    np.testing.assert_array_equal(table, wanted)
    np.testing.assert_array_equal(cube, high)


def test_negative_indices(package: Package, cuda: Any, launch: Launch) -> None:
    def kernel(x):
        cuda.atomic.add(x, -1, 1)

    x = np.zeros(4, np.int64)
    if package.name == "numba-cuda-mlir":  # 0.6 adds to what lies before the array
        with pytest.raises(KernelFault, match=r"x\[-1\], but x has 4 elements"):
            launch(kernel, 2, 40, x)
    else:
        launch(kernel, 2, 40, x)
        assert x.tolist() == [0, 0, 0, 80]


def test_views(cuda: Any, launch: Launch) -> None:
    def kernel(x):
        cuda.atomic.add(x, cuda.threadIdx.x % x.shape[0], 1.0)

    base = np.zeros(20)
    launch(kernel, 2, 40, base[1::2])
    assert base.tolist() == [0, 8] * 10


@pytest.mark.parametrize("dtype", NUMBERS)
def test_shared_memory(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, out):
        total = cuda.shared.array(3, dtype)
        i = cuda.threadIdx.x
        if i == 0:
            total[0] = 0
            total[1] = x[0]
            total[2] = x[0]
        cuda.syncthreads()
        cuda.atomic.add(total, 0, x[i])
        cuda.atomic.max(total, 1, x[i])
        cuda.atomic.min(total, 2, x[i])
        cuda.syncthreads()
        if i < 3:
            out[i] = total[i]

    x, out = small(dtype, 128), np.zeros(3, dtype)
    launch(kernel, 1, 128, x, out)
    np.testing.assert_array_equal(out, [x.sum(), x.max(), x.min()])


def test_histogram(cuda: Any, launch: Launch) -> None:
    def kernel(x, bins):
        own = cuda.shared.array(16, np.int32)
        if cuda.threadIdx.x < 16:
            own[cuda.threadIdx.x] = 0
        cuda.syncthreads()
        for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
            cuda.atomic.add(own, x[i] >> 4, 1)
        cuda.syncthreads()
        if cuda.threadIdx.x < 16:
            cuda.atomic.add(bins, cuda.threadIdx.x, own[cuda.threadIdx.x])

    x, bins = np.random.default_rng(1).integers(0, 256, 5000).astype(np.uint8), np.zeros(16, np.int32)
    launch(kernel, 3, 64, x, bins)
    np.testing.assert_array_equal(bins, np.bincount(x >> 4, minlength=16))


def test_a_lock(cuda: Any, launch: Launch) -> None:
    def kernel(lock, x):
        waiting = True
        while waiting:
            if cuda.atomic.cas(lock, 0, 0, 1) == 0:
                value = cuda.atomic.add(x, 0, 0)
                cuda.atomic.exch(x, 0, value * 2 % 1000003 + 1)
                cuda.atomic.exch(lock, 0, 0)
                waiting = False

    lock, x = np.zeros(1, np.int64), np.ones(1, np.int64)
    launch(kernel, 2, 40, lock, x)
    value = 1
    for _ in range(80):
        value = value * 2 % 1000003 + 1
    assert x[0] == value
