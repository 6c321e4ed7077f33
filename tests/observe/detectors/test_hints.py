"""Hints are followed: what they add to a source is added, and the finding is gone.

tests/cases/hints has kernels with a race each: those that lines mend, and those that need something else,
whose hint has the words behind HINT.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import warpglass as wg

CASES = Path(__file__).parents[2] / "cases" / "hints"
_KERNEL = re.compile(r"(?:__global__ void|^def) (\w+)\(", re.MULTILINE)


def kernels_of(stem: str) -> list[tuple[str, str]]:
    return [
        (path.name, name)
        for path in sorted(CASES.glob(f"{stem}.*"))
        for name in _KERNEL.findall(path.read_text("utf-8"))
    ]


def check(path: Path, name: str, blocks: int = 1) -> wg.Check:
    x = np.zeros(512, np.float32)
    return wg.check(wg.load(path, name), blocks, 128, (x, np.int32(4)), shared=1024)


def mended(text: str, found: wg.Check) -> str:
    """The source with the lines that findings say."""
    lines = text.split("\n")
    semicolon = ";" if "__global__" in text else ""
    added = {(one.place.line, one.behind, one.text) for finding in found.findings for one in finding.fix}
    for line, behind, words in sorted(added, reverse=True):
        start = re.match(r"\s*", lines[line - 1])
        assert start is not None, "every line has a start"
        lines.insert(line if behind else line - 1, f"{start[0]}{words}{semicolon}")
    return "\n".join(lines)


@pytest.mark.sampled(quick=4, ci=4)
@pytest.mark.parametrize(("file", "name"), kernels_of("barriers"))
def test_lines_that_a_hint_adds_mend_the_race(file: str, name: str, tmp_path: Path) -> None:
    path = CASES / file
    found = check(path, name)
    assert found.findings, "the kernel races"
    assert all(finding.fix for finding in found.findings), [finding.hint for finding in found.findings]
    again = tmp_path / file
    again.write_text(mended(path.read_text("utf-8"), found), "utf-8")
    assert [finding.message for finding in check(again, name).findings] == []


@pytest.mark.sampled(quick=4, ci=4)
@pytest.mark.parametrize(("file", "name"), kernels_of("others"))
def test_where_no_line_helps_the_hint_says_what_does(file: str, name: str) -> None:
    text = (CASES / file).read_text("utf-8")
    _, rest = re.split(rf"(?:void|def) {name}\(", text)
    body = re.split(r"\n(?:extern|def) ", rest)[0]
    found = check(CASES / file, name, 2 if "two blocks" in body else 1)
    (finding,) = found.findings
    assert finding.fix == ()
    words = re.findall(r"HINT: (.*)", body)
    assert all(one in finding.hint for one in words), finding.hint


_SPELLED = """HEAD
extern "C" __global__ void k(float *x) {
  __shared__ float s[128], r[128];
  DECLARED
  const int t = threadIdx.x;
  s[t] = x[t];
  BARRIER;
  r[t] = s[127 - t];
  float v = r[127 - t];
  x[t] = v;
}
"""
_GROUPS = """#define _CG_LIMIT_INCLUDED_DEPENDENCIES  // without libcu++ it compiles 20 times as quickly
#include <cooperative_groups.h>
namespace cg = cooperative_groups;"""


@pytest.mark.parametrize(
    ("head", "declared", "barrier", "named"),
    [
        ("#define SYNC() __syncthreads()", "", "SYNC()", "SYNC()"),
        ("#define MEET __syncthreads()", "", "MEET", "MEET"),
        ("__device__ void meet() { __syncthreads(); }", "", "meet()", "meet()"),
        (_GROUPS, "auto block = cg::this_thread_block();", "cg::sync(block)", "cg::sync(block)"),
        (_GROUPS, "auto grid = cg::this_grid();", "grid.sync()", "__syncthreads()"),  # which does more
    ],
)
def test_hints_name_the_barrier_as_the_function_at_hand_does(
    head: str, declared: str, barrier: str, named: str
) -> None:
    text = _SPELLED.replace("HEAD", head).replace("DECLARED", declared).replace("BARRIER", barrier)
    (found,) = wg.check(wg.compile(text, "k"), 1, 128, (np.zeros(128, np.float32),)).findings
    assert found.hint.startswith(f"add {named} before <cuda>:")
    assert [one.text for one in found.fix] == [named]


def test_hints_name_the_barrier_as_a_python_file_does(tmp_path: Path) -> None:
    path = tmp_path / "renamed.py"
    path.write_text(
        "from numba_cuda_mlir import cuda as gpu\nimport numpy as np\n\n\ndef k(x):\n"
        "    s = gpu.shared.array(64, np.float32)\n    t = gpu.threadIdx.x\n    s[t] = x[t]\n"
        "    gpu.syncthreads()\n    x[t] = s[63 - t]\n    s[t] = x[t] + 1\n"
    )
    (found,) = wg.check(wg.load(path, "k"), 1, 64, (np.zeros(64, np.float32),)).findings
    assert "add gpu.syncthreads() before" in found.hint
