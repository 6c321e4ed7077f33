"""Indices that follow the lanes until a border, a sign or an overflow stops them: guarded values."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from warpglass.errors import KernelFault

SOURCE = """
extern "C" __global__ void borders(unsigned char* a, short* b, float* c, double* d, int* last, int shift,
                                   int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int at = min(max(i + shift, 0), n - 1);
  a[i + n] = a[at];
  b[i + n] = b[at];
  c[i + n] = c[at];
  d[i + n] = d[at];
  last[at] = i;
}
extern "C" __global__ void python(const int* x, int* out, long long shift, long long n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  long long at = i + shift;
  out[i] = x[at < 0 ? at + n : at];
}
extern "C" __global__ void beyond(const float* x, float* out, int shift, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = x[min(i + shift, n)];
}
"""
GRID, BLOCK = 3, 80  # the last warp of a block is partial
THREADS = GRID * BLOCK
N = 100


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("shift", [-260, -37, -1, 0, 3, 400])
def test_indices_limited_by_borders(engine: str, shift: int) -> None:
    rng = np.random.default_rng(1)
    arrays = [rng.integers(0, 200, N + THREADS).astype(t) for t in (np.uint8, np.int16, np.float32, float)]
    last = np.full(N, -1, np.int32)
    at = np.clip(np.arange(THREADS) + shift, 0, N - 1)
    expected = [array[:N][at] for array in arrays]
    with engine_mode(engine):
        args = (*arrays, last, np.int32(shift), np.int32(N))
        wg.run(wg.compile(SOURCE, "borders"), GRID, BLOCK, args, device="cpu")
    for array, want in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(array[N:], want)
    for place in set(at.tolist()):  # blocks may come in any order, lanes do not
        writers = np.flatnonzero(at == place)
        ends = [writers[writers // BLOCK == block].max() for block in set((writers // BLOCK).tolist())]
        assert last[place] in ends


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("shift", [-N, -40, -32, 0])
def test_negative_indices_count_from_the_end(engine: str, shift: int) -> None:
    x, out = np.arange(2 * THREADS, dtype=np.int32), np.zeros(THREADS, np.int32)
    with engine_mode(engine):
        args = (x, out, np.int64(shift), np.int64(x.size))
        wg.run(wg.compile(SOURCE, "python"), GRID, BLOCK, args, device="cpu")
    np.testing.assert_array_equal(out, x[np.arange(THREADS) + shift])


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_an_access_beyond_the_border_is_reported(engine: str) -> None:
    x, out = np.zeros(N, np.float32), np.zeros(THREADS, np.float32)
    args = (x, out, np.int32(5), np.int32(N))
    with engine_mode(engine):
        with pytest.raises(KernelFault, match=r"x\[100\].*block \(1, 0, 0\) thread \(15, 0, 0\)"):
            wg.run(wg.compile(SOURCE, "beyond"), GRID, BLOCK, args, device="cpu")
        wg.reset()
