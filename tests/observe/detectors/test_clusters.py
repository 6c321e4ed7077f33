"""Shared memory of the blocks of a cluster: races, lifetimes, undefined reads; what the barrier orders."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from itertools import combinations

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES
from tests.levels import numbers
from warpglass.observe.detectors.diagnostics import explain

from .twins import Twins, integers

pytestmark = pytest.mark.turns(2)

_HEAD = """
#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++ it compiles 20 times as quickly
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(4, 1, 1) k(const int *x, int *out) {
  __shared__ int own[64];
  auto cluster = cooperative_groups::this_cluster();
  const int t = threadIdx.x, i = blockIdx.x * 64 + t, next = (cluster.block_rank() + 1) % 4;
"""


def _twins(body: str, fix: str, hole: str = "") -> Twins:
    return Twins(f"{_HEAD}{body}}}\n", integers(512, 512), fix, hole, grid=8)


TWINS = {
    "a barrier of the block alone": _twins(
        """cluster.sync();
  own[t] = x[i];  // BUG: shared-race
  @;
  out[i] = cluster.map_shared_rank(own, next)[t];
  cluster.sync();""",
        "cluster.sync()",
        "__syncthreads()",
    ),
    "written again too early": _twins(
        """own[t] = x[i];
  cluster.sync();
  int other = cluster.map_shared_rank(own, next)[t];
  @;
  own[t] = other;  // BUG: shared-race
  cluster.sync();
  out[i] = own[t];""",
        "cluster.sync()",
        "__syncthreads()",
    ),
    "two blocks write to a third": _twins(
        """own[t] = 0;
  cluster.sync();
  if (cluster.block_rank() < 2) @(cluster.map_shared_rank(own, 2) + t, 1);  // BUG: shared-race
  cluster.sync();
  out[i] = own[t];""",
        "atomicAdd",
        "[](int *where, int what) { *where += what; }",
    ),
    "arriving without waiting": _twins(
        """own[t] = x[i];
  auto token = cluster.barrier_arrive();
  @
  out[i] = own[63 - t];  // BUG: shared-race
  cluster.barrier_wait(std::move(token));""",
        "__syncthreads();",
    ),
    "the block may not have begun": _twins(
        """@;
  cluster.map_shared_rank(own, next)[t] = x[i];  // BUG: cluster-memory
  cluster.sync();
  out[i] = own[t];""",
        "cluster.sync()",
    ),
    "the block may have ended": _twins(
        """own[t] = x[i];
  cluster.sync();
  out[i] = cluster.map_shared_rank(own, next)[63 - t];  // BUG: cluster-memory
  @;""",
        "cluster.sync()",
    ),
    "a block writes nothing": _twins(
        """if (@) own[t] = x[i];
  cluster.sync();
  out[i] = cluster.map_shared_rank(own, next)[t];  // BUG: uninitialised-read
  cluster.sync();""",
        "true",
        "blockIdx.x != 5",
    ),
    "through global memory": _twins(
        """out[i] = x[i];
  @;
  int other = out[i ^ 64];  // BUG: global-race
  cluster.sync();
  out[i] += other;""",
        "cluster.sync()",
        "__syncthreads()",
    ),
    "in another cluster": _twins(
        """out[i] = x[i];
  cluster.sync();
  int other = out[i ^ @];  // BUG: global-race
  cluster.sync();
  out[i] += other;""",
        "64",
        "256",
    ),
}


@pytest.mark.sampled(quick=6, ci=4)
@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("name", TWINS)
def test_twins(name: str, engine: str) -> None:
    TWINS[name].verify(engine)


def test_words() -> None:
    (found,) = TWINS["the block may have ended"].check("kinds", fixed=False).findings
    assert found.message.startswith(
        "block (0, 0, 0) thread (0, 0, 0) reaches own[63] of block (1, 0, 0) at <cuda>:9"
    )
    (found,) = TWINS["written again too early"].check("kinds", fixed=False).findings
    assert "no barrier of the cluster orders blocks" in found.message
    assert "cluster.sync()" in found.hint


def test_other_orders_of_blocks() -> None:
    """Blocks and clusters may come in any order; the clean twins stay clean."""
    for one in TWINS.values():
        kernel = wg.compile(one.text.replace("@", one.fix), "k")
        checked = wg.check(kernel, 8, 64, one.args(), schedules=2)
        assert checked.findings == ()


# ---------------------------------------------------------------------------------------- random programs
_RANDOM = """
#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++ it compiles 20 times as quickly
#include <cooperative_groups.h>
extern "C" __global__ void __cluster_dims__(3, 1, 1) k(
    const unsigned char *kinds, const unsigned char *ranks, const unsigned char *places, int steps, int *out)
{
  __shared__ int own[4];
  auto cluster = cooperative_groups::this_cluster();
  const int t = threadIdx.x;
  if (t < 4) own[t] = t;
  cluster.sync();
  cooperative_groups::cluster_group::arrival_token token;
  int sum = 0;
  for (int step = 0; step < steps; step++) {
    const int at = (step * gridDim.x + blockIdx.x) * blockDim.x + t;
    int *where = cluster.map_shared_rank(own, ranks[at]) + places[at];
    switch (kinds[at]) {
    case 1:
      sum += *where;
      break;
    case 2:
      *where = sum;
      break;
    case 3:
      cluster.sync();
      break;
    case 4:
      __syncthreads();
      break;
    case 5:
      token = cluster.barrier_arrive();
      break;
    case 6:
      cluster.barrier_wait(std::move(token));
      break;
    }
  }
  cluster.sync();
  out[blockIdx.x * blockDim.x + t] = sum;
}
"""
_READ, _WRITE, _CLUSTER, _BLOCK, _ARRIVE, _WAIT = range(1, 7)
_BLOCKS, _THREADS = 6, 40


@cache
def _random_kernel() -> wg.Kernel:
    return wg.compile(_RANDOM, "k")


def _program(random: np.random.Generator) -> np.ndarray:
    """Kinds, ranks and places, each by step, block and thread."""
    steps, arrived = [], False
    for _ in range(random.integers(4, 14)):
        kinds = np.zeros((_BLOCKS, _THREADS), np.uint8)
        what = random.random()
        if what < 0.6:  # few accesses: most programs have no race
            for _ in range(random.integers(1, 4)):
                kinds[random.integers(_BLOCKS), random.integers(_THREADS)] = random.choice((_READ, _WRITE))
        elif what < 0.75:
            kinds[:] = _BLOCK
        else:
            kinds[:] = random.choice((_CLUSTER, _ARRIVE)) if not arrived else _WAIT
            arrived = (kinds == _ARRIVE).all()
        steps.append(kinds)
    if arrived:
        steps.append(np.full((_BLOCKS, _THREADS), _WAIT, np.uint8))
    kinds = np.stack(steps)
    return np.stack([kinds, random.integers(0, 3, kinds.shape), random.integers(0, 2, kinds.shape)])


def _races(program: np.ndarray) -> set[frozenset[int]]:
    """The kinds of every two accesses that nothing orders."""
    kinds, ranks, places = program
    uniform = kinds[:, 0, 0]
    accesses = np.argwhere((kinds == _READ) | (kinds == _WRITE))
    found: set[frozenset[int]] = set()
    for (s, b, t), (s2, b2, t2) in combinations(map(tuple, accesses), 2):
        one, other = (s, b, t), (s2, b2, t2)
        writes = _WRITE in (kinds[one], kinds[other])
        same = b // 3 == b2 // 3 and ranks[one] == ranks[other] and places[one] == places[other]
        between = uniform[s + 1 : s2].tolist()
        arrived = between.index(_ARRIVE) if _ARRIVE in between else len(between)
        ordered = (b, t) == (b2, t2) or _CLUSTER in between or _WAIT in between[arrived:]
        ordered |= b == b2 and _BLOCK in between
        if same and writes and not ordered:
            found.add(frozenset((int(kinds[one]), int(kinds[other]))))
    return found


def test_random_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdicts are those of every two accesses."""
    for module in (explain, import_module("warpglass.lab.check")):
        monkeypatch.setattr(module, "one_per_cause", lambda findings: findings)
    monkeypatch.setattr(explain, "one_per_remedy", lambda findings, remedies: findings)
    lines = _RANDOM.splitlines()
    line_of = {lines.index("      sum += *where;") + 1: _READ, lines.index("      *where = sum;") + 1: _WRITE}
    racy = 0
    for number in numbers(300, quick=40, ci=10):
        program = _program(np.random.default_rng(number)).astype(np.uint8)
        args = (*program, np.int32(len(program[0])), np.zeros(_BLOCKS * _THREADS, np.int32))
        checked = wg.check(_random_kernel(), _BLOCKS, _THREADS, args)
        found = {
            frozenset(line_of[place.line] for place in (one.source, one.other_source) if place)
            for one in checked.findings
        }
        races = _races(program)
        assert found == races or (found <= races and found), (number, found, races)
        assert all(one.kind in ("shared-race", "warp-race") for one in checked.findings)
        racy += bool(races)
    assert racy
