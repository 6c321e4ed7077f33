"""More asynchronous copies under way than are remembered: no false alarm, and the check says so."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg

KERNEL = """
#include <cuda_pipeline.h>
extern "C" __global__ void stage(const float *x, float *y, int n)
{
    extern __shared__ float tile[];
    for (int i = threadIdx.x; i < n; i += blockDim.x) __pipeline_memcpy_async(tile + i, x + i, 4);
    __pipeline_commit();
    WAIT
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = tile[n - 1 - i];
}
"""


@pytest.mark.parametrize(
    ("copies", "waits", "clean", "told"),
    [(8192, True, True, False), (8192, False, False, False), (24576, True, True, True)],
)
def test_copies_of_one_warp(copies: int, waits: bool, clean: bool, told: bool) -> None:
    kernel = wg.compile(KERNEL.replace("WAIT", "__pipeline_wait_prior(0);" if waits else ""), "stage")
    x, y = np.random.default_rng(1).random(copies).astype("f4"), np.zeros(copies, "f4")
    found = wg.check(kernel, 1, 32, (x, y, copies), shared=4 * copies)
    assert (not found.findings) == clean
    assert any("more copies under way" in note for note in found.notes) == told
    if waits:
        np.testing.assert_array_equal(y, x[::-1])
