"""Threads that wait for each other: locks between lanes, flags between warps, look-back over earlier blocks.

Each of these hangs on an engine that runs lanes or warps strictly one after another.
"""

from __future__ import annotations

import numpy as np
import pytest

from warpglass import lab

SOURCE = r"""
// Every lane spins for the lock by itself: a lane that has it is outside the loop.
extern "C" __global__ void lock_outside(int *lock, volatile int *count) {
    while (atomicCAS(lock, 0, 1) != 0) {}
    *count = *count + 1;
    __threadfence();
    atomicExch(lock, 0);
}
// The usual form for lockstep hardware: the critical section is inside the loop.
extern "C" __global__ void lock_inside(int *lock, volatile int *count) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *count = *count + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
// Each warp waits for the next one; the last starts.
extern "C" __global__ void warps(int *out) {
    __shared__ volatile int ready[32];
    int warp = threadIdx.x / 32, last = blockDim.x / 32 - 1;
    if (threadIdx.x < 32) ready[threadIdx.x] = 0;
    __syncthreads();
    if (warp != last) while (ready[warp + 1] == 0) {}
    if (threadIdx.x % 32 == 0) {
        out[warp] = warp == last ? 0 : ((volatile int *)out)[warp + 1] + 1;
        __threadfence();
        ready[warp] = 1;
    }
    __syncthreads();
    if (threadIdx.x == 0) out[32] = out[0];
}
// An inclusive scan over blocks: each waits for the sum of the one before.
extern "C" __global__ void lookback(const int *x, volatile int *sums, int *ready, int *ticket) {
    __shared__ int block;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1);
    __syncthreads();
    if (threadIdx.x != 0) return;
    int sum = x[block];
    if (block > 0) {
        while (atomicAdd(&ready[block - 1], 0) == 0) {}
        sum += sums[block - 1];
    }
    sums[block] = sum;
    __threadfence();
    atomicExch(&ready[block], 1);
}
// All lanes of a warp wait for one of them, on either side of the branch.
extern "C" __global__ void lane_first(volatile int *flag, int *out) {
    if (threadIdx.x == 31) flag[0] = 1;
    else while (flag[0] == 0) {}
    out[threadIdx.x] = threadIdx.x;
}
extern "C" __global__ void lane_last(volatile int *flag, int *out) {
    if (threadIdx.x != 31) { while (flag[0] == 0) {} out[threadIdx.x] = threadIdx.x; }
    else { out[31] = 31; flag[0] = 1; }
}
"""

pytestmark = pytest.mark.usefixtures("mode")


def launch(name: str, grid: int, block: int, *args: object) -> None:
    lab.run(lab.compile(SOURCE, name), grid, block, args, device="cpu", timeout=20)


@pytest.mark.parametrize("name", ["lock_outside", "lock_inside"])
@pytest.mark.parametrize(("grid", "block"), [(1, 32), (1, 128), (8, 96), (64, 33), (5, 1)])
def test_locks(name: str, grid: int, block: int) -> None:
    lock, count = np.zeros(1, np.int32), np.zeros(1, np.int32)
    launch(name, grid, block, lock, count)
    assert (count[0], lock[0]) == (grid * block, 0)


@pytest.mark.parametrize("count", [1, 2, 16, 32])
def test_warps_wait_for_each_other(count: int) -> None:
    out = np.zeros(33, np.int32)
    launch("warps", 1, 32 * count, out)
    assert out[:count].tolist() == list(range(count - 1, -1, -1))
    assert out[32] == count - 1


@pytest.mark.parametrize("threads", ["1", "3"])
def test_blocks_wait_for_earlier_ones(threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_THREADS", threads)
    n = 2000
    x = np.random.default_rng(1).integers(0, 100, n).astype(np.int32)
    sums, ready, ticket = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(1, np.int32)
    launch("lookback", n, 32, x, sums, ready, ticket)
    assert sums.tolist() == np.cumsum(x).tolist()


@pytest.mark.parametrize("name", ["lane_first", "lane_last"])
def test_lanes_wait_for_one_of_them(name: str) -> None:
    flag, out = np.zeros(1, np.int32), np.full(32, -1, np.int32)
    launch(name, 1, 32, flag, out)
    assert out.tolist() == list(range(32))
