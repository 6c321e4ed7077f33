"""Searches: right candidates alone can win, each is done once, and equal searches are equal."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from pebble import ProcessPool

import warpglass as wg
from warpglass.errors import ArgumentError
from warpglass.sweeps import local
from warpglass.sweeps.store import Store

pytestmark = pytest.mark.turns(2)

# Work grows with the distance from a=5, b=3; with c=1 there is least, and the result is wrong.
KERNEL = """
template <int A, int B, int C> __global__ void k(int *x) {
    volatile int *kept = x;
    for (int i = 0; i < (C ? 0 : 200 + 50 * (A - 5) * (A - 5) + 70 * (B - 3) * (B - 3)); ++i)
        kept[threadIdx.x] = i;
    x[threadIdx.x] = C ? 0 : threadIdx.x + 1;
}
"""
REFERENCE = "import numpy as np\ndef right(x):\n    return np.arange(1, x.size + 1, dtype=x.dtype)\n"
COUNT = "inst_executed"


@pytest.fixture
def spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    (tmp_path / "k.cu").write_text(KERNEL)
    (tmp_path / "reference.py").write_text(REFERENCE)
    monkeypatch.chdir(tmp_path)
    kernel = {"kernel": "k.cu:k<{a}, {b}, {c}>", "grid": 1, "block": 32, "args": ["i4[32]"]}
    return {
        "sweep": {"do": "counters", "metrics": [COUNT], "results": "kept.sqlite"},
        "axes": {"a": [4, 5, 6], "b": [2, 3], "c": [0, 1]},
        "kernel": [{**kernel, "expect": "reference.py:right"}],
    }


def test_the_best_is_that_of_a_sweep_and_never_a_wrong_one(spec: dict[str, Any]):
    found = wg.tune(spec, COUNT, workers=1)
    assert len(found.rows) == found.space == 12
    assert dict(found.best[0].axes) == {"a": 5, "b": 3, "c": 0}
    least = min(found.rows, key=lambda row: row.numbers.get(COUNT, 1 << 30))
    assert least.status == "wrong"
    all_of_it = wg.sweep(spec, workers=1)
    right = [row for row in all_of_it.rows if row.status == "done"]
    assert min(right, key=lambda row: row.numbers[COUNT]).axes == found.best[0].axes


@pytest.mark.least("full")
def test_a_search_takes_different_candidates_and_can_be_repeated(spec: dict[str, Any]):
    spec["axes"] = {"a": [4, 5, 6, 7, 8, 9], "b": [2, 3, 4, 5], "c": [0]}
    found = wg.tune(spec, COUNT, trials=10, by=["c"], workers=1)
    assert len({tuple(row.axes.items()) for row in found.rows}) == 10
    assert found.space == 24
    again = wg.tune(spec, COUNT, trials=10, by=["c"], workers=2, results="other.sqlite")
    assert [row.axes for row in again.rows] == [row.axes for row in found.rows]
    assert wg.tune(spec, COUNT, trials=3, by=["c"], largest=True, workers=1).best[0].axes["c"] == 0


def test_a_search_begins_its_processes_once_and_reads_what_it_asks_for(
    spec: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    begun: list[int] = []
    asked: list[int] = []
    attempts = Store.attempts

    def pool(workers: int, **options: Any) -> Any:
        begun.append(workers)
        return ProcessPool(workers, **options)

    def counted(self: Store, keys: Iterable[str]) -> Any:
        listed = list(keys)
        asked.append(len(listed))
        return attempts(self, listed)

    monkeypatch.setattr(local, "ProcessPool", pool)
    monkeypatch.setattr(Store, "attempts", counted)
    wg.tune(spec, COUNT, workers=1)
    assert begun == [1]
    assert asked == [4, 4, 4]
    wg.tune(spec, COUNT, workers=1)
    assert begun == [1]  # all is kept: nothing is begun


def test_what_cannot_be_searched_is_refused(spec: dict[str, Any]):
    with pytest.raises(ArgumentError, match="seconds need do"):
        wg.tune(spec, "seconds")
    with pytest.raises(ArgumentError, match=r"no common axis 'aa' \(did you mean a\?\)"):
        wg.tune(spec, COUNT, by=["aa"])
    with pytest.raises(ArgumentError, match="trials is 0"):
        wg.tune(spec, COUNT, trials=0)
    del spec["kernel"][0]["expect"]
    with pytest.raises(ArgumentError, match="has no expect ="):
        wg.tune(spec, COUNT)


def test_no_right_candidate_is_said_with_the_first_reason(spec: dict[str, Any]):
    spec["axes"] = {"a": [5], "b": [3], "c": [1]}
    with pytest.raises(ArgumentError, match=r"none of 1 candidates is right; the first: array 1: \[0\] is 0"):
        wg.tune(spec, COUNT, workers=1)
