"""Accesses whose lanes reach several arrays at once: values, the first fault, and what it leaves stored."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode, worker_threads
from warpglass.errors import KernelFault

SOURCE = """
#pragma nv_diag_suppress 177
extern "C" __global__ void take(T *out, const T *a, const T *b, const T *c, const int *which, const int *at) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (which[i] > 2) return;
  const T *from = which[i] == 0 ? a : which[i] == 1 ? b : c;
  out[i] = from[at[i]];
}
extern "C" __global__ void put(const T *in, T *a, T *b, T *c, const int *which, const int *at) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (which[i] > 2) return;
  T *to = which[i] == 0 ? a : which[i] == 1 ? b : c;
  to[at[i]] = in[i];
}
extern "C" __global__ void own(T *out, T *a, const int *which, const int *at) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  T mine[8];
  for (int k = 0; k < 8; k++) mine[k] = a[i * 8 + k];
  T *to = which[i] & 1 ? a + i * 8 : mine;
  to[at[i]] = out[i];
  const T *from = which[i] & 2 ? a + i * 8 : mine;
  out[i] = from[at[i] ^ (which[i] >> 2)];
}
"""
TYPES = {
    "unsigned char": np.dtype(np.uint8),
    "short": np.dtype(np.int16),
    "float": np.dtype(np.float32),
    "double": np.dtype(np.float64),
    "float4": np.dtype((np.float32, 4)),
}
THREADS, BLOCK = 192, 64


@pytest.mark.parametrize("fault", [False, True])
@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_lanes_in_three_arrays(engine: str, type_: str, fault: bool):
    rng = np.random.default_rng([fault, *type_.encode()])
    shape, dtype = TYPES[type_].shape, TYPES[type_].base
    lengths = (50, 7, 130)
    arrays = [rng.integers(0, 100, (length, *shape)).astype(dtype) for length in lengths]
    which = rng.integers(0, 4, THREADS, np.int32)
    at = (rng.random(THREADS) * np.array([*lengths, 1])[which]).astype(np.int32)
    bad = int(rng.integers(THREADS)) if fault else THREADS
    if fault:
        which[bad] = rng.integers(3)
        at[bad] = lengths[which[bad]] + rng.integers(0, 2)
        later = rng.integers(bad, THREADS)  # a second fault, which comes too late
        at[later] += 1000 * (which[later] < 3)
    out = np.zeros((THREADS, *shape), dtype)
    said = _run(engine, f"typedef {type_} T;{SOURCE}", "take", (out, *arrays, which, at))
    served = [t for t in range(THREADS) if which[t] < 3 and t // 32 < bad // 32]
    assert all((out[t] == arrays[which[t]][at[t]]).all() for t in served)
    assert f"thread ({bad % BLOCK}, 0, 0)" in said if fault else said == ""

    given = rng.integers(0, 100, (THREADS, *shape)).astype(dtype)
    expected = [array.copy() for array in arrays]
    for t in range(bad):
        if which[t] < 3:
            expected[which[t]][at[t]] = given[t]
    said = _run(engine, f"typedef {type_} T;{SOURCE}", "put", (given, *arrays, which, at))
    assert all((one == other).all() for one, other in zip(arrays, expected, strict=True))
    assert f"thread ({bad % BLOCK}, 0, 0)" in said if fault else said == ""


@pytest.mark.parametrize("type_", ["unsigned char", "float", "double"])
@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_lanes_in_an_array_and_in_memory_of_their_own(engine: str, type_: str):
    rng, dtype = np.random.default_rng(7), TYPES[type_]
    out, a = (rng.integers(0, 100, length).astype(dtype) for length in (THREADS, 8 * THREADS))
    which, at = rng.integers(0, 16, THREADS, np.int32), rng.integers(0, 8, THREADS, np.int32)
    at[which >= 8] &= 3
    mine, array, expected = a.reshape(-1, 8).copy(), a.reshape(-1, 8).copy(), out.copy()
    for t in range(THREADS):
        (array if which[t] & 1 else mine)[t, at[t]] = out[t]
        expected[t] = (array if which[t] & 2 else mine)[t, at[t] ^ (which[t] >> 2)]
    assert _run(engine, f"typedef {type_} T;{SOURCE}", "own", (out, a, which, at)) == ""
    assert (out == expected).all()
    assert (a.reshape(-1, 8) == array).all()


def _run(engine: str, text: str, name: str, args: tuple[Any, ...]) -> str:
    with engine_mode(engine), worker_threads(1):
        try:
            wg.run(wg.compile(text, name), THREADS // BLOCK, BLOCK, args, device="cpu")
        except KernelFault as error:
            wg.reset("cpu")
            return str(error)
    return ""
