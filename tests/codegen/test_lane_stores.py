"""Loops of lanes on their own that store: which they are, and results where lanes meet or fault."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode, worker_threads
from tests.fuzz import ragged_programs
from warpglass.codegen import BlockShape, Promises
from warpglass.codegen.lane_loops.choose import ChosenLoop, choose_lane_loops
from warpglass.codegen.passes import with_kinds
from warpglass.engine.cpu.prepared import prepare
from warpglass.errors import KernelFault

# Thread i has the elements from first[i] to last[i].
SOURCE = """
#pragma nv_diag_suppress 177
#define EACH(name, ...) \\
extern "C" __global__ void name(const int* first, const int* last, const T* a, T* o, int n) { \\
  int i = blockIdx.x * blockDim.x + threadIdx.x; \\
  if (i >= n) return; \\
  const int b = first[i], e = last[i]; \\
  T s = i; \\
  __VA_ARGS__ \\
}
#define ROUNDS for (int k = b; k < e; k++)
EACH(fill, ROUNDS o[k] = s;)
EACH(fill_again, for (int k = first[i]; k < last[i]; k++) o[k] = s;)
EACH(numbers, ROUNDS o[k] = k * 3 + s;)
EACH(scale, ROUNDS o[k] = o[k] * 3 + a[k];)
EACH(sums, ROUNDS { s = s * 3 + a[k]; o[k] = s; })
EACH(by_tens, for (int k = 0; k < e - b; k++) o[i * 10 + k] = a[b + k];)
EACH(ahead, ROUNDS o[k + 1] = o[k] * 3;)
EACH(halves, ROUNDS o[k] = k % 2 ? a[k] : s;)
EACH(backwards, for (int k = e - 1; k >= b; k--) o[k] = s;)
EACH(permuted, ROUNDS o[(int)a[k] & 31] = s;)
EACH(some, ROUNDS if (a[k] > 50) o[k] = s;)
EACH(from_there, ROUNDS o[k] = a[first[i] + k - b];)
EACH(to_there, ROUNDS o[first[i] + k] = 1;)
EACH(columns, for (int k = 0; k < 9; k++) o[k * n + i] = a[k];)
EACH(powers, ROUNDS o[k] = exp2f(a[k] * 0.01f + i);)
"""
BLOCK, N = 96, 250  # the last block is partial, and so is its last warp
TYPES = {"int": np.int32, "float": np.float32, "unsigned char": np.uint8, "double": np.float64}


def _compiled(name: str, type_: str = "int") -> wg.Kernel:
    return wg.compile(f"typedef {type_} T;\n{SOURCE}", name)


def _chosen(name: str, type_: str = "int") -> list[ChosenLoop]:
    prepared = prepare(_compiled(name, type_).compile())
    shape, promises = BlockShape((BLOCK, 1, 1)), Promises((1024, 1, 1))
    version = with_kinds(prepared.program, shape, prepared.symbols, promises)
    chosen = choose_lane_loops(version.program, shape, promises, prepared.symbols, version.inference)
    return list(chosen.values())


def _loops(name: str) -> list[tuple[bool, int]]:
    """Of the loops that lanes may run alone: whether several rounds are done at once, parts of a round."""
    return sorted((one.wide, 1 if one.repeat is None else one.repeat.times) for one in _chosen(name))


@pytest.mark.parametrize(
    ("name", "loops"),
    [
        ("fill", [(True, 1), (True, 4)]),
        ("fill_again", [(True, 1)]),
        ("numbers", [(False, 1), (True, 1)]),  # two registers count
        ("scale", [(True, 1), (True, 4)]),
        ("sums", [(False, 1), (False, 1)]),
        ("by_tens", [(False, 1), (True, 1)]),  # two bases
        ("ahead", [(False, 1), (False, 1)]),
        ("halves", []),
        # Where they load from or store to, they read again in each round: that is read once in front of them.
        ("from_there", [(False, 1), (True, 1)]),
        ("to_there", [(False, 1), (True, 1)]),
        ("backwards", []),
        ("permuted", []),
        ("some", []),
        ("columns", []),
    ],
)
def test_which_loops_lanes_run_alone(name: str, loops: list[tuple[bool, int]]) -> None:
    assert _loops(name) == loops


@pytest.mark.parametrize(("name", "together"), [("scale", False), ("powers", True)])
def test_lanes_stay_together_where_each_round_looks_up_tables(name: str, together: bool) -> None:
    """If all have as many rounds: LLVM does not look up tables in vectors."""
    costs = [one.costs for one in _chosen(name, "float")]
    assert costs
    assert all((32 * one.alone > one.together) == together for one in costs)


def _parts(gap: int = 0, longest: int = 40) -> tuple[Any, Any]:
    lengths = np.random.default_rng(5).integers(0, longest, N)
    lengths[::7] = 0
    last = np.cumsum(lengths + gap) - gap
    return (last - lengths).astype(np.int32), last.astype(np.int32)


def _run(
    name: str, engine: str, type_: str, parts: tuple[Any, Any], *, missing: int = 0
) -> tuple[bytes, str]:
    """What is stored, and what is said of a fault. Blocks on one thread, as parts may overlap."""
    first, last = parts
    size = int(last.max()) + 2
    a = np.random.default_rng(7).integers(0, 100, size).astype(TYPES[type_])
    o = np.arange(size - missing).astype(TYPES[type_])
    said = ""
    with engine_mode(engine), worker_threads(1):
        prepare.cache_clear()
        try:
            for _ in range(2):
                wg.run(
                    _compiled(name, type_),
                    -(-N // BLOCK),
                    BLOCK,
                    (first, last, a, o, np.int32(N)),
                    device="cpu",
                )
        except KernelFault as error:
            wg.reset("cpu")
            said = str(error)
    return o.tobytes(), said


@pytest.mark.sampled(quick=10, ci=6)
@pytest.mark.parametrize("tier", ["quick", "optimised"])
@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize(
    "name", ["fill", "fill_again", "numbers", "scale", "sums", "by_tens", "ahead", "from_there", "powers"]
)
def test_results_are_the_references(
    name: str, type_: str, tier: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WARPGLASS_TIER", tier)
    reference, fast = (_run(name, engine, type_, _parts()) for engine in CPU_ENGINES)
    assert reference == fast


@pytest.mark.parametrize("order", ["overlapping", "reversed", "mixed", "one place"])
@pytest.mark.parametrize("name", ["fill", "fill_again", "numbers", "scale", "sums"])
def test_lanes_that_meet(name: str, order: str) -> None:
    first, last = _parts(-3 if order == "overlapping" else 1)
    first = np.maximum(first, 0)
    if order == "reversed":
        first, last = first[::-1].copy(), last[::-1].copy()
    if order == "mixed":
        chosen = np.random.default_rng(1).permutation(N)
        first, last = first[chosen].copy(), last[chosen].copy()
    if order == "one place":
        first, last = first - first + 5, last - first + 5
    reference, fast = (_run(name, engine, "int", (first, last)) for engine in CPU_ENGINES)
    assert reference == fast


@pytest.mark.parametrize("missing", [3, 40, 1500])
@pytest.mark.parametrize("name", ["fill", "fill_again", "scale", "sums"])
def test_what_was_stored_before_a_fault(name: str, missing: int) -> None:
    """Lanes store together up to the round in which one faults: so all that others stored is there."""
    reference, fast = (_run(name, engine, "int", _parts(), missing=missing) for engine in CPU_ENGINES)
    assert reference[1]
    assert reference == fast


def test_an_end_that_is_stored_into() -> None:
    """The loop reads its end again in each round, from the array that it stores into."""
    made: list[bytes] = []
    for engine in CPU_ENGINES:
        first, last = _parts(2)
        pool = np.concatenate([np.zeros(last.max() + 2, np.int32), last])
        last, o = pool[-N:], pool[: int(last.max()) + 2 + N // 2]
        with engine_mode(engine), worker_threads(1):
            kernel = _compiled("fill_again")
            wg.run(kernel, 1, BLOCK, (first + len(pool) - N - 20, last, o, o, np.int32(60)), device="cpu")
        made.append(pool.tobytes())
    assert made[0] == made[1]


@pytest.mark.parametrize("number", range(16))
def test_random_parts(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_TIER", "optimised" if number % 3 == 0 else "quick")
    assert ragged_programs.attempt(number) in ("agree", "fault")


@pytest.mark.parametrize("trial", range(8))
def test_stores_that_may_change_where_rows_lie(trial: int) -> None:
    """All arrays are views of one: what a lane stores may be where another lane's row begins."""
    chance = np.random.default_rng(trial)
    lengths = chance.integers(0, 30, N)
    first = np.minimum(np.concatenate([[0], np.cumsum(lengths)[:-1]]) // 2, 40 if trial % 3 else 1000)
    starts, ends = chance.integers(0, 300), 1000 + chance.integers(0, 300)
    stores = chance.integers(0, 2000) if trial % 2 else 3000
    results: list[np.ndarray] = []
    for engine in CPU_ENGINES:
        words = np.zeros(7000, np.int32)
        with engine_mode(engine), worker_threads(1):  # in blocks' order
            for _ in range(3):
                words[:] = 0
                words[starts : starts + N], words[ends : ends + N] = first, first + lengths
                views = (words[starts : starts + N], words[ends : ends + N], words[6999:], words[stores:6999])
                wg.run(_compiled("to_there"), 3, BLOCK, (*views, np.int32(N)), device="cpu")
        results.append(words)
    assert np.array_equal(results[0], results[1])
