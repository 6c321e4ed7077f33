"""Faults in code that runs several warps together are those of warps one by one."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode, worker_threads
from tests.fuzz import faulting_programs
from warpglass import lab
from warpglass.engine.cpu import second_look
from warpglass.errors import KernelFault

# In the loop x may end in a round in which only later warps leave it, and y in the next one, for all of them.
SOURCE = """
extern "C" __global__ void sums(const float *x, const float *y, float *z, int n) {
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  float sum = 0;
  z[i] = i;
  #pragma unroll 1
  for (int k = 0; k < n; k++) sum += x[k * 128 + t] * y[k * 128 + t];
  z[i] = sum;
}
extern "C" __global__ void in_place(const float *x, const float *y, float *z, int n) {
  __shared__ float part[128];
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  #pragma unroll 1
  for (int k = 0; k < n; k++) {
    part[t] = z[i] + x[k * 128 + t] * y[k * 128 + t];
    __syncthreads();
    z[i] = part[t];
    __syncthreads();
  }
}
extern "C" __global__ void decides(const float *x, const float *y, float *z, int n) {
  int t = threadIdx.x, i = blockIdx.x * 128 + t;
  #pragma unroll 1
  for (int k = 0; k < n; k++) {
    z[0] = z[0] + 1;
    z[i + 1] = x[k * 128 + t] * y[(int)z[0] * 128 + t];
  }
}
extern "C" __global__ void rows(const float *x, const float *y, float *z, int n) {
  __shared__ float tile[10][18];
  int tx = threadIdx.x, ty = threadIdx.y;
  tile[ty][tx] = x[(ty * 4 + blockIdx.x) * n + tx];
  __syncthreads();
  if (tx > 0 && tx < 17 && ty > 0 && ty < 9)
    z[(ty * 4 + blockIdx.x) * 18 + tx] = tile[ty - 1][tx] + tile[ty + 1][tx] + y[ty * 18 + tx];
}
"""


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpglass.codegen.warp_fusion.vector_bytes", lambda: 64)


def _ending(name: str, engine: str, lengths: tuple[int, int], threads: int = 1) -> tuple[str, np.ndarray]:
    x, y = (np.full(length, 2, np.float32) for length in lengths)
    z = np.zeros(1024, np.float32)
    block = (18, 10) if name == "rows" else 128
    n = 18 if name == "rows" else 6
    with engine_mode(engine), worker_threads(threads), pytest.raises(KernelFault) as caught:
        lab.run(wg.compile(SOURCE, name), 4, block, (x, y, z, np.int32(n)), device="cpu")
    lab.reset("cpu")
    return str(caught.value), z


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("lengths", [(454, 517), (3 * 128 + 40, 4 * 128), (1000, 300), (300, 1)])
@pytest.mark.parametrize("name", ["sums", "in_place"])
def test_the_thread_to_blame_is_that_of_warps_one_by_one(
    name: str, lengths: tuple[int, int], threads: int
) -> None:
    (said, want), (found, stored) = (_ending(name, engine, lengths, threads) for engine in CPU_ENGINES)
    assert said == found
    if name == "sums" and threads == 1:  # what warps have stored before it is there
        assert np.array_equal(want[want != 0], stored[want != 0])


@pytest.mark.parametrize("lengths", [(500, 99), (180, 180), (650, 20)])
def test_the_thread_to_blame_in_rows_is_that_of_warps_one_by_one(lengths: tuple[int, int]) -> None:
    reference, found = (_ending("rows", engine, lengths) for engine in CPU_ENGINES)
    assert reference[0] == found[0]


def test_a_block_whose_way_depends_on_what_it_has_changed_has_no_second_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its counter has gone on: what it would load is not what it has loaded."""
    monkeypatch.setattr(second_look, "_run_again", None)
    said, z = _ending("decides", "kinds", (454, 517))
    assert "y[517]" in said
    assert z[0] > 0


@pytest.mark.parametrize("number", range(6))
def test_random_faults_are_those_of_the_reference(number: int) -> None:
    faulting_programs.attempt(number)
