"""Grid-wide synchronisation: every block of a cooperative grid is under way at once."""

from __future__ import annotations

import numpy as np
import pytest

from warpglass import lab

SOURCE = r"""
#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++ it compiles 20 times as quickly
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
extern "C" __global__ void grid_sum(const double *x, double *part, double *out, int n) {
    cg::grid_group grid = cg::this_grid();
    extern __shared__ double s[];
    double v = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) v += x[i];
    s[threadIdx.x] = v;
    __syncthreads();
    for (int o = blockDim.x / 2; o; o /= 2) {
        if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
        __syncthreads();
    }
    if (threadIdx.x == 0) part[blockIdx.x] = s[0];
    grid.sync();
    for (int step = 1; step < gridDim.x; step *= 2) {
        if (threadIdx.x == 0 && blockIdx.x % (2 * step) == 0 && blockIdx.x + step < gridDim.x)
            part[blockIdx.x] += part[blockIdx.x + step];
        grid.sync();
    }
    if (grid.thread_rank() == 0) out[0] = part[0] + s[0] * 0;
}
"""

pytestmark = pytest.mark.usefixtures("mode")


@pytest.mark.sampled(quick=5, ci=4)
@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize(("blocks", "block"), [(1, 64), (7, 32), (64, 256), (300, 64)])
def test_blocks_wait_for_each_other(
    blocks: int, block: int, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPGLASS_THREADS", threads)
    x = np.random.default_rng(blocks).random(50_021)
    part, out = np.zeros(blocks), np.zeros(1)
    kernel = lab.compile(SOURCE, "grid_sum")
    for _ in range(2):
        lab.run(kernel, blocks, block, (x, part, out, x.size), shared=8 * block, device="cpu", timeout=30)
        assert out[0] == pytest.approx(x.sum(), rel=1e-12)


def test_two_blocks_meet_many_times() -> None:
    source = """
    #define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++ it compiles 20 times as quickly
    #include <cooperative_groups.h>
    extern "C" __global__ void rows(int *m, int n, int width) {
        cooperative_groups::grid_group grid = cooperative_groups::this_grid();
        int column = grid.thread_rank();
        for (int row = 1; row < n; ++row) {
            m[row * width + column] = m[(row - 1) * width + width - column - 1] + 1;
            grid.sync();
        }
    }
    """
    m = np.zeros((16, 64), np.int32)
    lab.run(lab.compile(source, "rows"), 2, 32, (m, 16, 64), device="cpu", timeout=30)
    np.testing.assert_array_equal(m[:, 5], np.arange(16))
