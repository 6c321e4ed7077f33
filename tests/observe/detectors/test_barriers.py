"""Threads that miss a barrier of their block or cluster are found; nothing is said of those that returned."""

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


FILES = ("barriers.cu", "barriers.py", "clusters.cu")
NAMES = [f"{file}:{name}" for file in FILES for name in read(file)]


def check(case: str) -> wg.Check:
    file, name = case.split(":")
    x, y = np.arange(4096, dtype=np.float32), np.zeros(4096, np.float32)
    return wg.check(wg.load(CASES / file, name), GRID, BLOCK, (x, y, LIMIT), timeout=20)


@pytest.mark.sampled(quick=20, ci=15)
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
    for file in FILES:
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


PTX = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .pred %p<2>; .reg .u32 %r<3>; .reg .u64 %q<4>;
ld.param.u64 %q1, [p];
mov.u32 %r1, %tid.x;
and.b32 %r2, %r1, 1;
setp.eq.u32 %p1, %r2, 0;
WAY;
bar.sync 0;
END: LAST ret;
}
"""


@pytest.mark.parametrize(
    ("way", "last", "missed"),
    [
        ("@%p1 bra END", "", False),
        ("@%p1 bra END", "st.global.u32 [%q1], 7;", True),
        ("@%p1 ret", "st.global.u32 [%q1], 7;", False),
    ],
)
def test_ptx_without_lines(way: str, last: str, missed: bool) -> None:
    """As compute-sanitizer's synccheck has it on an H200."""
    kernel = wg.compile(PTX.replace("WAY", way).replace("LAST", last), "k", language="ptx")
    found = wg.check(kernel, 1, 64, (np.zeros(1, np.uint32),)).findings
    assert any(one.kind == "barrier-divergence" for one in found) == missed
