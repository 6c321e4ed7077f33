"""Atomic operations for which earlier ones stand are forgotten; what races with them is found anyway."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg

SOURCE = r"""
extern "C" __global__ void global_bins(int *bins, int *out, int block, int thread, int ordered) {
    for (int i = 0; i < 9; i++) atomicAdd(bins + (threadIdx.x + 5 * i) % 7, 1);
    if (ordered) __syncthreads();
    if (blockIdx.x == block && threadIdx.x == thread) out[0] = bins[3];
}
extern "C" __global__ void shared_bins(int *bins, int *out, int block, int thread, int ordered) {
    __shared__ int own[7];
    if (threadIdx.x < 7) own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < 9; i++) atomicAdd(own + (threadIdx.x + 5 * i) % 7, 1);
    if (ordered) __syncthreads();
    if (blockIdx.x == block && threadIdx.x == thread) out[0] = own[3];
}
"""


def kinds(kernel: str, grid: int, threads: int, *rest: int) -> list[str]:
    args = (np.zeros(7, np.int32), np.zeros(1, np.int32), *rest)
    return [one.kind for one in wg.check(wg.compile(SOURCE, kernel), grid, threads, args).findings]


@pytest.mark.sampled(quick=5)
@pytest.mark.parametrize("block", range(4))
@pytest.mark.parametrize("thread", [0, 40, 95])
@pytest.mark.parametrize("ordered", [0, 1])
def test_any_thread_that_reads(block: int, thread: int, ordered: int) -> None:
    assert kinds("global_bins", 4, 96, block, thread, ordered) == ["global-race"]
    assert kinds("shared_bins", 4, 96, block, thread, ordered) == ["shared-race"] * (1 - ordered)


@pytest.mark.parametrize("thread", [0, 40, 95])
def test_a_single_block(thread: int) -> None:
    assert kinds("global_bins", 1, 96, 0, thread, 0) == ["global-race"]
    assert kinds("global_bins", 1, 96, 0, thread, 1) == []


@pytest.mark.parametrize("thread", [0, 17, 31])
def test_a_single_warp(thread: int) -> None:
    assert kinds("global_bins", 1, 32, 0, thread, 0) == ["warp-race"]
    assert kinds("shared_bins", 1, 32, 0, thread, 0) == ["warp-race"]
