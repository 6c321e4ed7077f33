"""Shared memory at its edges: lanes outside that do not act, addresses known to be inside, columns."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from warpglass.errors import KernelFault

SOURCE = """
// A block's elements, each with that `d` places on added, and moved by `d` places.
extern "C" __global__ void neighbours(T* x, T* moved, int d) {
  __shared__ T part[N];
  int t = threadIdx.x, i = blockIdx.x * N + t;
  part[t] = x[i];
  __syncthreads();
  T other = 0;
  if (t + d >= 0 && t + d < N) other = part[t + d];
  __syncthreads();
  part[t] += other;
  __syncthreads();
  x[i] = part[t];
  part[t] = 7;
  __syncthreads();
  if (t + d >= 0 && t + d < N) part[t + d] = x[i];
  __syncthreads();
  moved[i] = part[t];
}
extern "C" __global__ void beyond(T* x, int from, int d) {
  __shared__ T part[N];
  int t = threadIdx.x;
  part[t] = x[t];
  __syncthreads();
  if (t >= from) x[t] = part[t + d];
}
// The same in a loop, along whose paths the bounds of `at` are known, for the lanes that act.
extern "C" __global__ void rounds(const T* x, T* out, int d, int n) {
  __shared__ T part[N];
  int t = threadIdx.x, at = t + d;
  T sum = 0;
  part[t] = x[t];
  #pragma unroll 1
  for (int k = 0; k < n; k++) {
    __syncthreads();
    if (at >= 0 && at < N) {
      sum += part[at];
      if ((unsigned)(at ^ 32) > (unsigned)at) sum += 5;
    }
  }
  out[t] = sum;
}
// Counts by a word's low bits, which leave no doubt that the counter exists, or do.
extern "C" __global__ void count(const unsigned* x, unsigned* out, unsigned mask) {
  __shared__ unsigned bins[N];
  int t = threadIdx.x;
  bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[x[t] & 31], 1u);
  __syncthreads();
  unsigned k = x[t] & 62;
  out[t] = bins[k & mask] + bins[(k & 28) | 1];
}
// A matrix through rows of 33, and a column written by each warp.
extern "C" __global__ void turn(const T* x, T* out) {
  __shared__ T tile[32][33];
  int a = threadIdx.x, b = threadIdx.y;
  for (int k = 0; k < 32; k += 4) tile[a][b + k] = x[(b + k) * 32 + a];
  __syncthreads();
  for (int k = 0; k < 32; k += 4) out[(b + k) * 32 + a] = 2 * tile[a][b + k];
}
"""
TYPES = {"double": np.float64, "short": np.int16}


def _kernel(name: str, type_: str, n: int) -> wg.Kernel:
    return wg.compile(
        SOURCE.replace("T*", f"{type_}*")
        .replace("T ", f"{type_} ")
        .replace("[N]", f"[{n}]")
        .replace("N", str(n)),
        name,
    )


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("n", [64, 75])
def test_neighbours(engine: str, type_: str, n: int) -> None:
    kernel = _kernel("neighbours", type_, n)
    for d in (1, -1, 31, -33, 70):
        x = np.random.default_rng(n).integers(-99, 99, 2 * n).astype(TYPES[type_])
        moved, expected = np.zeros_like(x), x.copy().reshape(2, n)
        inside = np.flatnonzero((np.arange(n) + d >= 0) & (np.arange(n) + d < n))
        expected[:, inside] += x.reshape(2, n)[:, inside + d]
        shifted = np.full_like(expected, 7)
        shifted[:, inside + d] = expected[:, inside]
        with engine_mode(engine):
            wg.run(kernel, 2, n, (x, moved, np.int32(d)), device="cpu")
        np.testing.assert_array_equal(x, expected.ravel())
        np.testing.assert_array_equal(moved, shifted.ravel())


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_bounds_of_lanes_that_act(engine: str) -> None:
    x, t = np.arange(64, dtype=np.int16), np.arange(64)
    for d in (0, 5, -5, -40, 50):
        out, at = np.zeros_like(x), t + d
        with engine_mode(engine):
            kernel = _kernel("rounds", "short", 64)
            wg.run(kernel, 1, 64, (x, out, np.int32(d), np.int32(3)), device="cpu")
        acts = (at >= 0) & (at < 64)
        np.testing.assert_array_equal(out, np.where(acts, 3 * (at + 5 * ((at ^ 32) > at)), 0))


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize(("d", "first", "thread"), [(1, 40, 63), (-50, 40, 40), (-42, 40, 40)])
def test_an_active_lane_outside_is_reported(engine: str, d: int, first: int, thread: int) -> None:
    x = np.zeros(64, np.float64)
    with engine_mode(engine):
        with pytest.raises(KernelFault, match=rf"thread \({thread}, 0, 0\)"):
            wg.run(_kernel("beyond", "double", 64), 1, 64, (x, np.int32(first), np.int32(d)), device="cpu")
        wg.reset()


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_low_bits_as_indices(engine: str) -> None:
    x = np.random.default_rng(3).integers(0, 1 << 32, 40, dtype=np.uint32)
    out = np.zeros(40, np.uint32)
    bins = np.bincount(x & 31, minlength=64)
    k = x & 62
    with engine_mode(engine):
        kernel = _kernel("count", "int", 40)
        wg.run(kernel, 1, 40, (x, out, np.uint32(30)), device="cpu")
        np.testing.assert_array_equal(out, bins[k & 30] + bins[(k & 28) | 1])
        thread = int(np.flatnonzero(k >= 40)[0])
        with pytest.raises(KernelFault, match=rf"thread \({thread}, 0, 0\)"):
            wg.run(kernel, 1, 40, (x, out, np.uint32(63)), device="cpu")
        wg.reset()


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("type_", TYPES)
def test_columns(engine: str, type_: str) -> None:
    x = np.arange(1024).astype(TYPES[type_])
    out = np.zeros_like(x)
    with engine_mode(engine):
        wg.run(_kernel("turn", type_, 1), 1, (32, 4), (x, out), device="cpu")
    np.testing.assert_array_equal(out, 2 * x)
