"""Barriers in divergent code, member masks that lie, and what is legal about both."""

from __future__ import annotations

import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES

from .twins import Twins, floats

TWINS = {
    "conditional_barrier": Twins(
        """
extern "C" __global__ void k(float* x) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  if (t < @) {
    __syncthreads();  // BUG: barrier-divergence
  }
  __syncthreads();
  x[t] = s[63 - t];
}""",
        floats(64),
        "64",
        hole="40",
    ),
    "barrier_in_a_loop": Twins(
        """
extern "C" __global__ void k(float* x) {
  int t = threadIdx.x;
  for (int i = 0; i < @; i++) {
    __syncthreads();  // BUG: barrier-divergence
    x[64 * (i % 8) + t] += 1;
  }
  __syncthreads();
}""",
        floats(512),
        "8",
        hole="t % 3 + 1",
    ),
    "barrier_before_return": Twins(
        """
extern "C" __global__ void k(float* x, int n) {
  int t = threadIdx.x;
  if (t >= n) { @ return; }  // BUG: barrier-divergence
  x[t] = 1;
  __syncthreads();
  x[t + 64] = x[t];
}""",
        lambda: (*floats(128)(), 40),
        "x[t] = 2;",
        hole="__syncthreads();",
    ),
    "mask_names_lanes_elsewhere": Twins(
        """
extern "C" __global__ void k(float* x) {
  int t = threadIdx.x;
  float v = x[t];
  if (t < 16) {
    v += __shfl_xor_sync(@, v, 8);  // BUG: sync-mask
  } else {
    v *= 2;
  }
  x[t] = v;
}""",
        floats(32),
        "0xffffu",
        hole="0xffffffffu",
        block=32,
    ),
    "mask_without_the_lane": Twins(
        """
extern "C" __global__ void k(float* x) {
  int t = threadIdx.x;
  x[t] = __shfl_xor_sync(@, x[t], 1);  // BUG: sync-mask
}""",
        floats(32),
        "0xffffffffu",
        hole="0x0fffffffu",
        block=32,
    ),
    "lane_that_has_returned": Twins(
        """
extern "C" __global__ void k(float* x) {
  int t = threadIdx.x;
  if (t >= @) return;
  float v = x[t];
  for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);  // BUG: sync-mask
  x[t] = v;
}""",
        floats(32),
        "32",
        hole="20",
        block=32,
    ),
    "chosen_lane_is_elsewhere": Twins(
        """
extern "C" __global__ void k(float* x) {
  int t = threadIdx.x;
  float v = x[t];
  if (t < 16) v = __shfl_sync(0xffffu, v, @);  // BUG: sync-mask
  x[t] = v;
}""",
        floats(32),
        "3",
        hole="t + 3",
        block=32,
    ),
}

CLEAN = {
    "early_return": """
extern "C" __global__ void k(float* x) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t >= 50) return;
  s[t] = x[t];
  __syncthreads();
  x[t] = s[49 - t];
}""",
    "half_warps": """
extern "C" __global__ void k(float* x) {
  int t = threadIdx.x;
  float v = x[t];
  unsigned half = t % 32 < 16 ? 0xffffu : 0xffff0000u;
  for (int d = 8; d > 0; d /= 2) v += __shfl_xor_sync(half, v, d);
  x[t] = v;
}""",
    "ballot_mask": """
extern "C" __global__ void k(float* x) {
  int t = threadIdx.x;
  float v = x[t];
  unsigned mask = __ballot_sync(0xffffffffu, t % 3 == 0);
  if (t % 3 == 0) v = __shfl_sync(mask, v, __ffs(mask) - 1);
  x[t] = v;
}""",
    "sum_of_a_half": """
extern "C" __global__ void k(float* x) {
  int t = threadIdx.x;
  float v = x[t];
  if (t < 16) {
    for (int d = 8; d > 0; d /= 2) v += __shfl_down_sync(0xffffu, v, d);
    if (t == 0) x[0] = v;
  }
}""",
    "lock_before_a_barrier": """
extern "C" __global__ void k(float* x) {
  __shared__ int lock, count;
  if (threadIdx.x == 0) { lock = 0; count = 0; }
  __syncthreads();
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      count++;
      __threadfence_block();
      atomicExch(&lock, 0);
      done = true;
    }
  }
  __syncthreads();
  x[threadIdx.x] = count;
}""",
    "barrier_object": """
#include <cuda/barrier>
extern "C" __global__ void k(float* x) {
  #pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t == 0) init(&barrier, 64);
  __syncthreads();
  s[t] = x[t];
  barrier.arrive_and_wait();
  float v = s[63 - t];
  barrier.arrive_and_wait();
  s[t] = 2 * v;
  barrier.arrive_and_wait();
  x[t] = s[(t + 40) % 64];
}""",
    "asynchronous_copies": """
#include <cuda_pipeline.h>
extern "C" __global__ void k(float* x) {
  __shared__ float4 s[2][8];
  int t = threadIdx.x;
  const float4* from = reinterpret_cast<const float4*>(x);
  if (t < 8) __pipeline_memcpy_async(&s[0][t], from + t, 16);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  x[t] = t < 8 ? s[0][7 - t].x : 0;
}""",
    "grid_barrier": """
#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++ it compiles 20 times as quickly
#include <cooperative_groups.h>
extern "C" __global__ void k(float* x) {
  auto grid = cooperative_groups::this_grid();
  int i = grid.thread_rank(), n = grid.size();
  x[i] = i;
  grid.sync();
  float v = x[n - 1 - i];
  grid.sync();
  x[i] = v;
}""",
    "warps_in_turn": """
extern "C" __global__ void k(float* x) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t < 32) s[t] = x[t];
  __syncthreads();
  if (t >= 32) s[t] = s[t - 32] + 1;
  __syncthreads();
  x[t] = s[t ^ 32];
}""",
}


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("name", TWINS)
def test_bug_is_found_and_its_twin_is_clean(name: str, engine: str) -> None:
    TWINS[name].verify(engine)


@pytest.mark.parametrize("name", CLEAN)
def test_legal_code_is_silent(name: str) -> None:
    kernel = wg.compile(CLEAN[name], "k")
    grid = 4 if name == "grid_barrier" else 1
    assert wg.check(kernel, grid, 64, floats(64 * grid)()).findings == ()
