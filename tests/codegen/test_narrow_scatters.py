"""Bytes and halves loaded from and stored to any addresses, for any lanes: the highest wins a shared one."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode

THREADS, ELEMENTS = 96, 256
SOURCE = """
template <typename T>
__global__ void move(T* to, const T* from, const int* source, const int* target, const int* acts) {
  int i = threadIdx.x;
  if (acts[i]) to[target[i]] = from[source[i]];
}
template <typename T>
__global__ void move_shared(T* to, const T* from, const int* source, const int* target, const int* acts) {
  __shared__ T own[256];
  int i = threadIdx.x;
  for (int k = i; k < 256; k += blockDim.x) own[k] = from[k];
  __syncthreads();
  if (acts[i]) to[target[i]] = own[source[i]];
}
"""


@pytest.mark.parametrize(("name", "type_"), [("unsigned char", np.uint8), ("short", np.int16)])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("kernel", ["move", "move_shared"])
@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_the_highest_lane_wins(
    engine: str, kernel: str, share: float, name: str, type_: type[np.generic]
) -> None:
    """Those that do not act have places outside of the arrays."""
    rng = np.random.default_rng(5)
    acts = (rng.random(THREADS) < share).astype(np.int32)
    places = np.where(acts, rng.integers(0, ELEMENTS, (2, THREADS)), 1 << 24).astype(np.int32)
    places[1, acts > 0] //= 3  # some share a target
    start = rng.integers(0, 120, (2, ELEMENTS)).astype(type_)
    expected, to = start[0].copy(), start[0].copy()
    for source, target in places[:, acts > 0].T:
        expected[target] = start[1][source]
    compiled = wg.compile(SOURCE, f"{kernel}<{name}>")
    with engine_mode(engine):
        wg.run(compiled, 1, THREADS, (to, start[1], *places, acts), device="cpu")
    np.testing.assert_array_equal(to, expected)
