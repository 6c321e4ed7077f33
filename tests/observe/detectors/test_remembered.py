"""Accesses that many others have followed are remembered, and default-order atomics are checked in time."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg

_MANY = r"""
__device__ void wait(volatile int* flag) { while (!*flag); __threadfence(); }

extern "C" __global__ void k(int* x, volatile int* flags, int* y, int left_out) {
    int warp = threadIdx.x / 32;
    if (threadIdx.x % 32) return;
    if (warp < 4) {
        @;
        __threadfence();
        flags[warp] = 1;
    } else {
        for (int one = 0; one < 4; one++)
            if (one != left_out) wait(flags + one);
        x[0] = 7;
    }
}
"""
_LANES = r"""
extern "C" __global__ void k(int* x, volatile int* flags, int* y, int left_out) {
    int lane = threadIdx.x;
    if (lane < 4) { @; }
    unsigned met = 0x1f & ~(1u << left_out);
    if (met >> lane & 1) __syncwarp(met);
    if (lane == 4) x[0] = 7;
}
"""


@pytest.mark.parametrize(("text", "block"), [(_MANY, 160), (_LANES, 32)], ids=["flags", "mask"])
@pytest.mark.parametrize("access", ["y[threadIdx.x] = x[0]", "atomicAdd(x, 1)"])
def test_whoever_is_not_waited_for_is_remembered(text: str, block: int, access: str) -> None:
    kernel = wg.compile(text.replace("@", access), "k")
    for left_out in (0, 1, 2, 3, 9):  # 9: none
        args = (np.zeros(1, np.int32), np.zeros(4, np.int32), np.zeros(160, np.int32), np.int32(left_out))
        found = [one.kind for one in wg.check(kernel, 1, block, args).findings]
        assert found == ([] if left_out == 9 else ["global-race" if block > 32 else "warp-race"]), left_out


def test_plain_write_before_a_barrier_races_with_atomics_of_other_blocks() -> None:
    text = r"""
extern "C" __global__ void k(int* x) {
    if (blockIdx.x == 0 && threadIdx.x == 0) *x = 0;
    __syncthreads();
    atomicAdd(x, 1);
}"""
    checked = wg.check(wg.compile(text, "k"), 3, 64, (np.zeros(1, np.int32),))
    assert [one.kind for one in checked.findings] == ["global-race"]


@pytest.mark.parametrize("order", ["seq_cst", "acq_rel"])
def test_many_atomics_of_default_order_are_checked_in_time(order: str) -> None:
    text = rf"""
#include <cuda/atomic>
extern "C" __global__ void k(int* bins, int* sum) {{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < 64; i++) {{
        x = x * 1664525u + 1013904223u;
        cuda::atomic_ref<int, cuda::thread_scope_device> bin(bins[x >> 26]), total(*sum);
        bin.fetch_add(1, cuda::memory_order_{order});
        total.fetch_add(1, cuda::memory_order_{order});
    }}
}}"""
    bins, total = np.zeros(64, np.int32), np.zeros(1, np.int32)
    checked = wg.check(wg.compile(text, "k"), 16, 128, (bins, total), timeout=10)
    assert checked.findings == ()
    assert bins.sum() == total[0] == 16 * 128 * 64
