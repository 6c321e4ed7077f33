"""Warps that part in loops and go together all the same: for which kernels, and whose faults come first."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from tests.fuzz import chain_programs
from warpglass import lab
from warpglass.codegen import BlockShape, Promises, generate, grid_class
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault

SOURCE = """
extern "C" __global__ void walk(int* out, const int* next, const int* steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int at = i, k = 0;
  while (at != 7 && k < steps[i]) { at = next[at]; k++; }
  out[i] = at + next[at];
}
extern "C" __global__ void gcd(unsigned* out, const unsigned* a, const unsigned* b) {
  unsigned x = a[threadIdx.x], y = b[threadIdx.x];
  while (y) { unsigned rest = x % y; x = y; y = rest; }
  out[threadIdx.x] = x;
}
extern "C" __global__ void reals(double* out, const int* next, const double* x) {
  double sum = 0;
  for (int at = threadIdx.x; at >= 0; at = next[at]) sum += x[at];
  out[threadIdx.x] = sum;
}
extern "C" __global__ void in_place(int* next) {
  int at = threadIdx.x;
  while (next[at] != at) at = next[at];
  next[threadIdx.x] = at;
}
extern "C" __global__ void marks(int* marks, const int* next) {
  int at = threadIdx.x;
  while (next[at] != at) { at = next[at]; marks[at] = 1; }
}
extern "C" __global__ void counts(int* count, const int* next) {
  int at = threadIdx.x;
  while (next[at] != at) at = next[at];
  atomicAdd(&count[at], 1);
}
extern "C" __global__ void two(int* out, const int* next) {
  int at = threadIdx.x;
  while (next[at] != at) at = next[at];
  out[threadIdx.x] = at;
  while (next[at] != threadIdx.x) at = next[at + 1];
  out[threadIdx.x + 256] = at;
}
extern "C" __global__ void rows(float* sums, const int* starts, const int* columns, const float* x) {
  float sum = 0;
  for (int k = starts[threadIdx.x]; k < starts[threadIdx.x + 1]; k++) sum += x[columns[k]];
  sums[threadIdx.x] = sum;
}
"""


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize(
    ("name", "lanes"),
    [
        ("walk", 128),
        ("gcd", 128),
        ("reals", 64),
        ("in_place", 32),
        ("marks", 32),
        ("counts", 32),
        ("two", 32),
        ("rows", 32),
    ],
)
def test_warps_go_together_where_they_wait_and_nobody_sees_it(
    name: str, lanes: int, quick: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("warpglass.codegen.warp_fusion.vector_bytes", lambda: 64)
    monkeypatch.setattr("warpglass.codegen.parting_warps.gathers_quickly", lambda: quick)
    prepared = prepare(wg.compile(SOURCE, name).compile())
    shape = BlockShape((256, 1, 1), prepared.program.shared.static)
    found = generate(prepared.program, shape, prepared.symbols, (), Promises(grid_class((4, 1, 1)))).shape
    assert found.width == (lanes if quick else 32)


@pytest.mark.parametrize("seed", range(12))
def test_faults_are_those_of_warps_one_by_one(seed: int, monkeypatch: pytest.MonkeyPatch):
    """Later warps fault earlier, and warps before the one to blame have stored; out may be too short, too."""
    monkeypatch.setattr("warpglass.codegen.parting_warps.gathers_quickly", lambda: True)
    monkeypatch.setenv("WARPGLASS_THREADS", "1")
    rng, size, n = np.random.default_rng(seed), 2048, 3 * 256 - 10 * (seed % 3)
    following, steps = rng.integers(0, size, size, np.int32), rng.integers(0, 40, n, np.int32)
    following[rng.integers(0, size, seed % 4)] = size + 1 + seed
    found: list[tuple[str, bytes]] = []
    for engine in CPU_ENGINES:
        out, said = np.zeros(n if seed % 5 else n - 5, np.int32), ""
        with engine_mode(engine):
            try:
                lab.run(
                    wg.compile(SOURCE, "walk"), 3, 256, (out, following, steps, np.int32(n)), device="cpu"
                )
            except KernelFault as error:
                said = str(error)
                lab.reset("cpu")
        found.append((said, out.tobytes()))
    assert found[0] == found[1]
    assert bool(found[0][0]) == (seed % 4 > 0 or seed % 5 == 0)


@pytest.mark.parametrize("seed", [1, 2, 3, 5])
def test_random_chains_agree_with_the_reference(seed: int):
    assert chain_programs.attempt(seed) in ("agree", "fault")
