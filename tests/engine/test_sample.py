"""Profiles of a sample of blocks: the whole grid runs, as always; a few of its blocks are counted."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from warpglass.errors import ArgumentError, KernelFault

SOURCE = """
extern "C" __global__ void scale(float* x, const float* y, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 2 * y[i]; }

extern "C" __global__ void lower_half(float* x)
{ if (blockIdx.x < gridDim.x / 2) x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

extern "C" __global__ void numbered(float* sum, float* seen)
{ if (threadIdx.x == 0) seen[blockIdx.x] = atomicAdd(sum, 1.0f / (1 + blockIdx.x)); }
"""

TOGETHER = """
#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++ it compiles 20 times as quickly
#include <cooperative_groups.h>
extern "C" __global__ void together(int* x)
{ cooperative_groups::this_grid().sync(); x[blockIdx.x] = 1; }
"""

STORES = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"


def kernel(name: str) -> wg.Kernel:
    return wg.compile(SOURCE, name)


@pytest.mark.parametrize("blocks", [1, 3, 7, 36, 37, 1000])
def test_equal_blocks_scale_exactly(blocks: int):
    x, y = np.zeros(37 * 64, "f4"), np.arange(37 * 64, dtype="f4")
    found = wg.profile(kernel("scale"), 37, 64, (x, y, np.int32(x.size)), blocks=blocks, caches=False)
    assert (x == 2 * y).all()
    assert found.counters[STORES] == 37 * 2
    sampled = blocks < 37
    assert found.label(STORES) == ("modelled" if sampled else "exact")
    assert found.label("launch__grid_size") == "exact"
    assert found.counters["launch__grid_size"] == 37
    assert any(f"counted in {blocks} of 37 blocks" in note for note in found.notes) is sampled
    assert found.lines[-1].counters


def test_samples_are_spread():
    x = np.zeros(100 * 32, "f4")
    found = wg.profile(kernel("lower_half"), 100, 32, (x,), blocks=10)
    assert found.counters[STORES] == 50
    assert x.sum() == 50 * 32


def test_blocks_keep_their_order():
    """Atomics whose results are used have the order of the blocks, sampled or not."""
    results: list[np.ndarray] = []
    for blocks in (None, 1, 5):
        total, seen = np.zeros(1, "f4"), np.zeros(64, "f4")
        wg.profile(kernel("numbered"), 64, 32, (total, seen), blocks=blocks)
        results.append(np.concatenate([total, seen]))
    assert (results[0] == results[1]).all()
    assert (results[0] == results[2]).all()
    assert (np.diff(results[0][1:]) > 0).all()


@pytest.mark.parametrize("size", [16 * 64, 33 * 64])
def test_faults_of_blocks_that_are_not_sampled(size: int):
    x, y = np.zeros(40 * 64, "f4"), np.zeros(size, "f4")
    with pytest.raises(KernelFault, match=rf"by block \({size // 64}, 0, 0\)"):
        wg.profile(kernel("scale"), 40, 64, (x, y, np.int32(x.size)), blocks=2)
    wg.reset("cpu")


def test_what_cannot_be_sampled():
    x, together = np.zeros(8, "i4"), wg.compile(TOGETHER)
    with pytest.raises(ArgumentError, match="needs all blocks at once"):
        wg.profile(together, 8, 32, (x,), blocks=2)
    with pytest.raises(ArgumentError, match="a sample has at least one"):
        wg.profile(together, 8, 32, (x,), blocks=0)
