"""Runs CuPy's own tests on the virtual GPU and writes docs/cupy-tests.md.

    git clone --branch v14.2.0 https://github.com/cupy/cupy      # the version that is installed
    python -m bench.cupy_suite cupy/tests/cupy_tests --share 0.01

Needs cupy-cuda13x, scipy, pytest and hypothesis beside warpglass. A share of the tests is drawn by their
names, the same each time. Folders are run one after the other, each for as long as `--limit` says.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

PAGE = Path(__file__).parent.parent / "docs" / "cupy-tests.md"
FOLDERS = (
    *("core", "creation", "manipulation", "indexing", "logic", "math", "sorting", "statistics", "random"),
    *("linalg", "fft"),
)
SHARE = "WARPGLASS_CUPY_SHARE"


@dataclass
class Outcome:
    """What became of the tests of a folder; `failed` has the first line of each failure by name."""

    passed: int = 0
    skipped: int = 0
    failed: dict[str, str] = field(default_factory=dict)
    ended: bool = True


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Keep a share of the tests: pytest calls this where this file is a plug-in."""
    share = float(os.environ.get(SHARE, "1"))
    unwanted = {"slow", "multi_gpu"}
    kept = [one for one in items if zlib.crc32(one.nodeid.encode()) < share * 2**32]
    items[:] = [one for one in kept if unwanted.isdisjoint(one.keywords)]


def run(folder: Path, share: float, limit: float) -> Outcome:
    """Run a share of a folder's tests."""
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        words = (
            "-m",
            "warpglass",
            "run",
            "-m",
            "pytest",
            "-q",
            "-p",
            "bench.cupy_suite",
            "-p",
            "no:cacheprovider",
        )
        command = [
            sys.executable,
            *words,
            f"--junitxml={report}",
            f"--rootdir={folder.parents[1]}",
            str(folder),
        ]
        path = os.pathsep.join([str(PAGE.parents[1]), os.environ.get("PYTHONPATH", "")])
        environment = os.environ | {SHARE: str(share), "PYTHONPATH": path}
        try:
            subprocess.run(
                command, cwd=folder.parents[1], env=environment, timeout=limit, check=False, stdout=sys.stderr
            )
        except subprocess.TimeoutExpired:
            return Outcome(ended=False)
        return read(report)


def read(report: Path) -> Outcome:
    """What a report of pytest's says."""
    found = Outcome()
    for case in ElementTree.parse(report).iter("testcase"):
        problem = next((one for one in case if one.tag in ("failure", "error")), None)
        if problem is not None:
            name = f"{case.get('classname', '').rpartition('cupy_tests.')[2]}::{case.get('name')}"
            found.failed[name] = (problem.get("message") or "").partition("\n")[0][:120]
        elif any(one.tag == "skipped" for one in case):
            found.skipped += 1
        else:
            found.passed += 1
    return found


def page(version: str, share: float, outcomes: dict[str, Outcome]) -> str:
    """The page's text."""
    lines = [
        "# CuPy's own tests",
        "",
        f"Written by `python -m bench.cupy_suite`: {share:.1%} of CuPy {version}'s tests, drawn by their names,",
        "run unmodified on the virtual GPU (a H100). Slow ones and those for several GPUs are left out.",
        "",
        "| folder | passed | failed | skipped |",
        "|---|---|---|---|",
    ]
    for name, one in outcomes.items():
        row = f"{one.passed} | {len(one.failed)} | {one.skipped}" if one.ended else "ran out of time | |"
        lines.append(f"| {name} | {row} |")
    failed = [f"* `{test}`: {text}" for one in outcomes.values() for test, text in one.failed.items()]
    if failed:
        lines += ["", "Failed:", "", *(re.sub(r"\s+", " ", line) for line in failed)]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tests", type=Path)
    parser.add_argument("--share", type=float, default=0.01)
    parser.add_argument("--limit", type=float, default=3600, help="seconds for a folder")
    parser.add_argument("--folders", nargs="*", default=FOLDERS)
    given = parser.parse_args(arguments)
    from importlib.metadata import version

    outcomes = {}
    for name in given.folders:
        outcomes[name] = run(given.tests.resolve() / f"{name}_tests", given.share, given.limit)
        print(name, outcomes[name])
        PAGE.write_text(page(version("cupy-cuda13x"), given.share, outcomes), "utf-8")


if __name__ == "__main__":
    main()
