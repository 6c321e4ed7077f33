"""Faults in code that runs several warps together are those of warps one by one."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode, run_ptx, worker_threads
from tests.fuzz import faulting_programs
from tests.ptx_text import kernel
from warpglass import lab
from warpglass.codegen import warp_fusion
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

# Later warps may fault in front of the loop, which goes on in the register of the index.
REUSED = kernel(
    """
ld.param.u64 %rd1, [z]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;
mov.u32 %r2, 0; setp.lt.u32 %p1, %r1, 40; @%p1 bra L; st.global.u32 [%rd3+1200], %r1;
L: ld.global.u32 %r3, [%rd3]; add.u32 %r1, %r1, %r3; st.global.u32 [%rd3], %r1; add.u64 %rd3, %rd3, 512;
add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 6; @%p2 bra L; ret;
""",
    "u64 z",
)


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


def test_what_is_loaded_into_the_register_of_an_index_decides_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(warp_fusion, "pays", lambda *_: True)
    said: list[str] = []
    for engine in CPU_ENGINES:
        with pytest.raises(KernelFault) as caught:
            run_ptx(REUSED, 1, 128, (np.zeros(200, np.int32),), engine=engine)
        said.append(str(caught.value))
    assert "thread (0, 0, 0)" in said[0]
    assert said[0] == said[1]


@pytest.mark.parametrize("number", range(6))
def test_random_faults_are_those_of_the_reference(number: int) -> None:
    faulting_programs.attempt(number)
