"""Barriers of blocks whose lanes all run together: nobody waits there, and results are the reference's."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from warpglass import lab
from warpglass.codegen import BlockShape, Promises, grid_class, kernel
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import WarpglassError

SOURCE = """
// Diagonals of a square: of lanes that do not act, addresses lie in front of the tile, and behind it.
extern "C" __global__ void diagonals(int *data, int n) {
  __shared__ int tile[32][33];
  int k = threadIdx.x, w = blockDim.x < 32 ? blockDim.x : 32;
  int *own = data + blockIdx.x * 1024;
  for (int i = 0; i < w; i++) if (k < w) tile[i][k] = own[i * 32 + k];
  __syncthreads();
  for (int i = 1; i < n; i++) {
    if (k < i && k + 1 < w && i - k < w)
      tile[i - k][k + 1] = max(tile[i - k - 1][k] * 3, tile[i - k - 1][k + 1] - tile[i - k][k]);
    __syncthreads();
  }
  for (int i = 0; i < w; i++) if (k < w) own[i * 32 + k] = tile[i][k];
}
// Few lanes sum up rows of a table that has no more: those that do not act would begin behind it.
extern "C" __global__ void rows(int *data, int n) {
  __shared__ int table[6 * 64];
  int k = threadIdx.x, sum = 0;
  for (int i = k; i < 6 * 64; i += blockDim.x) table[i] = data[blockIdx.x * 1024 + i];
  __syncthreads();
  if (k < 6)
    for (int i = 0; i < 64; i++) {
      int here = table[k * 64 + i];
      table[k * 64 + i] = sum;
      sum += here * n;
    }
  __syncthreads();
  for (int i = k; i < 6 * 64; i += blockDim.x) data[blockIdx.x * 1024 + i] = table[i];
}
// Some threads are gone, and values live across the barriers.
extern "C" __global__ void leaving(int *data, int n) {
  __shared__ int row[256];
  int k = threadIdx.x, sum = k;
  row[k] = data[blockIdx.x * 1024 + k];
  __syncthreads();
  if (k > 11) return;
  for (int i = 0; i < n; i++) {
    sum += row[(k + i) % 12];
    __syncthreads();
    row[k] = sum;
    __syncthreads();
  }
  data[blockIdx.x * 1024 + k] = sum;
}
// An index that leaves the tile in some round.
extern "C" __global__ void beyond(int *data, int n) {
  __shared__ int tile[64];
  int k = threadIdx.x;
  tile[k & 63] = data[k];
  __syncthreads();
  for (int i = 0; i < n; i++) {
    if (k < 5) tile[k + i * 16] = i;
    __syncthreads();
  }
  data[k] = tile[k & 63];
}
// Which barrier lanes come to depends on the data.
extern "C" __global__ void parted(int *data, int n) {
  __shared__ int row[256];
  int k = threadIdx.x;
  row[k] = data[k];
  if (data[k] % 3 == 0) { row[k] += 5; __syncthreads(); } else { row[k] ^= 3; __syncthreads(); }
  data[k] = row[k ^ 1];
}
"""


def _ending(name: str, engine: str, block: int, n: int) -> bytes | str:
    data = np.random.default_rng(5).integers(0, 100, 4096, np.int32)
    with engine_mode(engine):
        try:
            wg.run(wg.compile(SOURCE, name), 4, block, (data, np.int32(n)), device="cpu")
        except WarpglassError as error:
            lab.reset("cpu")
            return str(error)
    return data.tobytes()


@pytest.mark.parametrize("block", [8, 16, 31, 32, 64, 96, 256])
@pytest.mark.parametrize(
    ("name", "n"), [("diagonals", 61), ("rows", 3), ("leaving", 9), ("beyond", 6), ("parted", 0)]
)
def test_both_engines_end_alike(name: str, n: int, block: int):
    reference, fast = (_ending(name, engine, block, n) for engine in CPU_ENGINES)
    assert reference == fast
    assert isinstance(fast, str) == (name == "beyond")


@pytest.mark.parametrize(
    ("name", "block", "waits"), [("leaving", 32, False), ("leaving", 96, True), ("parted", 32, True)]
)
def test_only_lanes_that_run_together_need_not_wait(name: str, block: int, waits: bool):
    prepared = prepare(wg.compile(SOURCE, name).compile())
    shape, promises = BlockShape((block, 1, 1), static_shared=1024), Promises(grid_class((4, 1, 1)))
    code = kernel.generate(prepared.program, shape, prepared.symbols, (), promises)
    assert bool(code.barriers) == waits
    assert bool(kernel.generate(prepared.program, shape, prepared.symbols).barriers)
