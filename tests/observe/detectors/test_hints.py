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
