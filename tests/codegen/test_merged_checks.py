"""Accesses at known distances from one base, which optimised code merges the checks of."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from warpglass import lab
from warpglass.codegen import BlockShape
from warpglass.codegen.infer import infer_kinds
from warpglass.codegen.memory.merged_checks import VersionedRegion, merge_checks
from warpglass.codegen.passes import with_kinds
from warpglass.codegen.shape import Promises
from warpglass.engine.cpu import tiers
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault

# Every thread moves eight elements that lie side by side or 64 apart; the last block reaches beyond the end.
SOURCE = """
extern "C" __global__ void apart(const float* x, float* y, int n) {
  int i = blockIdx.x * 512 + threadIdx.x;
  #pragma unroll
  for (int k = 0; k < 8; k++) y[i + 64 * k] = 2 * x[i + 64 * k];
}
extern "C" __global__ void mixed(const int* x, int* y, int n) {
  __shared__ int tile[1024];
  int i = blockIdx.x * 64 + threadIdx.x;
  for (int k = threadIdx.x; k < 1024; k += 64) tile[k] = x[blockIdx.x * 1024 + k];
  __syncthreads();
  int4 whole = *(const int4*)&tile[4 * threadIdx.x];
  int2 half = *(const int2*)&tile[4 * threadIdx.x + 256];
  int sum = whole.x + 3 * whole.y + 5 * whole.z + 7 * whole.w + 11 * half.x + 13 * half.y;
  #pragma unroll
  for (int k = 0; k < 4; k++) sum += (17 + k) * tile[4 * threadIdx.x + 512 + k];
  y[i] = sum;
}
extern "C" __global__ void strided(const float* x, float* y, int n) {
  float sum = 0;
  int i = threadIdx.x, j = threadIdx.x + n;
  #pragma unroll 1
  for (int left = 16; left > 0; left -= 4) {
    sum += x[i]; sum -= 3 * x[j]; sum += 5 * x[j + n]; sum -= 7 * x[i + 3 * n];
    i += 4 * n; j += 4 * n;
  }
  y[blockIdx.x * 64 + threadIdx.x] = sum;
}
extern "C" __global__ void some(const float* x, float* y, int n) {
  if (threadIdx.x < n) {
    float sum = 0;
    #pragma unroll
    for (int k = 0; k < 6; k++) sum += x[threadIdx.x + k];
    y[threadIdx.x] = sum;
  }
}
extern "C" __global__ void bytes(signed char* x, int* y, int n) {
  int i = blockIdx.x * 64 + threadIdx.x;
  signed char *row = x + 200 * i, *other = x + 200 * (i ^ 1);
  int sum = row[0] + 3 * row[1] + 5 * row[2] + 7 * *(short*)&row[4] + 11 * row[7];
  other[1] = n;
  other[2] = i;
  y[i] = sum + 13 * row[1] + 17 * row[2] + 19 * row[3];
}
"""
BLOCK = 64


def _versioned(kernel: wg.Kernel) -> dict[int, VersionedRegion]:
    program = prepare(kernel.compile()).program
    prepared = prepare(kernel.compile())
    inference = infer_kinds(program, BlockShape((BLOCK, 1, 1)), Promises((1024, 1, 1)), prepared.symbols)
    return merge_checks(program, inference.kinds)


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("short", [0, 1, 100, 500])
def test_neighbours_inside_and_beyond_the_end(engine: str, short: int) -> None:
    """The fault is that of the first access that leaves, in the order of the program; the rest is done."""
    kernel = wg.compile(SOURCE, "apart")
    assert _versioned(kernel)
    size = 3 * 512 - short
    x, y = np.arange(size, dtype=np.float32), np.zeros(4 * 512, np.float32)
    with engine_mode(engine):
        if not short:
            wg.run(kernel, 3, BLOCK, (x, y, np.int32(size)), device="cpu")
            np.testing.assert_array_equal(y[:size], 2 * x)
            return
        with pytest.raises(KernelFault) as caught:
            wg.run(kernel, 3, BLOCK, (x, y, np.int32(size)), device="cpu")
        lab.backend("cpu").reset()
    place = caught.value.place
    # Warp by warp: the lowest lane of the first warp that has one outside, in the first access that leaves.
    first = min((lane // 32, k, lane) for lane in range(64) for k in range(8) if 1024 + lane + 64 * k >= size)
    assert (place.block, place.thread) == ((2, 0, 0), (first[2], 0, 0))
    np.testing.assert_array_equal(y[:1024], 2 * x[:1024])


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("short", [0, 1, 3 * BLOCK + 5, 9 * BLOCK])
def test_bases_at_known_distances(engine: str, short: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of a size that launches repeat: addresses in registers of their own are checked together."""
    monkeypatch.setenv(tiers.VARIABLE, tiers.OPTIMISED)
    kernel = wg.compile(SOURCE, "strided")
    prepared, shape = prepare(kernel.compile()), BlockShape((BLOCK, 1, 1))
    promises = Promises((1, 1, 1), {16: BLOCK}, exact=True)
    version = with_kinds(prepared.program, shape, prepared.symbols, promises)
    regions = merge_checks(version.program, version.inference.kinds)
    checks = [check for region in regions.values() for check in region.checks]
    largest = max(checks, key=lambda check: check.high - check.low)
    assert largest.high - largest.low == 4 * (3 * BLOCK + 32)
    places = sorted(largest.places.values())
    assert [place - places[0] for place in places] == [4 * BLOCK * row for row in range(4)]
    x = np.random.default_rng(3).integers(-9, 9, 16 * BLOCK).astype(np.float32)
    rows = x.reshape(4, 4, BLOCK).sum(axis=0)
    results = np.zeros((3, BLOCK), np.float32)
    with engine_mode(engine):
        for y in results:  # the second launch makes the version that knows the size
            args = (x[: x.size - short].copy(), y, np.int32(BLOCK))
            if not short:
                wg.run(kernel, 1, BLOCK, args, device="cpu")
                np.testing.assert_array_equal(y, np.array([1, -3, 5, -7], np.float32) @ rows)
                continue
            with pytest.raises(KernelFault) as caught:
                wg.run(kernel, 1, BLOCK, args, device="cpu")
            lab.backend("cpu").reset()
            assert caught.value.place.thread is not None
            thread = caught.value.place.thread[0]
            assert 15 * BLOCK + thread >= x.size - short, "its last row is inside"
            assert not y[thread // 32 * 32 :][:32].any()


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_accesses_of_several_sizes(engine: str) -> None:
    kernel = wg.compile(SOURCE, "mixed")
    assert any(
        check.size == 16 and len(check.places) == 6
        for region in _versioned(kernel).values()
        for check in region.checks
    )
    rng = np.random.default_rng(5)
    x, y = rng.integers(-1000, 1000, 3 * 1024).astype(np.int32), np.zeros(3 * BLOCK, np.int32)
    with engine_mode(engine):
        wg.run(kernel, 3, BLOCK, (x, y, np.int32(0)), device="cpu")
    rows = x.reshape(3, 4, BLOCK, 4)
    expected = rows[:, 0] @ [1, 3, 5, 7] + rows[:, 1, :, :2] @ [11, 13] + rows[:, 2] @ [17, 18, 19, 20]
    np.testing.assert_array_equal(y.reshape(3, BLOCK), expected)


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("lanes", [1, 20, 33, 59])
def test_lanes_that_do_not_act_may_be_outside(engine: str, lanes: int) -> None:
    kernel = wg.compile(SOURCE, "some")
    assert _versioned(kernel)
    x, y = np.arange(lanes + 5, dtype=np.float32), np.zeros(lanes, np.float32)
    with engine_mode(engine):
        wg.run(kernel, 1, BLOCK, (x, y, np.int32(lanes)), device="cpu")
    np.testing.assert_array_equal(y, np.convolve(x, np.ones(6), "valid"))


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_narrow_loads_share_words_between_stores(engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes change each other's bytes: what is loaded behind that is not what was loaded in front of it."""
    monkeypatch.setenv(tiers.VARIABLE, tiers.OPTIMISED)
    kernel = wg.compile(SOURCE, "bytes")
    checks = [check for region in _versioned(kernel).values() for check in region.checks]
    assert [len(set(check.words.values())) for check in checks if check.words] == [3]
    x, y = np.random.default_rng(4).integers(-99, 99, 2 * BLOCK * 200, np.int8), np.zeros(2 * BLOCK, np.int32)
    rows = x.reshape(-1, 200).astype(np.int32)
    half = x.reshape(-1, 200)[:, 4:6].copy().view(np.int16)[:, 0].astype(np.int32)
    expected = rows[:, [0, 1, 2, 7, 3]] @ [1, 3, 5, 11, 19] + 7 * half
    expected += 13 * 50 + 17 * (np.arange(2 * BLOCK) ^ 1)
    with engine_mode(engine):
        wg.run(kernel, 2, BLOCK, (x, y, np.int32(50)), device="cpu")
    np.testing.assert_array_equal(y, expected)
