"""Runs CuPy's own tests on the virtual GPU and writes docs/cupy-tests.md.

    git clone --branch v14.2.0 https://github.com/cupy/cupy      # the version that is installed
    python -m bench.cupy_suite cupy/tests/cupy_tests --share 0.05
    python -m bench.cupy_suite cupy/tests/cupy_tests --share 0.2      # goes on: what has run is not run again
    python -m bench.cupy_suite cupy/tests/cupy_tests --page           # writes the page of what has run

Needs cupy-cuda13x, scipy, pytest and hypothesis beside warpglass. Of every file a share of the tests is
taken, one at least: those whose names have the lowest checksums, so a larger share has all of a smaller one.
Each folder is run by a process of its own, as long as `--limit` says in all. Results are kept in
build/cupy_suite.jsonl, a line for each test; a test that ends its process, or does not end, is noted and the
rest goes on in a new one.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "cupy-tests.md"
RESULTS = ROOT / "build" / "cupy_suite.jsonl"
FOLDERS = (
    *("core", "creation", "manipulation", "indexing", "logic", "math", "sorting", "statistics", "random"),
    *("linalg", "fft"),
)
SHARE, KEPT, UNTIL = "WARPGLASS_CUPY_SHARE", "WARPGLASS_CUPY_RESULTS", "WARPGLASS_CUPY_UNTIL"
STARTED, PASSED, FAILED, SKIPPED, UNENDED = "started", "passed", "failed", "skipped", "did not end"
UNWANTED = {"slow", "multi_gpu"}  # marks of tests that are left out
LONGEST = 60.0  # seconds of processor time of a test


# ------------------------------------------------------------------------------------ in the tests' process
def _name(item: Any) -> str:
    """A test's name from the folder on, the same wherever CuPy lies."""
    return str(item.nodeid).rpartition("cupy_tests/")[2]


def chosen(names: Sequence[str], share: float) -> set[str]:
    """A share of the tests of every file, one of each at least."""
    files: dict[str, list[str]] = defaultdict(list)
    for name in names:
        files[name.partition("::")[0]].append(name)
    found: set[str] = set()
    for tests in files.values():
        tests.sort(key=lambda name: zlib.crc32(name.encode()))
        found.update(tests[: max(1, round(share * len(tests)))])
    return found


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Keep what is chosen and has not been run: pytest calls this where this file is a plug-in."""
    wanted = [one for one in items if UNWANTED.isdisjoint(one.keywords)]
    names = chosen([_name(one) for one in wanted], float(os.environ.get(SHARE, "1")))
    known = read(Path(os.environ[KEPT]))
    _note({"test": f"{items[0].nodeid.rpartition('cupy_tests/')[2].partition('/')[0]}", "count": len(wanted)})
    items[:] = [one for one in wanted if _name(one) in names and _name(one) not in known]


def pytest_runtest_protocol(item: Any, nextitem: Any) -> None:
    """Begin no test after the time is over, and end one that takes too long."""
    if time.time() > float(os.environ.get(UNTIL, "inf")):
        item.session.shouldstop = "the time is over"
        return
    _note({"test": _name(item), "outcome": STARTED})
    signal.setitimer(signal.ITIMER_PROF, LONGEST)  # which ends the process


def pytest_runtest_makereport(item: Any, call: Any) -> None:
    """Note what became of a test."""
    if call.excinfo is None:
        outcome, why = PASSED, ""
    elif call.excinfo.typename == "Skipped":
        outcome, why = SKIPPED, str(call.excinfo.value)
    else:
        outcome, why = FAILED, f"{call.excinfo.typename}: {call.excinfo.value}"
    expected = item.get_closest_marker("xfail")
    if expected is not None and outcome == FAILED:
        outcome = SKIPPED
    if call.when == "call" or outcome != PASSED:
        _note(
            {"test": _name(item), "outcome": outcome, "why": why[:2000], "seconds": round(call.duration, 3)}
        )
    if call.when == "teardown":
        signal.setitimer(signal.ITIMER_PROF, 0)


def _note(line: dict[str, Any]) -> None:
    with Path(os.environ[KEPT]).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


# ---------------------------------------------------------------------------------------- results
def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            yield json.loads(line)


def read(path: Path) -> dict[str, dict[str, Any]]:
    """The last line of each test, by its name."""
    return {line["test"]: line for line in _lines(path) if "outcome" in line}


def counts(path: Path) -> dict[str, int]:
    """How many tests a folder has, without those left out."""
    return {line["test"]: line["count"] for line in _lines(path) if "count" in line}


# ---------------------------------------------------------------------------------------- the runs
def run(folder: Path, share: float, until: float, kept: Path) -> None:
    """Run what is left of a share of a folder's tests, in as many processes as it takes."""
    while time.time() < until:
        before = len(read(kept))
        words = (
            *("run", "-m", "pytest", "-q", "--tb=no", "-p", "bench.cupy_suite", "-p", "no:cacheprovider"),
            *(f"--rootdir={folder.parents[1]}", str(folder)),
        )
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        environment = {SHARE: str(share), UNTIL: str(until), KEPT: str(kept), "PYTHONPATH": path}
        command = [sys.executable, "-m", "warpglass", *words]
        done = subprocess.run(
            command, cwd=folder.parents[1], env=os.environ | environment, check=False, stdout=sys.stderr
        )
        found = read(kept)
        lost = [one for one in found.values() if one["outcome"] == STARTED]
        with kept.open("a", encoding="utf-8") as file:
            for one in lost:
                why = f"its process ended with status {done.returncode}"
                file.write(json.dumps({**one, "outcome": UNENDED, "why": why}) + "\n")
        if not lost or len(found) == before:
            return


# ---------------------------------------------------------------------------------------- the page
def _first(text: str) -> str:
    """What a failure says, on one line."""
    return re.sub(r"\s+", " ", text.partition("Traceback")[0] or text).strip()[:160]


def page(version: str, kept: Path) -> str:
    """The page's text."""
    found, sizes = read(kept), counts(kept)
    outcomes = {name: Counter[str]() for name in FOLDERS}
    for name, one in found.items():
        outcomes[name.partition("_tests/")[0]][one["outcome"]] += 1
    ran, of = len(found), sum(sizes.values())
    lines = [
        "# CuPy's own tests",
        "",
        f"By `python -m bench.cupy_suite`: {ran} of the {of} tests of CuPy {version} in the folders begun",
        f"({ran / max(of, 1):.1%}), run unmodified on the virtual GPU (a H100). Of every file, those whose",
        "names have the lowest checksums are taken. Slow ones and those for several GPUs are left out.",
        "",
        "| folder | tests | run | passed | failed | skipped |",
        "|---|---|---|---|---|---|",
    ]
    total = Counter[str]()
    for name in FOLDERS:
        size = sizes.get(f"{name}_tests")
        lines.append(f"| {name} | not run | | | | |" if size is None else _row(name, size, outcomes[name]))
        total += outcomes[name]
    lines.append(_row("all", of, total))
    causes: dict[str, list[str]] = defaultdict(list)
    for name, one in sorted(found.items()):
        if one["outcome"] in (FAILED, UNENDED):
            causes[_first(one["why"])].append(name)
    if causes:
        lines += ["", "What fails, by what it says:", ""]
        for cause, names in sorted(causes.items(), key=lambda one: -len(one[1])):
            lines += [f"* {cause or 'nothing'}", *(f"    * `{name}`" for name in names)]
    return "\n".join(lines) + "\n"


def _row(name: str, of: int, one: Counter[str]) -> str:
    failed = one[FAILED] + one[UNENDED]
    return f"| {name} | {of} | {one.total()} | {one[PASSED]} | {failed} | {one[SKIPPED]} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tests", type=Path)
    parser.add_argument("--share", type=float, default=0.05)
    parser.add_argument("--limit", type=float, default=3600, help="seconds for a folder")
    parser.add_argument("--folders", nargs="*", default=FOLDERS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--page", action="store_true", help="run nothing, write the page")
    given = parser.parse_args(arguments)
    kept = given.results.resolve()
    kept.parent.mkdir(parents=True, exist_ok=True)
    if given.page:
        from importlib.metadata import version

        PAGE.write_text(page(version("cupy-cuda13x"), kept), "utf-8")
        return
    for name in given.folders:
        run(given.tests.resolve() / f"{name}_tests", given.share, time.time() + given.limit, kept)
        print(
            name,
            *Counter(one["outcome"] for test, one in read(kept).items() if test.startswith(name)).items(),
        )


if __name__ == "__main__":
    main()
