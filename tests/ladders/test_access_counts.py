"""The notes' access counts: every formula against the counters, and what a bench prints of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import warpglass as wg
from warpglass.ladders.conv1d.counts import COUNTS as CONV1D
from warpglass.ladders.conv2d.counts import COUNTS as CONV2D
from warpglass.ladders.matmul.counts import COUNTS as MATMUL

pytestmark = pytest.mark.turns(3)

COUNTS = {"conv1d": CONV1D, "conv2d": CONV2D, "matmul": MATMUL}
ROOT = Path(__file__).parents[2]
# Those of docs/ladders.md: whole warps for matmul's naive version, whose lanes are counted; broken tiles.
SIZES = {"matmul": 80, "conv1d": 1003, "conv2d": 61}


@pytest.mark.parametrize("ladder", COUNTS)
def test_formulas_are_what_is_counted(ladder: str) -> None:
    counts, formulas = COUNTS[ladder], tuple(COUNTS[ladder].formulas)
    bench = wg.bench(
        ladder, size=SIZES[ladder], rungs=formulas, device="cpu", repeat=1, counters=True, peers=False
    )
    assert {row.rung for row in bench.rows} == set(formulas)
    for row in bench.rows:
        assert row.metrics is not None
        block = row.block if isinstance(row.block, int) else 0
        counted = counts.formulas[row.rung].counted(row.metrics, np.dtype(row.dtype).itemsize, row.size)
        assert counts.formulas[row.rung].value(row.size, block) == counted, f"{row.rung} ({row.language})"
    printed = bench.table()
    assert "Elements read from global memory" in printed
    documented = (ROOT / "docs" / "ladders.md").read_text(encoding="utf-8")
    for line in printed.partition("Elements read from global memory")[2].splitlines():
        if "C++" in line or line.startswith("counted:"):
            assert f"    {line.rstrip()}\n" in documented
    for erratum in counts.errata:
        assert f"the notes say {erratum.notes}, right is {erratum.right}" in " ".join(printed.split())


def test_a_bench_that_counts_nothing_prints_no_formulas() -> None:
    bench = wg.bench("matmul", size=16, rungs=("naive",), device="cpu", repeat=1, language="cuda")
    assert "by formula" not in bench.table()
