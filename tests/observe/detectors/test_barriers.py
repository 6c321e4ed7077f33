"""Threads that miss a barrier of their block are found, and nothing is said of those that have returned."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import warpglass as wg
from tests.engines import CPU_ENGINES, engine_mode

CASES = Path(__file__).parents[2] / "cases" / "barriers"
GRID, BLOCK, LIMIT = 2, 96, 150
_MARK = re.compile(r"(?://|#) (error|warning)(?: of (\w+))?$")


@cache
def read(file: str) -> dict[str, set[tuple[int, str]]]:
    """By kernel, the lines where barriers are missed, each with the severity."""
    found: dict[str, set[tuple[int, str]]] = {}
    latest = ""
    for number, line in enumerate((CASES / file).read_text("utf-8").splitlines(), start=1):
        if head := re.match(r"(?:(BAD|GOOD)\(|def (bad_|good_))(\w+)", line):
            latest = f"{head[1].lower()}_{head[3]}" if head[1] else f"{head[2]}{head[3]}"
            found.setdefault(latest, set())
        if mark := _MARK.search(line):
            found.setdefault(f"bad_{mark[2]}" if mark[2] else latest, set()).add((number, mark[1]))
    return found


NAMES = [f"{file}:{name}" for file in ("barriers.cu", "barriers.py") for name in read(file)]


def check(case: str) -> wg.Check:
    file, name = case.split(":")
    x, y = np.arange(4096, dtype=np.float32), np.zeros(4096, np.float32)
    return wg.check(wg.load(CASES / file, name), GRID, BLOCK, (x, y, LIMIT), timeout=20)


@pytest.mark.sampled(quick=6, ci=3)
@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("case", NAMES)
def test_missed_barriers(case: str, engine: str) -> None:
    file, name = case.split(":")
    with engine_mode(engine):
        found = check(case).findings
    said = {(one.source.line, one.severity) for one in found if one.source is not None}
    assert said == read(file)[name], [one.message for one in found]
    assert {one.kind for one in found} <= {"barrier-divergence"}


def test_there_are_cases_of_both_kinds() -> None:
    names = [case.split(":")[1] for case in NAMES]
    assert sum(name.startswith("bad_") for name in names) >= 25
    assert sum(name.startswith("good_") for name in names) >= 25
    for file in ("barriers.cu", "barriers.py"):
        for name, marks in read(file).items():
            assert name.startswith("bad_") == bool(marks), name
