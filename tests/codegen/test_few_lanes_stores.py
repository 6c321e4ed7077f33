"""Few lanes that store, or change memory atomically and read what was there: as in the reference engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode, worker_threads
from warpglass import lab
from warpglass.codegen import BlockShape, Promises, grid_class
from warpglass.codegen.passes import PASSES
from warpglass.codegen.version import Version
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import WarpglassError
from warpglass.program.passes import run_passes

# Each thread has a row of its own; most are empty or short.
SOURCE = """
#define ARRAYS const int *starts, const int *edges, int *found, int *marks, char *bytes, int n
#define ROW \\
  int i = blockIdx.x * blockDim.x + threadIdx.x, last = starts[i + 1]; \\
  _Pragma("unroll 1") for (int k = starts[i]; k < last; k++)
#define THREAD (int)(blockIdx.x * blockDim.x + threadIdx.x)
// Who makes a distance less marks it, in words, in bytes and at one place for all.
extern "C" __global__ void relaxed(ARRAYS) {
  ROW {
    int w = edges[k], way = (k * 37 + i) % 101;
    if (way < atomicMin(&found[w], way)) {
      marks[w] = i;
      bytes[w * 3] = (char)way;
      marks[n] = k;
    }
  }
}
// What was stored decides what is: later lanes see what earlier ones of the same round have left.
extern "C" __global__ void stored(ARRAYS) {
  ROW {
    int w = edges[k];
    if (found[w] & 1) {
      found[w] = k * 2 + (i & 1);
      marks[w] += 1;
    }
  }
}
// What lanes that store have computed and loaded decides how they go on; the others keep what they had.
extern "C" __global__ void carried(ARRAYS) {
  int steps = THREAD, end = starts[THREAD + 1];
  float sum = 0.5f;
  for (int k = starts[THREAD]; k < end; k++) {
    int w = edges[k];
    if (found[w] < 60) {
      found[w] = k & 63;
      end = starts[THREAD + 1];
      steps = steps * 3 + w;
      sum += 1.25f;
    }
  }
  bytes[THREAD] = (char)(steps + (int)sum);
}
// Appended to a list in shared memory, and where that is full, to one for all.
extern "C" __global__ void queued(ARRAYS) {
  __shared__ int list[40], count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  {
    ROW {
      int w = edges[k];
      if (found[w] > 50 && atomicCAS(&found[w], found[w], -i) > 50) {
        int at = atomicAdd(&count, 1);
        if (at < 40) list[at] = w;
        else marks[atomicAdd(&marks[n], 2) & 127] = w;
      }
    }
  }
  __syncthreads();
  if (threadIdx.x < min(count, 40)) bytes[blockIdx.x * 40 + threadIdx.x] = list[threadIdx.x];
}
// Counters of all kinds at one place, with operands that are alike and such that are not.
extern "C" __global__ void counted(ARRAYS) {
  unsigned long long *wide = (unsigned long long *)marks;
  ROW {
    int w = edges[k], a = atomicAdd(&found[n], w), b = atomicMax(&found[n + 1], w ^ k);
    int c = atomicXor(&found[n + 2], k);
    unsigned long long d = atomicAdd(&wide[60], 3ull);
    unsigned e = atomicInc((unsigned *)&found[n + 3], 17);
    found[w] = a ^ b * 3 ^ c * 5 ^ (int)d * 7 ^ e;
  }
}
// Lanes that do not store have addresses outside; the others have if k comes to the end of a long row.
extern "C" __global__ void outside(ARRAYS) {
  ROW {
    int w = edges[k], far = found[w] > 20 ? 1 << 20 : 0;
    if ((far == 0) | (k - starts[i] > n)) {
      marks[w + far] = k;
      bytes[w + far] = 1;
    }
  }
}
"""
NAMES = ["relaxed", "stored", "carried", "queued", "counted", "outside"]
GRID, BLOCK = 5, 96


def _arguments(name: str) -> list[Any]:
    rng = np.random.default_rng(11)
    lengths = np.where(rng.random(GRID * BLOCK) < 0.2, rng.integers(1, 30, GRID * BLOCK), 0)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    edges = rng.integers(0, 120, starts[-1], np.int32)
    return [
        starts,
        edges,
        rng.integers(0, 100, 128, np.int32),
        np.zeros(128, np.int32),
        np.zeros(512, np.int8),
    ]


def _ending(name: str, engine: str, n: int, block: int = BLOCK) -> list[bytes] | str:
    arguments = _arguments(name)
    with engine_mode(engine):
        try:
            grid = GRID * BLOCK // block
            wg.run(wg.compile(SOURCE, name), grid, block, (*arguments, np.int32(n)), device="cpu")
        except WarpglassError as error:
            lab.reset("cpu")
            return str(error)
    return [one.tobytes() for one in arguments]


@pytest.mark.parametrize(("name", "threads"), [*((name, 1) for name in NAMES), ("counted", 2)])
def test_both_engines_leave_the_same(name: str, threads: int) -> None:
    """Blocks race on two threads, but for operations in turns."""
    with worker_threads(threads):
        reference, fast = (_ending(name, engine, 121) for engine in CPU_ENGINES)
    assert reference == fast
    assert not isinstance(fast, str)


@pytest.mark.parametrize("block", [8, 16])
def test_blocks_of_few_threads_leave_the_same(block: int) -> None:
    """Operations at one address are combined at any width."""
    with worker_threads(1):
        reference, fast = (_ending("counted", engine, 121, block) for engine in CPU_ENGINES)
    assert reference == fast
    assert not isinstance(fast, str)


@pytest.mark.parametrize("n", [3, 22])
def test_both_engines_name_the_same_store(n: int) -> None:
    with worker_threads(1):
        reference, fast = (_ending("outside", engine, n) for engine in CPU_ENGINES)
    assert reference == fast
    assert isinstance(fast, str)


@pytest.mark.parametrize("name", NAMES)
def test_stores_are_guarded_where_nothing_else_depends_on_the_branch(name: str) -> None:
    prepared = prepare(wg.compile(SOURCE, name).compile())
    version = Version(
        prepared.program, BlockShape((BLOCK, 1, 1)), prepared.symbols, (), Promises(grid_class((GRID, 1, 1)))
    )
    run_passes(PASSES, version)
    (region,) = version.few_lanes.values()
    assert not region.alone
    assert bool(region.guarded) == (name in ("relaxed", "stored", "carried", "outside"))
