"""One rule for volatile: two such accesses never race; a warp's lanes may not rely on each other's steps."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode

HEAD = """extern "C" __global__ void k(volatile int* x, int* y) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x, other = @;
  s[t] = 0;
  __syncthreads();
"""
# Who the other thread is: of the same warp, or of another.
PEERS = {"lanes": ("t ^ 1", 1), "warps": ("t ^ 32", 1)}
SILENT = {
    "written_by_both": "  s[t / 2 * 2 % 32] = t;",
    "written_by_all": "  s[0] = t;",
    "flag": """
  if (t == 0) s[63] = 1;
  while (s[63] == 0) {}
  y[t] = 1;""",
    "count_down": """
  if (t % 32 == 0) { s[other] = 5; }
  int seen = 0;
  if (t % 2) while (seen == 0 && t == other) seen = s[t];
  y[t] = seen;""",
    "blocks": """
  if (t == 0) x[blockIdx.x] = 1 + blockIdx.x;
  y[64 * blockIdx.x + t] = x[1 - blockIdx.x];""",
    "all_blocks": "  x[0] = t;",
}
RELIED_ON = "  s[t] = t;\n  y[t] = s[other];"


def check(text: str, engine: str, grid: int = 1, block: int = 64) -> tuple[wg.Finding, ...]:
    with engine_mode(engine):
        kernel = wg.compile(text, "k")
        arrays = np.zeros(4096, np.int32), np.zeros(4096, np.int32)
        return wg.check(kernel, grid, block, arrays, timeout=20).findings


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("name", SILENT)
def test_volatile_accesses_do_not_race(name: str, peer: str, engine: str) -> None:
    text = f"{HEAD.replace('@', PEERS[peer][0])}{SILENT[name]}\n}}"
    assert check(text, engine, 2 if "blocks" in name else 1) == ()


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("peer", PEERS)
def test_lanes_may_not_rely_on_lockstep(peer: str, engine: str) -> None:
    text = f"{HEAD.replace('@', PEERS[peer][0])}{RELIED_ON}\n}}"
    expected = {"warp-race"} if peer == "lanes" else set[str]()
    assert {finding.kind for finding in check(text, engine)} == expected


@pytest.mark.parametrize("engine", CPU_ENGINES)
def test_plain_accesses_race_with_volatile_ones(engine: str) -> None:
    text = HEAD.replace("@", "t ^ 32") + "  s[t] = t;\n  y[t] = ((int *)s)[other];\n}"
    assert {finding.kind for finding in check(text, engine)} == {"shared-race"}
