"""Races between blocks, and what orders blocks: fences with atomic and volatile accesses."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES

from .twins import Twins, floats, integers

_LAST_BLOCK = """
__device__ unsigned arrived = 0;
extern "C" __global__ void k(const float* x, float* partial, float* total) {
  __shared__ bool last;
  int t = threadIdx.x;
  partial[blockIdx.x * 32 + t] = 2 * x[blockIdx.x * 32 + t];
  @
  if (t == 0) {
    last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last) {
    float sum = 0;
    for (int i = t; i < gridDim.x * 32; i += 64) sum += partial[i];  // BUG: global-race
    total[t] = sum;
  }
}"""

TWINS = {
    "neighbour_block": Twins(
        """
extern "C" __global__ void k(float* x, float* y) {
  int i = blockIdx.x * 64 + threadIdx.x;
  if (i + 1 < 256) @[i] = x[i + 1];  // BUG: global-race
}""",
        floats(256, 256),
        "y",
        hole="x",
        grid=4,
    ),
    "unfinished_sum": Twins(
        """
extern "C" __global__ void k(const int* x, int* sum) {
  int i = blockIdx.x * 64 + threadIdx.x;
  @;  // BUG: global-race
}""",
        lambda: (np.arange(256, dtype=np.int32), np.zeros(1, np.int32)),
        "atomicAdd(sum, x[i])",
        hole="if (threadIdx.x == 0) sum[0] += x[i]",
        grid=4,
    ),
    "atomic_of_the_block": Twins(
        """
extern "C" __global__ void k(int* sum) {
  asm volatile("red.relaxed.@.global.add.u32 [%0], 1;" :: "l"(sum) : "memory");  // BUG: global-race
}""",
        integers(1),
        "gpu",
        hole="cta",
        grid=2,
        block=32,
    ),
    "last_block": Twins(
        _LAST_BLOCK, floats(256, 256, 32), "__threadfence(); __syncthreads();", "__syncthreads();", 8, 32
    ),
    "last_block_fence_of_one": Twins(
        _LAST_BLOCK,
        floats(256, 256, 32),
        "__syncthreads(); if (t == 0) __threadfence();",
        "__syncthreads(); if (t == 0) __threadfence_block();",
        8,
        32,
    ),
    "flag": Twins(
        """
extern "C" __global__ void k(int* data, volatile int* flag) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 42;
    @
    flag[0] = 1;
  } else {
    while (flag[0] == 0);
    __threadfence();
    data[1] = data[0];  // BUG: global-race
  }
}""",
        integers(2, 1),
        "__threadfence();",
        grid=2,
        block=32,
    ),
    "flag_without_fence_behind": Twins(
        """
extern "C" __global__ void k(int* data, volatile int* flag) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 42;
    __threadfence();
    flag[0] = 1;
  } else {
    while (flag[0] == 0);
    @
    data[1] = data[0];  // BUG: global-race
  }
}""",
        integers(2, 1),
        "__threadfence();",
        grid=2,
        block=32,
    ),
    "acquire_and_release": Twins(
        """
extern "C" __global__ void k(int* data, int* flag) {
  if (threadIdx.x) return;
  if (blockIdx.x == 0) {
    data[0] = 42;
    asm volatile("st.@.gpu.global.b32 [%0], 1;" :: "l"(flag) : "memory");
  } else {
    int seen;
    do asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
    while (seen == 0);
    data[1] = data[0];  // BUG: global-race
  }
}""",
        integers(2, 1),
        "release",
        hole="relaxed",
        grid=2,
        block=32,
    ),
    "lock_of_lanes": Twins(
        """
extern "C" __global__ void k(int* lock, int* count) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      count[0] = count[0] + 1;  // BUG: global-race
      @
      atomicExch(lock, 0);
      done = true;
    }
  }
}""",
        integers(1, 1),
        "__threadfence();",
        hole="if (threadIdx.x % 32 < 31) __threadfence();",
        grid=2,
        block=64,
    ),
    "look_back": Twins(
        """
extern "C" __global__ void k(const int* x, int* sum, volatile int* ready, int* out) {
  int b = blockIdx.x;
  if (threadIdx.x) return;
  int before = 0;
  if (b > 0) {
    while (ready[b - 1] == 0);
    __threadfence();
    before = sum[b - 1];  // BUG: global-race
  }
  sum[b] = before + x[b];
  @
  ready[b] = 1;
  out[b] = before + x[b];
}""",
        integers(16, 16, 16, 16),
        "__threadfence();",
        grid=16,
        block=32,
    ),
}


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("name", TWINS)
def test_race_is_found_and_its_twin_is_clean(name: str, engine: str) -> None:
    TWINS[name].verify(engine)
