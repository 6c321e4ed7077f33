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


TEXT = """extern "C" __global__ void k(float *x) {
int t = threadIdx.x;
if (t % 2%s
x[t] = 1;
__syncthreads();
x[t] += 1;
%s}
"""


def test_text_that_no_file_has_is_read_as_well() -> None:
    missed, left = (wg.compile(TEXT.replace("%s", one, 1).replace("%s", other), "k") for one, other in FORMS)
    for kernel, kinds in ((missed, {"barrier-divergence"}), (left, set()), (missed, {"barrier-divergence"})):
        found = wg.check(kernel, 1, 64, (np.zeros(64, np.float32),)).findings
        assert {one.kind for one in found} == kinds


FORMS = (") {", "}\n"), (") return;", "")


def test_hints_for_text_that_no_file_has() -> None:
    text = (
        TEXT.replace("if (t % 2%s", "")
        .replace("__syncthreads();", "")
        .replace("x[t] += 1;\n%s", "x[63 - t] += 1;")
    )
    (found,) = wg.check(wg.compile(text, "k"), 1, 64, (np.zeros(64, np.float32),)).findings
    assert (found.kind, found.hint) == ("global-race", "add __syncthreads() before <cuda>:6")
