"""Cooperative groups within a warp: tiles of all sizes, partitions, coalesced groups, reductions, scans."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import ENGINES, engine_mode
from warpglass import lab

SOURCE = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
template <int N> __device__ void tile(const int *x, int *out) {
    auto t = cg::tiled_partition<N>(cg::this_thread_block());
    int v = x[cg::this_thread_block().thread_rank()];
    out[0] = cg::reduce(t, v, cg::plus<int>());
    out[1] = cg::inclusive_scan(t, v);
    out[2] = cg::exclusive_scan(t, v);
    out[3] = t.shfl(v, t.num_threads() - 1) + t.thread_rank() * 1000 + t.meta_group_rank() * 100000;
}
extern "C" __global__ void tiles(const int *x, int *out) {
    out += threadIdx.x * 24;
    tile<1>(x, out); tile<2>(x, out + 4); tile<4>(x, out + 8);
    tile<8>(x, out + 12); tile<16>(x, out + 16); tile<32>(x, out + 20);
}
extern "C" __global__ void parts(const int *x, int *out) {
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int v = x[threadIdx.x];
    auto labelled = cg::labeled_partition(warp, v & 3);
    auto binary = cg::binary_partition(warp, v % 3 == 0);
    out += threadIdx.x * 9;
    out[0] = cg::reduce(labelled, v, cg::plus<int>());
    out[1] = labelled.thread_rank() + 100 * labelled.num_threads();
    out[2] = cg::reduce(binary, v, cg::greater<int>());
    out[3] = binary.shfl(v, 0);
    if (v & 4) {
        auto here = cg::coalesced_threads();
        out[4] = here.num_threads() * 100 + here.thread_rank();
        out[5] = cg::reduce(here, v, cg::bit_xor<int>());
        out[6] = cg::inclusive_scan(here, v);
        here.sync();
        out[7] = here.any(v == x[0]) * 2 + here.all(v > 0);
        if (here.thread_rank() == 0) out[8] = 1;
    }
}
"""

X = np.random.default_rng(1).integers(0, 1000, 64).astype(np.int32)


def launch(name: str, engine: str, out: np.ndarray) -> None:
    kernel = lab.compile(SOURCE, name)
    if engine == "gpu":
        lab.run(kernel, 1, 64, (X, out), device="gpu", timeout=20)
        return
    with engine_mode(engine):
        lab.run(kernel, 1, 64, (X, out), device="cpu", timeout=60)


@pytest.mark.parametrize("engine", ENGINES)
def test_tiles(engine: str):
    out = np.zeros((64, 6, 4), np.int32)
    launch("tiles", engine, out)
    ranks = np.arange(64)
    for k, size in enumerate((1, 2, 4, 8, 16, 32)):
        tiles = X.reshape(-1, size)
        sums = tiles.cumsum(1).reshape(-1)
        want = [
            np.repeat(tiles.sum(1), size),
            sums,
            sums - X,
            np.repeat(tiles[:, -1], size) + ranks % size * 1000 + ranks // size * 100000,
        ]
        assert out[:, k].T.tolist() == [one.tolist() for one in want], f"tiles of {size}"


@pytest.mark.parametrize("engine", ENGINES)
def test_partitions_and_coalesced_groups(engine: str):
    out = np.zeros((64, 9), np.int32)
    launch("parts", engine, out)
    for thread, v in enumerate(X.tolist()):
        warp = range(thread // 32 * 32, thread // 32 * 32 + 32)
        label = [t for t in warp if X[t] & 3 == v & 3]
        side = [t for t in warp if (X[t] % 3 == 0) == (v % 3 == 0)]
        want = [int(X[label].sum()), label.index(thread) + 100 * len(label)]
        want += [int(X[side].max()), int(X[side[0]])]
        if v & 4:
            here = [t for t in warp if X[t] & 4]
            rank = here.index(thread)
            want += [len(here) * 100 + rank, int(np.bitwise_xor.reduce(X[here]))]
            want += [int(X[here[: rank + 1]].sum())]
            want += [2 * int((X[here] == X[0]).any()) + int((X[here] > 0).all()), int(rank == 0)]
        assert out[thread].tolist() == want + [0] * (9 - len(want)), f"thread {thread}"
