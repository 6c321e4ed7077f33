"""Races within a block: between warps in shared and global memory, and between lanes of a warp."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES

from .twins import Twins, floats, integers

TWINS = {
    "reverse": Twins(
        """
extern "C" __global__ void k(const float* x, float* y) {
  __shared__ float s[128];
  s[threadIdx.x] = x[threadIdx.x];
  @
  y[threadIdx.x] = s[127 - threadIdx.x];  // BUG: shared-race
}""",
        floats(128, 128),
        "__syncthreads();",
        block=128,
    ),
    "tile_reuse": Twins(
        """
extern "C" __global__ void k(const float* x, float* y) {
  __shared__ float s[64];
  float sum = 0;
  for (int tile = 0; tile < 4; tile++) {
    s[threadIdx.x] = x[64 * tile + threadIdx.x];  // BUG: shared-race
    __syncthreads();
    for (int i = 0; i < 64; i++) sum += s[i];
    @
  }
  y[threadIdx.x] = sum;
}""",
        floats(256, 64),
        "__syncthreads();",
    ),
    "scan_in_place": Twins(
        """
extern "C" __global__ void k(float* x) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  for (int d = 1; d < 64; d *= 2) {
    __syncthreads();
    float v = t >= d ? s[t - d] : 0;
    @
    s[t] += v;  // BUG: shared-race
  }
  x[t] = s[t];
}""",
        floats(64),
        "__syncthreads();",
        hole="__syncwarp();",
    ),
    "double_buffer": Twins(
        """
extern "C" __global__ void k(float* x) {
  __shared__ float s[2][64];
  int t = threadIdx.x;
  s[0][t] = x[t];
  int from = 0;
  for (int i = 0; i < 5; i++) {
    @
    s[1 - from][t] = s[from][(t + 33) % 64];  // BUG: shared-race
    from ^= 1;
  }
  x[t] = s[from][t];
}""",
        floats(64),
        "__syncthreads();",
    ),
    "broadcast_flag": Twins(
        """
extern "C" __global__ void k(float* x) {
  __shared__ float total;
  if (threadIdx.x == 0) total = x[0];
  __syncthreads();
  float mine = total;
  @
  if (threadIdx.x == 0) total = 7;  // BUG: shared-race
  __syncthreads();
  x[threadIdx.x] = mine + total;
}""",
        floats(64),
        "__syncthreads();",
        hole="__syncwarp();",
    ),
    "histogram": Twins(
        """
extern "C" __global__ void k(int* bins) {
  __shared__ int h[8];
  if (threadIdx.x < 8) h[threadIdx.x] = 0;
  __syncthreads();
  @;  // BUG: shared-race
  __syncthreads();
  if (threadIdx.x < 8) bins[threadIdx.x] = h[threadIdx.x];
}""",
        integers(8),
        "atomicAdd(&h[threadIdx.x / 8 % 4], 1)",
        hole="if (threadIdx.x % 32 == 0) h[threadIdx.x / 64]++",
        block=64,
    ),
    "atomic_and_plain": Twins(
        """
extern "C" __global__ void k(int* x) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  if (threadIdx.x == 1) atomicAdd(&s, 1);
  @
  if (threadIdx.x == 40) x[0] = s;  // BUG: shared-race
}""",
        integers(1),
        "__syncthreads();",
    ),
    "bytes_of_a_word": Twins(
        """
extern "C" __global__ void k(unsigned char* x) {
  __shared__ unsigned char s[64];
  s[threadIdx.x@] = x[threadIdx.x];  // BUG: shared-race
  __syncthreads();
  x[threadIdx.x] = s[threadIdx.x@];
}""",
        lambda: (np.arange(64, dtype=np.uint8),),
        "",
        hole=" % 32",
    ),
    "named_barrier": Twins(
        """
extern "C" __global__ void k(float* x) {
  __shared__ float s[64];
  int t = threadIdx.x;
  if (t < 32) {
    @  // BUG: shared-race
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    x[t] = s[t - 32];
  }
}""",
        floats(64),
        's[t] = x[t]; asm volatile("bar.arrive 1, 64;" ::: "memory");',
        hole='asm volatile("bar.arrive 1, 64;" ::: "memory"); s[t] = x[t];',
    ),
    "copy_not_waited_for": Twins(
        """
#include <cuda_pipeline.h>
extern "C" __global__ void k(const float* x, float* y) {
  __shared__ float s[2][64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[0][t], x + t, 4);
  __pipeline_commit();
  for (int i = 0; i < 4; i++) {
    if (i < 3) __pipeline_memcpy_async(&s[(i + 1) & 1][t], x + 64 * (i + 1) + t, 4);
    __pipeline_commit();
    __pipeline_wait_prior(@);
    __syncthreads();
    y[64 * i + t] = s[i & 1][63 - t];  // BUG: shared-race
    __syncthreads();
  }
}""",
        floats(256, 256),
        "1",
        hole="2",
    ),
    "own_copy_not_waited_for": Twins(
        """
#include <cuda_pipeline.h>
extern "C" __global__ void k(const float* x, float* y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[t], x + t, 4);
  __pipeline_commit();
  @
  y[t] = s[t];  // BUG: shared-race
}""",
        floats(64, 64),
        "__pipeline_wait_prior(0);",
    ),
    "same_value": Twins(
        """
extern "C" __global__ void k(float* x) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (threadIdx.x % 32 == 0 @) found = 1;  // BUG: shared-race
  __syncthreads();
  if (found) x[threadIdx.x] = 1;
}""",
        floats(64),
        "&& threadIdx.x == 32",
        severity="warning",
    ),
    "in_place_stencil": Twins(
        """
extern "C" __global__ void k(float* x) {
  int i = threadIdx.x + 1;
  float v = x[i - 1] + x[i + 1];
  @
  x[i] = v;  // BUG: global-race
}""",
        floats(66),
        "__syncthreads();",
        hole="__syncwarp();",
    ),
    "warp_tail": Twins(
        """
extern "C" __global__ void k(float* x) {
  __shared__ volatile float s[32];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncwarp();
  if (t < 16) {
    float v = s[t + 16];
    @
    s[t] = s[t] + v;
  }
  __syncwarp();
  if (t < 8) s[t] = s[t] + s[t + 8];
  @
  if (t < 4) x[t] = s[t] + s[t + 4];  // BUG: warp-race
}""",
        floats(32),
        "__syncwarp(__activemask());",
        block=32,
    ),
    "partial_mask": Twins(
        """
extern "C" __global__ void k(float* x) {
  __shared__ float s[32];
  int t = threadIdx.x;
  if (t < 16) {
    s[t] = x[t];
    __syncwarp(@);
    x[t] = s[t ^ 8];  // BUG: warp-race
  }
}""",
        floats(32),
        "0xffff",
        hole="t < 8 ? 0x00ff : 0xff00",
        block=32,
    ),
    "shuffle_orders": Twins(
        """
extern "C" __global__ void k(float* x) {
  __shared__ float s[32];
  int t = threadIdx.x;
  s[t] = x[t];
  @;
  x[t] = s[31 - t];  // BUG: warp-race
}""",
        floats(32),
        "__syncwarp()",
        hole="t += 0",
        block=32,
    ),
}


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("name", TWINS)
def test_race_is_found_and_its_twin_is_clean(name: str, engine: str) -> None:
    TWINS[name].verify(engine)


def test_a_race_names_both_threads_and_the_element() -> None:
    (found,) = TWINS["reverse"].check("kinds", fixed=False).findings
    assert (found.array, found.severity) == ("s", "error")
    assert found.source is not None
    assert found.other_source is not None
    assert {found.source.line, found.other_source.line} == {4, 6}
    assert found.thread is not None
    assert found.other_thread is not None
    assert found.index == found.thread[0] == 127 - found.other_thread[0]
    assert found.block == found.other_block == (0, 0, 0)


@pytest.mark.parametrize("name", TWINS)
def test_findings_do_not_depend_on_the_number_of_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[tuple[wg.Finding, ...]] = []
    for threads in ("1", "2"):
        monkeypatch.setenv("WARPGLASS_THREADS", threads)
        found.append(TWINS[name].check("kinds", fixed=False).findings)
    assert found[0] == found[1]
