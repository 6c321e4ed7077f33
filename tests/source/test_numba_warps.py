"""Python kernels and what threads do together: places in the grid, barriers, votes, shuffles, fences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.source.refused import refused_by
from warpglass.source.numba_package import Package

Launch = Callable[..., None]
FULL = 0xFFFFFFFF


# ---------------------------------------------------------------------------------------- places
def test_places(cuda: Any, launch: Launch) -> None:
    def kernel(out):
        n = cuda.grid(1)
        out[0, n] = cuda.threadIdx.x
        out[1, n] = cuda.blockIdx.x
        out[2, n] = cuda.blockDim.x
        out[3, n] = cuda.gridDim.x
        out[4, n] = cuda.laneid
        out[5, n] = cuda.warpsize
        out[6, n] = cuda.gridsize(1)

    out = np.zeros((7, 150), np.int64)
    launch(kernel, 3, 50, out)
    n = np.arange(150)
    wanted = [
        n % 50,
        n // 50,
        *np.full((2, 150), [[50], [3]]),
        n % 50 % 32,
        *np.full((2, 150), [[32], [150]]),
    ]
    np.testing.assert_array_equal(out, wanted)


def test_three_dimensional_places(cuda: Any, launch: Launch) -> None:
    def kernel(out):
        i, j, k = cuda.grid(3)
        a, b, c = cuda.gridsize(3)
        block = (cuda.blockIdx.z * cuda.gridDim.y + cuda.blockIdx.y) * cuda.gridDim.x + cuda.blockIdx.x
        thread = (cuda.threadIdx.z * cuda.blockDim.y + cuda.threadIdx.y) * cuda.blockDim.x + cuda.threadIdx.x
        out[i, j, k, 0] = block
        out[i, j, k, 1] = thread
        out[i, j, k, 2] = (a * 100 + b) * 100 + c

    out = np.zeros((6, 6, 4, 3), np.int64)
    launch(kernel, (2, 3, 1), (3, 2, 4), out)
    i, j, k = np.indices((6, 6, 4))
    np.testing.assert_array_equal(out[..., 0], j // 2 * 2 + i // 3)
    np.testing.assert_array_equal(out[..., 1], (k * 2 + j % 2) * 3 + i % 3)
    assert (out[..., 2] == 60604).all()


def test_two_dimensional_grids(cuda: Any, launch: Launch) -> None:
    def kernel(out):
        x, y = cuda.grid(2)
        width, height = cuda.gridsize(2)
        if y < out.shape[0] and x < out.shape[1]:
            out[y, x] = y * width + x + height

    out = np.zeros((62, 76), np.int64)
    launch(kernel, (5, 4), (16, 16), out)
    y, x = np.indices(out.shape)
    np.testing.assert_array_equal(out, y * 80 + x + 64)


# ---------------------------------------------------------------------------------------- barriers
def test_sum_in_shared_memory(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        tile = cuda.shared.array(256, np.float64)
        i = cuda.threadIdx.x
        tile[i] = x[cuda.grid(1)]
        cuda.syncthreads()
        step = cuda.blockDim.x // 2
        while step > 0:
            if i < step:
                tile[i] += tile[i + step]
            cuda.syncthreads()
            step //= 2
        if i == 0:
            out[cuda.blockIdx.x] = tile[0]

    x, out = np.arange(1024.0), np.zeros(4)
    launch(kernel, 4, 256, x, out)
    np.testing.assert_array_equal(out, x.reshape(4, 256).sum(1))


def test_barriers_with_votes(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.threadIdx.x
        out[0, i] = cuda.syncthreads_count(x[i] & 3)
        out[1, i] = cuda.syncthreads_and(x[i] + 1)
        out[2, i] = cuda.syncthreads_or(x[i] & 16)

    x, out = np.arange(100) % 10, np.zeros((3, 100), np.int64)
    launch(kernel, 1, 100, x, out)
    assert set(out[0]) == {np.count_nonzero(x & 3)}
    assert (out[1] != 0).all()
    assert (out[2] == 0).all()


@pytest.mark.parametrize("masked", [False, True])
def test_syncwarp(cuda: Any, launch: Launch, masked: bool) -> None:
    def kernel(x, out):
        tile = cuda.shared.array(64, np.int64)
        i = cuda.threadIdx.x
        tile[i] = x[i]
        if masked:
            cuda.syncwarp(0xFFFFFFFF)
        else:
            cuda.syncwarp()
        out[i] = tile[i ^ 5]

    x, out = np.arange(64) * 3, np.zeros(64, np.int64)
    launch(kernel, 1, 64, x, out)
    np.testing.assert_array_equal(out, x[np.arange(64) ^ 5])


# ---------------------------------------------------------------------------------------- shuffles and votes
@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64])
def test_shuffles(package: Package, cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, out):
        i = cuda.threadIdx.x
        out[0, i] = cuda.shfl_sync(0xFFFFFFFF, x[i], 7)
        out[1, i] = cuda.shfl_up_sync(0xFFFFFFFF, x[i], 3)
        out[2, i] = cuda.shfl_down_sync(0xFFFFFFFF, x[i], 5)
        out[3, i] = cuda.shfl_xor_sync(0xFFFFFFFF, x[i], 9)

    x = np.random.default_rng(1).integers(0, 2**31, 32).astype(dtype)
    if package.name == "numba-cuda-mlir" and dtype is np.float64:
        x = x.astype(np.float32).astype(dtype)  # 0.6 shuffles single precision
    out = np.zeros((4, 32), dtype)
    lane = np.arange(32)
    places = [lane * 0 + 7, np.where(lane < 3, lane, lane - 3), np.where(lane > 26, lane, lane + 5), lane ^ 9]
    unsigned = ("numba-cuda",) if np.dtype(dtype).kind == "u" else ()
    with refused_by(package, *unsigned):
        launch(kernel, 1, 32, x, out)
        np.testing.assert_array_equal(out, [x[place] for place in places])


def test_sum_by_shuffles(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        value = x[cuda.grid(1)]
        for step in (16, 8, 4, 2, 1):
            value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        if cuda.laneid == 0:
            cuda.atomic.add(out, 0, value)

    x, out = np.arange(256.0), np.zeros(1)
    launch(kernel, 2, 128, x, out)
    assert out[0] == x.sum()


def test_votes(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.threadIdx.x
        out[0, i] = cuda.all_sync(0xFFFFFFFF, x[i] > 0)
        out[1, i] = cuda.any_sync(0xFFFFFFFF, x[i] > 30)
        out[2, i] = cuda.eq_sync(0xFFFFFFFF, x[i] > 0)
        out[3, i] = cuda.ballot_sync(0xFFFFFFFF, x[i] % 3 == 0)

    x, out = np.arange(32) + 1, np.zeros((4, 32), np.int64)
    launch(kernel, 1, 32, x, out)
    assert (out[:3] != 0).all()
    assert set(out[3] & FULL) == {sum(1 << k for k in range(32) if (k + 1) % 3 == 0)}


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_matches(package: Package, cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, out, agreed):
        i = cuda.threadIdx.x
        out[i] = cuda.match_any_sync(0xFFFFFFFF, x[i])
        mask, same = cuda.match_all_sync(0xFFFFFFFF, x[0])
        agreed[0, i] = mask
        agreed[1, i] = same

    x = (np.arange(32) % 5).astype(dtype)
    out, agreed = np.zeros(32, np.int64), np.zeros((2, 32), np.int64)
    wanted = [sum(1 << k for k in range(32) if x[k] == value) for value in x]
    floats = ("numba-cuda-mlir",) if np.dtype(dtype).kind == "f" else ()
    with refused_by(package, *floats):
        launch(kernel, 1, 32, x, out, agreed)
        np.testing.assert_array_equal(out & FULL, wanted)
        assert set(agreed[0] & FULL) == {FULL}
        assert set(agreed[1]) == {1}


def test_activemask(cuda: Any, launch: Launch) -> None:
    def kernel(out):
        i = cuda.threadIdx.x
        if i % 3 == 0:
            out[i] = cuda.activemask()

    out = np.zeros(32, np.int64)
    launch(kernel, 1, 32, out)
    thirds = sum(1 << k for k in range(0, 32, 3))
    np.testing.assert_array_equal(out & FULL, np.where(np.arange(32) % 3 == 0, thirds, 0))


def test_lanemask(package: Package, cuda: Any, launch: Launch) -> None:
    def kernel(out):
        out[cuda.threadIdx.x] = cuda.lanemask_lt()

    out = np.zeros(32, np.int64)
    with refused_by(package, "numba-cuda-mlir"):
        launch(kernel, 1, 32, out)
        np.testing.assert_array_equal(out & FULL, (1 << np.arange(32)) - 1)


def test_compaction_by_ballot(cuda: Any, launch: Launch) -> None:
    def kernel(x, counter, out):
        i = cuda.grid(1)
        keep = x[i] % 3 == 0
        votes = cuda.ballot_sync(0xFFFFFFFF, keep)
        place = cuda.popc(votes & ((1 << cuda.laneid) - 1))
        base = 0
        if cuda.laneid == 0:
            base = cuda.atomic.add(counter, 0, cuda.popc(votes))
        base = cuda.shfl_sync(0xFFFFFFFF, base, 0)
        if keep:
            out[base + place] = x[i]

    x = np.random.default_rng(1).integers(0, 100, 256)
    counter, out = np.zeros(1, np.int32), np.full(256, -1)
    launch(kernel, 2, 128, x, counter, out)
    wanted = x[x % 3 == 0]
    assert counter[0] == len(wanted)
    assert sorted(out[: counter[0]]) == sorted(wanted)


# ---------------------------------------------------------------------------------------- fences and waiting
def test_fences(package: Package, cuda: Any, launch: Launch) -> None:
    def kernel(x, done, out):
        i = cuda.grid(1)
        x[i] = i
        cuda.threadfence_block()
        cuda.threadfence()
        cuda.threadfence_system()
        last = cuda.atomic.add(done, 0, 1) == cuda.gridsize(1) - 1
        if last:
            total = 0
            for k in range(x.shape[0]):
                total += x[k]
            out[0] = total

    x, done, out = np.zeros(128, np.int64), np.zeros(1, np.int32), np.zeros(1, np.int64)
    with refused_by(package, "numba-cuda-mlir"):
        launch(kernel, 4, 32, x, done, out)
        assert out[0] == sum(range(128))


def test_nanosleep(cuda: Any, launch: Launch) -> None:
    def kernel(out):
        cuda.nanosleep(32)
        out[cuda.grid(1)] = 1

    out = np.zeros(64, np.int64)
    launch(kernel, 2, 32, out)
    assert out.all()


def test_grid_synchronisation(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        grid = cuda.cg.this_grid()
        i = cuda.grid(1)
        x[i] += 1
        grid.sync()
        out[i] = x[x.shape[0] - 1 - i] * 2
        grid.sync()
        x[i] = out[(i + 32) % x.shape[0]]

    x, out = np.arange(128), np.zeros(128, np.int64)
    launch(kernel, 4, 32, x, out)
    wanted = (np.arange(128)[::-1] + 1) * 2
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(x, np.roll(wanted, -32))
