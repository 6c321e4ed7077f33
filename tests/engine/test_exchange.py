"""Shuffles, votes and atomics of whole kernels against NumPy, on both implementations of the engine."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from warpglass import lab

SOURCE = r"""
template <class T> __device__ T warp_sum(T v) {
    for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
    return v;
}
extern "C" __global__ void sum(const float *x, float *out, int n) {
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += x[i];
    __shared__ float s[32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    v = warp_sum(v);
    if (lane == 0) s[warp] = v;
    __syncthreads();
    if (warp == 0) {
        v = warp_sum(lane < blockDim.x / 32 ? s[lane] : 0.f);
        if (lane == 0) atomicAdd(out, v);
    }
}
extern "C" __global__ void histogram(const unsigned char *x, int *bins, int n) {
    __shared__ int s[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) s[i] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s[x[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], s[i]);
}
extern "C" __global__ void votes(const int *x, unsigned *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i], same;
    unsigned *row = out + i * 10;
    row[0] = __ballot_sync(~0u, v & 1);
    row[1] = __any_sync(~0u, v > 1990);
    row[2] = __all_sync(~0u, v >= 0);
    row[3] = __match_any_sync(~0u, v & 3);
    row[4] = __match_all_sync(~0u, v / 2000, &same) - same;
    row[5] = __reduce_add_sync(~0u, (unsigned)v);
    row[6] = __reduce_max_sync(~0u, v - 1000);
    row[7] = __activemask();
    row[8] = __shfl_sync(~0u, v, v & 31);
    row[9] = __shfl_xor_sync(~0u, v, 5, 16);
}
extern "C" __global__ void tickets(unsigned *counter, int *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[atomicInc(counter, 9)] = i;
    if (i < n && i % 3) atomicMax(&out[10], i);
    if (i < n) {
        int old = out[11], seen;
        do {
            seen = old;
            old = atomicCAS(&out[11], seen, seen + i);
        } while (old != seen);
    }
}
"""


pytestmark = pytest.mark.usefixtures("mode")
RNG = np.random.default_rng(3)


def bits(lanes: Iterable[bool]) -> int:
    return sum(1 << lane for lane, set_ in enumerate(lanes) if set_)


def test_sum_by_shuffles() -> None:
    x, out = RNG.random(100_003, np.float32), np.zeros(1, np.float32)
    lab.run(lab.compile(SOURCE, "sum"), 64, 256, (x, out, x.size), device="cpu")
    assert out[0] == pytest.approx(x.sum(dtype=np.float64), rel=1e-5)


def test_histogram_by_atomics() -> None:
    x, bins = RNG.integers(0, 256, 100_001).astype(np.uint8), np.zeros(256, np.int32)
    lab.run(lab.compile(SOURCE, "histogram"), -(-x.size // 192), 192, (x, bins, x.size), device="cpu")
    assert bins.tolist() == np.bincount(x, minlength=256).tolist()


def test_votes() -> None:
    x, out = RNG.integers(0, 2000, 256).astype(np.int32), np.zeros((256, 10), np.uint32)
    lab.run(lab.compile(SOURCE, "votes"), 2, 128, (x, out), device="cpu")
    for i in range(256):
        lane, warp = i % 32, x[i // 32 * 32 : i // 32 * 32 + 32]
        partner = lane ^ 5
        assert out[i].tolist() == [
            bits(warp & 1 == 1),
            int((warp > 1990).any()),
            1,
            bits(warp & 3 == warp[lane] & 3),
            0xFFFFFFFE,
            int(warp.sum()),
            int(warp.max() - 1000) & 0xFFFFFFFF,
            0xFFFFFFFF,
            int(warp[warp[lane] & 31]),
            int(warp[partner if partner <= lane | 15 else lane]),
        ]


def test_atomics_that_read_modify_and_swap() -> None:
    counter, out = np.zeros(1, np.uint32), np.full(12, -1, np.int32)
    out[11] = 0
    n = 1000
    lab.run(lab.compile(SOURCE, "tickets"), 8, 128, (counter, out, n), device="cpu")
    assert counter[0] == n % 10
    assert len(set(out[:10].tolist())) == 10
    assert out[10] == 998
    assert out[11] == n * (n - 1) // 2
