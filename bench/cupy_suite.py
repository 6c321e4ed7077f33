"""Runs CuPy's own tests on the virtual GPU and writes docs/cupy-tests.md.

    git clone --branch v14.2.0 https://github.com/cupy/cupy      # the version that is installed
    python -m bench.cupy_suite cupy/tests/cupy_tests --share 0.05
    python -m bench.cupy_suite cupy/tests/cupy_tests --share 0.2      # goes on: what has run is not run again
    python -m bench.cupy_suite cupy/tests/cupy_tests --page           # writes the page of what has run

Needs cupy-cuda13x, scipy, pytest and hypothesis beside warpglass. Tests are taken by the checksum of their
names, so a larger share has all of a smaller one, and any part of the run is a sample of all folders. With
`--processes N` so many run at once; with `--judge`, on a machine with a GPU, what fails is run there as well.
Results are kept in build/cupy_suite.jsonl, a line for each test; a test that ends its process, or does not
end, is noted and the rest goes on in a new one.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import textwrap
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import cupy_suite_plugin as plugin

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "cupy-tests.md"
RESULTS = ROOT / "build" / "cupy_suite.jsonl"
FOLDERS = (
    *("core", "creation", "manipulation", "indexing", "logic", "math", "sorting", "statistics", "random"),
    *("linalg", "fft"),
)
ALIKE = "fails on a GPU, too"


# ---------------------------------------------------------------------------------------- the runs
def _pytest(words: Sequence[str], folders: Sequence[Path], **variables: object) -> subprocess.Popen[bytes]:
    """Start pytest with our plug-in; `words` come before -m."""
    root = folders[0].parents[2]
    command = [sys.executable, *words, "-m", "pytest", "-q", "--tb=no", "-p", "bench.cupy_suite_plugin"]
    command += ["-p", "no:cacheprovider", f"--rootdir={root}", *map(str, folders)]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    own = {"PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "WARPGLASS_THREADS": "1"}
    own |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    # cuFFT's legacy callbacks are linked into its static library, which has no PTX: their tests see that a
    # cuFFT is loaded before theirs, as it is, and are skipped. Each would call nvcc before it fails.
    own["LD_PRELOAD"] = os.environ.get("LD_PRELOAD", "")
    own |= {name: str(value) for name, value in variables.items()}
    return subprocess.Popen(command, cwd=root, env=os.environ | own, stdout=sys.stderr)


def run(
    folders: Sequence[Path], kept: Path, share: float, until: float, processes: int, *, again: bool = False
) -> None:
    """Run what is left of a share of the folders' tests on the engine, and what has failed, if `again`."""
    variables = {plugin.KEPT: kept, plugin.SHARE: share, plugin.UNTIL: until, plugin.PROCESSES: processes}
    if again:
        variables[plugin.AGAIN] = 1
    _pytest(("-m", "warpglass", "run"), folders, **variables).wait()


def judge(folders: Sequence[Path], kept: Path, until: float) -> threading.Thread:
    """Run on the machine's GPU what fails on the engine, meanwhile; the thread ends with the last of it."""
    cache = os.environ.get("CUPY_CACHE_DIR", str(kept.parent / "cupy")) + "-gpu"  # the engine's holds PTX
    variables = {plugin.KEPT: on_gpu(kept), plugin.JUDGED: kept, plugin.UNTIL: until, "CUPY_CACHE_DIR": cache}

    def again() -> None:
        while _broken(_pytest((), folders, **variables).wait()) and time.time() < until:
            for name, one in plugin.read(on_gpu(kept)).items():
                if one["outcome"] == plugin.STARTED:
                    plugin.note(
                        on_gpu(kept), {"test": name, "outcome": plugin.UNENDED, "why": "ended its process"}
                    )

    thread = threading.Thread(target=again)
    thread.start()
    return thread


def _broken(status: int) -> bool:
    return status < 0 or status == plugin.BROKEN


def on_gpu(kept: Path) -> Path:
    """The results of the judge."""
    return kept.with_suffix(".gpu.jsonl")


# ---------------------------------------------------------------------------------------- the page
def _first(text: str) -> str:
    """What a failure says, on one line."""
    return re.sub(r"\s+", " ", text.partition("Traceback")[0] or text).strip()[:160]


def page(version: str, kept: Path) -> str:
    """The page's text."""
    found, judged = plugin.ended(kept), plugin.ended(on_gpu(kept))
    sizes = {line["test"]: line["count"] for line in plugin.lines_of(kept) if "count" in line}
    outcomes = {name: Counter[str]() for name in FOLDERS}
    for name, one in found.items():
        outcomes[name.partition("_tests/")[0]][_outcome(one, judged.get(name))] += 1
    ran, of = len(found), sum(sizes.values())
    total = sum(outcomes.values(), Counter[str]())
    counted = total[plugin.PASSED] + total[plugin.FAILED]
    share = f"{total[plugin.PASSED]} of {counted} ({total[plugin.PASSED] / max(counted, 1):.2%})"
    text = (
        f"By `python -m bench.cupy_suite`: {ran} of the {of} tests of CuPy {version} in these folders "
        f"({ran / max(of, 1):.1%}), run unmodified on the virtual GPU (an H100), many at once and "
        f"{plugin.LONGEST:g} s for each. They are chosen by a checksum of their names; slow ones and those "
        f"for several GPUs are left out. {share} pass. What failed was run again on an H100: {total[ALIKE]} "
        "fail or take as long there, too, and do not count. Skipped are, among others, cuFFT's legacy "
        "callbacks, which need its static library."
    )
    lines = [
        "# CuPy's own tests",
        "",
        *textwrap.wrap(text, 110, break_on_hyphens=False),
        "",
        "| folder | tests | run | passed | failed | on a GPU, too | skipped |",
        "|---|---|---|---|---|---|---|",
        *(_row(name, sizes.get(name, 0), outcomes[name]) for name in FOLDERS),
        _row("all", of, total),
    ]
    for title, wanted in (
        ("What fails", plugin.FAILED),
        ("What fails, or takes as long, on a GPU, too", ALIKE),
    ):
        lines += _causes(title, {n: o for n, o in found.items() if _outcome(o, judged.get(n)) == wanted})
    return "\n".join(lines) + "\n"


def _outcome(one: dict[str, Any], judged: dict[str, Any] | None) -> str:
    """What became of a test, given what became of it on a GPU."""
    if one["outcome"] not in plugin.BAD:
        return one["outcome"]
    return ALIKE if judged is not None and judged["outcome"] != plugin.PASSED else plugin.FAILED


def _causes(title: str, found: dict[str, dict[str, Any]]) -> list[str]:
    causes: dict[str, list[str]] = defaultdict(list)
    for name, one in sorted(found.items()):
        causes[_first(one["why"])].append(name)
    lines = ["", f"{title}, by what it says on the engine:", ""] if causes else []
    for cause, names in sorted(causes.items(), key=lambda one: -len(one[1])):
        lines += [f"* {cause or 'nothing'}", *(f"    * `{_first(name)}`" for name in names)]
    return lines


def _row(name: str, of: int, one: Counter[str]) -> str:
    parts = (one[plugin.PASSED], one[plugin.FAILED], one[ALIKE], one[plugin.SKIPPED])
    return f"| {name} | {of} | {one.total()} | {' | '.join(map(str, parts))} |"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tests", type=Path)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--limit", type=float, default=3600, help="seconds in all")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--folders", nargs="*", default=FOLDERS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--again", action="store_true", help="run what has failed once more, before the rest")
    parser.add_argument("--judge", action="store_true", help="run what fails on this machine's GPU")
    parser.add_argument("--judge-limit", type=float, default=60, help="seconds it may take after the engine")
    parser.add_argument("--page", action="store_true", help="run nothing, write the page")
    given = parser.parse_args(arguments)
    kept = given.results.resolve()
    kept.parent.mkdir(parents=True, exist_ok=True)
    if given.page:
        from importlib.metadata import version

        PAGE.write_text(page(version("cupy-cuda13x"), kept), "utf-8")
        return
    until = time.time() + given.limit
    folders = [given.tests.resolve() / f"{name}_tests" for name in given.folders]
    finished = kept.with_suffix(plugin.ENDED)
    finished.unlink(missing_ok=True)
    judging = judge(folders, kept, until + given.judge_limit) if given.judge else None
    run(folders, kept, given.share, until, given.processes, again=given.again)
    finished.touch()
    if judging is not None:
        judging.join()
    print(*Counter(one["outcome"] for one in plugin.ended(kept).values()).items())


if __name__ == "__main__":
    main()
