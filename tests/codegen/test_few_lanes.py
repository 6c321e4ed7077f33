"""Loops that few lanes run side by side: the same results, faults and ends as in the reference engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode
from tests.fuzz import divergent_programs, private_programs
from tests.levels import numbers
from warpglass import lab
from warpglass.codegen import BlockShape, Promises, grid_class, kernel
from warpglass.codegen.few_lanes.find import APART, ONE, FewRegion, Form
from warpglass.codegen.few_lanes.function import LEFT
from warpglass.codegen.passes import PASSES
from warpglass.codegen.version import Version
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import WarpglassError
from warpglass.program.passes import run_passes

SOURCE = """
// Lanes whose rows are of unlike lengths; who comes to a place first is seen in what the others find.
extern "C" __global__ void rows(int *data, int *out, const int *lengths, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  #pragma unroll 1
  for (int k = 0; k < lengths[i]; k++) {
    sum += atomicAdd(&data[(i + k * 7) & 63], k + 1);
    if (sum & 1) data[64 + (sum & 63)] = i;
    else sum ^= data[64 + (k & 63)];
  }
  out[i] = sum;
}
// The same, but those with the longest rows leave the array.
extern "C" __global__ void beyond(int *data, int *out, const int *lengths, int n) {
  int i = threadIdx.x, sum = 0;
  #pragma unroll 1
  for (int k = 0; k < lengths[i]; k++) {
    int at = lengths[i + k & 31] & 63;
    sum += data[k > 20 ? at + n : at];
    data[sum & 63] = k;
  }
  out[i] = sum;
}
extern "C" __global__ void trapped(int *data, int *out, const int *lengths, int n) {
  int i = threadIdx.x, sum = 0;
  #pragma unroll 1
  for (int k = 0; k < lengths[i]; k++) {
    sum ^= data[(lengths[(i + k) & 31] + sum) & 63];
    if (k == 22 && (lengths[i] & 1)) __trap();
  }
  out[i] = sum;
}
// One lane stays for ever.
extern "C" __global__ void endless(int *data, int *out, const int *lengths, int n) {
  int i = threadIdx.x, k = 0;
  #pragma unroll 1
  while (k < lengths[i] || i == 11) {
    k = (k + 1) & 255;
    data[(data[k & 63] + k) & 63] = k;
  }
  out[i] = k;
}
// A free place for each; what follows the search belongs to it, as its lanes take turns.
extern "C" __global__ void places(int *data, int *out, const int *lengths, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, at = lengths[i & 31];
  while (atomicCAS(&data[at], 0, i + 1) != 0) at = (at + 1) & (n - 1);
  out[i] = at * 3;
}
// A lock that one lane after the other holds.
extern "C" __global__ void locked(int *data, int *out, const int *lengths, int n) {
  int i = threadIdx.x;
  if (lengths[i & 31] < 20) return;
  bool done = false;
  while (!done) {
    if (atomicCAS(&data[0], 0, 1) == 0) {
      data[1] = data[1] * 3 + i;
      __threadfence();
      atomicExch(&data[0], 0);
      done = true;
    }
  }
  out[i] = data[1];
}
// Predicates and indices of threads that live through the loop, and a continue past lanes that wait.
extern "C" __global__ void carried(int *data, int *out, const int *lengths, int n) {
  int i = threadIdx.x, sum = 0;
  bool even = lengths[i & 31] % 2 == 0, seen = false;
  #pragma unroll 1
  for (int k = 0; k < lengths[i & 31]; k++) {
    if (data[(sum + k) & 63] & 1) { sum += threadIdx.x; seen = even; continue; }
    if (even) sum += data[(sum * 5 + k) & 63] / (k + 1);
    else data[(threadIdx.x + sum) & 63] ^= sum;
  }
  out[i] = seen ? sum : -sum - even;
}
// Nobody sees what others do here: local arrays, a jump table, a loop in a loop.
extern "C" __global__ void searching(int *data, int *out, const int *lengths, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, top = 0, found = 0, stack[8];
  stack[0] = lengths[i] & 31;
  #pragma unroll 1
  while (top >= 0 && found < 200) {
    int at = stack[top--];
    found += data[at + (found == n ? 4000 : 0)];
    #pragma unroll 1
    for (int k = at; k < 24 && top < 6; k += 5) if (data[k] & 1) stack[++top] = k + 5;
  }
  out[i] = found;
}
// The same without the inner loop.
extern "C" __global__ void stacked(int *data, int *out, const int *lengths, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, top = 0, found = 0, stack[8];
  stack[0] = lengths[i] & 31;
  #pragma unroll 1
  while (top >= 0 && found < 200) {
    int at = stack[top--];
    found += data[at + (found == n ? 4000 : 0)];
    if (at < 24 && (data[at] & 1)) stack[++top] = at + 5;
    if (at < 28 && (data[at] & 2)) stack[++top] = at + 3;
  }
  out[i] = found;
}
// Few lanes' own elements of all sizes, at places that each chooses and at one that all have.
extern "C" __global__ void kept(int *data, int *out, const int *lengths, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int words[4] = {i, 1, 2, 3};
  char bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  double wide[4] = {0.5, 1.5, 2.5, i + 0.25};
  #pragma unroll 1
  for (int k = 0; k < lengths[i]; k++) {
    int at = (data[(i + k) & 63] + words[k & 3]) & 3;
    words[at] += bytes[(at + k) & 7] * 3 + (int)wide[at];
    bytes[(at * 2 + 1) & 7] ^= words[(at + 1) & 3];
    wide[(k + at) & 3] += words[at] * 0.25;
    data[64 + ((words[at] + (k == 21 ? n : 0)) & (n == 37 ? 4095 : 63))] = i;
  }
  out[i] = words[0] ^ words[3] ^ bytes[5] ^ (int)wide[2];
}
// Loads of one array and then of another, by one instruction, bytes of words, and a base that is not aligned.
extern "C" __global__ void chosen(int *data, int *out, const int *lengths, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0, at = lengths[i] & 31;
  const char *bytes = (const char *)data + 1;
  #pragma unroll 1
  while (at < 200 && sum < 4000) {
    const int *from = (data[at & 63] ^ sum) & n ? data : lengths;
    at += 1 + (from[(at * 7) & 63] & 3);
    sum += from[at & 63] + bytes[at & 63] + *(const int *)(bytes + (at & 15) * 4 - 1);
    if (sum & 8) sum += from[i & 31];
  }
  out[i] = at ^ sum;
}
// All lanes come to each round together, and each goes its own way in it.
extern "C" __global__ void interpreted(int *data, int *out, const int *lengths, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, a = i, b = lengths[i];
  #pragma unroll 1
  for (int k = 0; k < n; k++) {
    switch ((data[k & 63] + lengths[i]) & 7) {
      case 0: a += b * 3; break;
      case 1: b ^= a; break;
      case 2: a = a * 5 - data[b & 63]; break;
      case 3: b += k; break;
      case 4: if (a & 4) a -= b; else b -= 7; break;
      case 5: a = a / ((b & 7) + 1); break;
      default: a ^= data[a & 63];
    }
  }
  out[i] = a ^ b;
}
// Edges are relaxed: nobody reads what others change, unless both arrays are one, and some have many edges.
extern "C" __global__ void relaxed(int *data, int *out, const int *lengths, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int *from = n == 2 ? out : data;
  int rounds = lengths[i] * (n == 3 ? 100 : 1);
  #pragma unroll 1
  for (int k = 0; k < rounds; k++) {
    int at = from[(i * 7 + k) & 63] & 127;
    if (k & 1) atomicMin(&out[n == 37 && k == 21 ? -4000 : at], k - i);
    else atomicMin(&out[at ^ 5], -k);
  }
}
// All lanes have as many rounds.
extern "C" __global__ void alike(int *data, int *out, const int *lengths, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
  if (i >= 96) return;
  #pragma unroll 1
  for (int k = 0; k < n; k++) if (lengths[(i + k) & 31] > 9) sum += data[lengths[(i * k) & 31]];
  out[i] = sum;
}
"""
BLOCK, _MOST = 32, 12 * 96


def _arguments(seed: int = 3) -> list[Any]:
    rng = np.random.default_rng(seed)
    lengths = np.where(rng.random(_MOST) < 0.3, rng.integers(20, 32, _MOST), rng.integers(0, 6, _MOST))
    return [rng.integers(0, 50, 128, np.int32), np.zeros(_MOST, np.int32), lengths.astype(np.int32)]


def _ending(name: str, engine: str, grid: int, block: int, n: int, timeout: float = 60) -> list[bytes] | str:
    """What a launch leaves in the arrays, or its error."""
    data, out, lengths = _arguments()
    if name == "places":
        data = np.zeros(n, np.int32)
    if name == "locked":
        data[:2] = 0
    with engine_mode(engine):
        try:
            found = wg.compile(SOURCE, name)
            wg.run(found, grid, block, (data, out, lengths, np.int32(n)), device="cpu", timeout=timeout)
        except WarpglassError as error:
            lab.reset("cpu")
            return str(error)
    return [one.tobytes() for one in (data, out)]


@pytest.mark.parametrize(
    ("name", "grid", "block", "n"),
    [
        ("rows", 3, 32, 0),
        ("rows", 1, 96, 0),
        ("carried", 1, 8, 0),
        ("chosen", 12, 8, 0),
        ("beyond", 1, 32, 4000),
        ("trapped", 1, 32, 0),
        ("places", 3, 32, 128),
        ("places", 1, 96, 128),
        ("locked", 1, 64, 0),
        ("carried", 1, 96, 0),
        ("alike", 3, 32, 12),
        ("searching", 3, 32, -1),
        ("searching", 12, 96, -1),
        ("searching", 12, 96, 37),
        ("stacked", 12, 96, -1),
        ("kept", 3, 32, 0),
        ("kept", 12, 96, 0),
        ("kept", 1, 32, 37),
        ("chosen", 12, 96, 0),
        ("chosen", 12, 96, 1),
        ("stacked", 12, 96, 37),
        ("interpreted", 3, 32, 19),
        ("interpreted", 12, 96, 40),
    ],
)
def test_both_engines_end_alike(name: str, grid: int, block: int, n: int):
    reference, fast = (_ending(name, engine, grid, block, n) for engine in CPU_ENGINES)
    assert reference == fast
    assert isinstance(fast, str) == (name in ("beyond", "trapped") or n == 37)


@pytest.mark.parametrize("n", [1, 2, 3, 37], ids=["kept", "seen", "too many", "faulting"])
def test_changes_that_nobody_reads_may_be_kept(n: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WARPGLASS_THREADS", "1")
    reference, fast = (_ending("relaxed", engine, 12, 96, n) for engine in CPU_ENGINES)
    assert reference == fast
    assert isinstance(fast, str) == (n == 37)


def test_a_lane_that_stays_is_stopped():
    found = _ending("endless", "kinds", 1, 32, 0, timeout=0.5)
    assert isinstance(found, str)
    assert "thread (11, 0, 0)" in found


@pytest.mark.parametrize("seed", numbers(6))
def test_engines_agree_on_divergent_programs(seed: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WARPGLASS_THREADS", "1")
    assert divergent_programs.attempt(seed) in ("agree", "fault")


@pytest.mark.parametrize("seed", numbers(8))
def test_engines_agree_on_programs_whose_lanes_see_nothing_of_others(seed: int):
    assert private_programs.attempt(seed) in ("agree", "fault")


def test_a_scalar_that_some_leave_a_loop_with():
    """Lanes that have left it another way, apart, gave theirs to all: the program's count was another's."""
    assert private_programs.attempt(7300714) == "agree"


def _regions(name: str) -> list[FewRegion]:
    prepared = prepare(wg.compile(SOURCE, name).compile())
    promises = Promises(grid_class((3, 1, 1)))
    version = Version(prepared.program, BlockShape((BLOCK, 1, 1)), prepared.symbols, (), promises)
    run_passes(PASSES, version)
    return list(version.few_lanes.values())


@pytest.mark.parametrize("name", ["rows", "beyond", "trapped", "places", "carried"])
def test_loops_that_part_lanes_have_code_for_few(name: str):
    regions = _regions(name)
    assert regions
    assert all(one.alone == (name == "places") for one in regions)


@pytest.mark.parametrize(
    ("name", "apart"), [("searching", True), ("interpreted", True), ("relaxed", True), ("carried", False)]
)
def test_lanes_may_go_apart_where_none_sees_the_others(name: str, apart: bool):
    regions = _regions(name)
    assert regions
    assert all(one.apart == apart for one in regions)


def test_a_lane_alone_has_its_local_memory_side_by_side_where_loops_have_loops():
    nested, flat = _regions("searching"), _regions("stacked")
    assert [one.copies for one in sorted(nested, key=lambda one: one.last - one.header)] == [False, True]
    assert [one.copies for one in flat] == [False]


@pytest.mark.parametrize(("name", "form"), [("searching", APART), ("chosen", APART), ("stacked", ONE)])
def test_a_lane_apart_begins_again_if_that_undoes_all(name: str, form: Form):
    regions = _regions(name)
    assert max(regions, key=lambda one: one.last - one.header).one == form


def test_their_functions_are_in_the_kernel():
    prepared = prepare(wg.compile(SOURCE, "rows").compile())
    shape, promises = BlockShape((BLOCK, 1, 1)), Promises(grid_class((3, 1, 1)))
    ir = kernel.generate(prepared.program, shape, prepared.symbols, (), promises).ir
    (region,) = _regions("rows")
    for name in (f"one_{region.header}", f"few_{region.header}"):
        assert f"@{name}(" in ir


def test_the_last_lane_goes_on_in_the_code_for_one():
    prepared = prepare(wg.compile(SOURCE, "carried").compile())
    shape, promises = BlockShape((BLOCK, 1, 1)), Promises(grid_class((3, 1, 1)))
    ir = kernel.generate(prepared.program, shape, prepared.symbols, (), promises).ir
    (region,) = _regions("carried")
    few, one = (ir.partition(f"@{name}_{region.header}(")[2].partition("\n}")[0] for name in ("few", "one"))
    assert f"store i32 {LEFT}, ptr %code" in few
    assert f"store i32 {LEFT}, ptr %code" not in one


def test_sums_that_are_older_values():
    """Adding nothing to an address made a lane apart forget what it is a sum of."""
    assert private_programs.attempt(5120089) in ("agree", "fault")
