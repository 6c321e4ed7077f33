"""Warps that race while they wait: both engines let them run in the same order, and spinning programs agree.

WARPGLASS_FUZZ=FIRST:COUNT runs programs of one's own choice; tests/fuzz/campaign.py tries many more.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, engine_mode, worker_threads
from tests.fuzz import host_threads, spinning_programs
from tests.levels import numbers
from warpglass import lab

# The engines come to the search for a place by unlike jumps: in the reference lanes may wait in more blocks.
SOURCE = """
extern "C" __global__ void k(int *data, int *places, int *table, double *reals, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int a = i * 40503 ^ data[i & 1023], b = data[(i * 7) & 1023], c = i & 15, t = 0;
  double f = reals[i & 255];
  a = atomicXor(&places[t & 63], 34 ^ t);
  if (f > -0.809 && ((a * 39 * i) & 31) != 1) return;
  for (int k = 0, e = (c | (t * threadIdx.x)) & 15; k < e; k++) {
    #pragma unroll 1
    for (int m = 0, last = b & 3; m < last; m++) {
      f = f * 0.964 + reals[b & 255];
      b = atomicOr(&places[i & 63], c & b);
    }
    int at = ((int)((unsigned)(b | a) % (unsigned)((threadIdx.x * 12) & 63 | 1))) & 4095;
    while (atomicCAS(&table[at], 0, i + 1) != 0) at = (at + 1) & 4095;
    t = b * c + i;
  }
  out[i] = a ^ b * 31 ^ c * 1009 ^ t;
  reals[i & 255] = f;
}
"""


def _table(engine: str) -> list[int]:
    rng = np.random.default_rng(800281)
    n = rng.integers(1, 193)
    data, places = rng.integers(0, 1 << 30, 1024, np.int32), rng.integers(-100, 100, 64, np.int32)
    table, out = np.zeros(4096, np.int32), np.zeros(192, np.int32)
    with engine_mode(engine), worker_threads(1):
        arguments = (data, places, table, rng.normal(size=256), out, np.int32(n))
        lab.run(lab.compile(SOURCE, "k"), 3, 64, arguments, device="cpu", timeout=20)
    return table.tolist()


def test_warps_yield_after_as_many_turns():
    reference, fast = map(_table, CPU_ENGINES)
    assert reference == fast


@pytest.mark.parametrize("number", numbers(24, quick=4, ci=2))
def test_spinning_programs_agree(number: int):
    assert spinning_programs.attempt(number) in ("free", "in order")


@pytest.mark.parametrize("number", numbers(12, quick=4, ci=2))
def test_launches_of_host_threads_agree(number: int):
    assert host_threads.attempt(number).startswith("agree")
