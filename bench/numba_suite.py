"""numba-cuda's own tests, unmodified, on the virtual device: what passes, and a page of what does not.

    python bench/numba_suite.py                      # all of cudapy, cudadrv and doc_examples
    python bench/numba_suite.py cudapy.test_atomics  # one module
    python bench/numba_suite.py --page docs/numba-tests.md
    python bench/numba_suite.py --package numba-cuda-mlir      # the same tests, compiled by numba-cuda-mlir

Each module runs in a process of its own; a test that crashes it or does not end is noted and the rest goes on
in a new one. Results are kept in build/numba_suite/, one JSON line per test, and a module that has results is
not run again without --again.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import importlib.util
import inspect
import json
import os
import signal
import subprocess
import sys
import time
import traceback
import unittest
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba_mlir

GROUPS = ("cudapy", "cudadrv", "doc_examples")
BUILD = Path(__file__).parent.parent / "build"
FOLDERS = {"numba-cuda": BUILD / "numba_suite", "numba-cuda-mlir": BUILD / "numba_suite_mlir"}
PORT = str(Path(__file__).parent / "numba_port")  # where numba.cuda is numba-cuda-mlir
STARTED, PASSED, REFUSED, LEFT_OUT = "started", "passed", "refused", "left out"
STICKY = ("CUDA_ERROR_ILLEGAL_ADDRESS", "CUDA_ERROR_MISALIGNED_ADDRESS", "CUDA_ERROR_LAUNCH_FAILED")
BROKEN = 75  # exit status of a process whose device is broken


# ---------------------------------------------------------------------------------------- one module
class Recorder(unittest.TestResult):
    """Writes every test's outcome as it comes."""

    def __init__(self, path: Path, refusal: Callable[[BaseException], str]):
        super().__init__()
        self._refusal = refusal
        self._file = path.open("a", encoding="utf-8")
        self._outcome, self._why = PASSED, ""
        self._begun = 0.0

    def _write(self, test: Any, outcome: str, why: str) -> None:
        line = {"test": test.id(), "outcome": outcome, "why": why, "seconds": time.time() - self._begun}
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def startTest(self, test: Any) -> None:
        super().startTest(test)
        self._outcome, self._why = PASSED, ""
        self._begun = time.time()
        self._write(test, STARTED, "")

    def stopTest(self, test: Any) -> None:
        super().stopTest(test)
        self._write(test, self._outcome, self._why)
        if any(name in self._why for name in STICKY):  # the device refuses all work from here on
            os._exit(BROKEN)

    def _failed(self, outcome: str, error: Any) -> None:
        self._outcome, self._why = outcome, "".join(traceback.format_exception(*error))[-6000:]
        refused = self._refusal(error[1])
        if refused:
            self._outcome, self._why = REFUSED, refused

    def addError(self, test: Any, err: Any) -> None:
        if err[0].__name__ == "Skipped":  # pytest's
            self.addSkip(test, str(err[1]))
        elif isinstance(test, unittest.TestCase):
            self._failed("error", err)
        else:  # a class or module that could not be set up
            self._begun = time.time()
            self._write(test, "error", "".join(traceback.format_exception(*err))[-6000:])

    def addFailure(self, test: Any, err: Any) -> None:
        self._failed("failed", err)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None and self._outcome == PASSED:
            self._failed("failed", err)

    def addSkip(self, test: Any, reason: str) -> None:
        self._outcome, self._why = "skipped", reason
        if not isinstance(test, unittest.TestCase):
            self._write(test, "skipped", reason)

    def addExpectedFailure(self, test: Any, err: Any) -> None:
        self._outcome = "expected failure"

    def addUnexpectedSuccess(self, test: Any) -> None:
        self._outcome, self._why = "unexpected success", "marked as an expected failure"


def run_module(name: str, path: Path, done: set[str], package: str) -> None:
    """Run a module's tests but those that are done; only called in a process of its own."""
    from warpglass.numba_device import hook

    hook.spread("h100")
    import numba.cuda.testing as testing

    setattr(testing.CUDATestCase, "_dump_failed_filechecks", False)  # noqa: B010
    try:
        module = importlib.import_module(f"numba.cuda.tests.{name}")
    except BaseException as problem:
        skipped = type(problem).__name__ == "Skipped"  # pytest's, for a whole module
        if not skipped and package == "numba-cuda":
            raise
        why = str(problem) if skipped else f"the file cannot be imported: {problem}"
        line = {"test": name, "outcome": "skipped" if skipped else REFUSED, "why": why, "seconds": 0}
        path.write_text(json.dumps(line) + "\n", "utf-8")
        return
    suite = unittest.defaultTestLoader.loadTestsFromName(f"numba.cuda.tests.{name}")
    plain = [one for key, one in vars(module).items() if key.startswith("test_") and inspect.isfunction(one)]
    suite.addTests(unittest.FunctionTestCase(one) for one in plain)
    wanted = [one for one in flattened(suite) if one.id() not in done]
    if package == "numba-cuda-mlir":
        wanted = [one for one in wanted if not leave_out(one, path)]
        unittest.TestSuite(wanted).run(Recorder(path, numba_mlir.refusal))
    else:
        unittest.TestSuite(wanted).run(Recorder(path, lambda error: ""))


def leave_out(test: Any, path: Path) -> bool:
    """Whether a rule says so; then it is noted."""
    why = numba_mlir.left_out(test)
    if why:
        line = {"test": test.id(), "outcome": LEFT_OUT, "why": why, "seconds": 0}
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    return bool(why)


def flattened(suite: Any) -> Iterator[Any]:
    """The tests of a suite of suites."""
    for one in suite:
        if isinstance(one, unittest.TestSuite):
            yield from flattened(one)
        else:
            yield one


# ---------------------------------------------------------------------------------------- all modules
def find_modules() -> list[str]:
    """The modules of the three groups."""
    spec = importlib.util.find_spec("numba_cuda")
    if spec is None or spec.origin is None:
        sys.exit("numba-cuda is not installed: pip install 'warpglass[numba-cuda]' filecheck cffi psutil")
    tests = Path(spec.origin).parent / "numba" / "cuda" / "tests"
    return [
        ".".join(path.relative_to(tests).with_suffix("").parts)
        for group in GROUPS
        for path in sorted((tests / group).rglob("test_*.py"))
    ]


def read_results(path: Path) -> dict[str, dict[str, Any]]:
    """The last word on each test."""
    if not path.exists():
        return {}
    lines = map(json.loads, path.read_text("utf-8").splitlines())
    return {line["test"]: line for line in lines}


def all_results(folder: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """The results that there are, by module and test."""
    return {path.stem: read_results(path) for path in sorted(folder.glob("*.jsonl"))}


def environment(package: str) -> dict[str, str]:
    """The environment in which the tests' `numba.cuda` is that of a package."""
    if package == "numba-cuda":
        return dict(os.environ)
    folders = (PORT, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(folders), "NUMBA_CUDA_MLIR_ICE_FULL_TB": "1"}


def watch(name: str, path: Path, patience: float, package: str) -> None:
    """Run a module to its end, in as many processes as it takes."""
    while True:
        done = {test for test, line in read_results(path).items() if line["outcome"] != STARTED}
        command = [sys.executable, __file__, "--package", package, "--child", name, "--results", str(path)]
        log = path.with_suffix(".log").open("ab")
        child = subprocess.Popen(
            command,
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            env=environment(package),
            start_new_session=True,
        )
        outcome = wait(child, path, patience)
        left = [line for line in read_results(path).values() if line["outcome"] == STARTED]
        with path.open("a", encoding="utf-8") as file:
            for line in left:
                file.write(json.dumps({**line, "outcome": outcome or "crashed", "why": outcome or ""}) + "\n")
        again = {test for test, line in read_results(path).items()} - done
        if (outcome is None and child.returncode == 0) or not again:
            if child.returncode and not read_results(path):
                line = {
                    "test": name,
                    "outcome": "error",
                    "why": f"exit status {child.returncode}",
                    "seconds": 0,
                }
                path.write_text(json.dumps(line) + "\n", "utf-8")
            return


def wait(child: subprocess.Popen[bytes], path: Path, patience: float) -> str | None:
    """Wait for a child; "timeout" if one of its tests took too long."""
    size, since = -1, time.time()
    while child.poll() is None:
        time.sleep(0.2)
        now = path.stat().st_size if path.exists() else 0
        if now != size:
            size, since = now, time.time()
        elif time.time() - since > patience:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            return "timeout"
    return None


def summary(results: dict[str, dict[str, dict[str, Any]]]) -> str:
    """Counts by group."""
    rows = []
    total: Counter[str] = Counter()
    for group in GROUPS:
        counts = Counter(
            line["outcome"]
            for module, lines in results.items()
            if module.startswith(group + ".")
            for line in lines.values()
        )
        total += counts
        rows.append(f"{group}: " + ", ".join(f"{count} {what}" for what, count in counts.most_common()))
    rows.append("all: " + ", ".join(f"{count} {what}" for what, count in total.most_common()))
    return "\n".join(rows)


# Why tests do not pass: what their name or message has, and what is behind it.
REASONS = (
    (
        "test_dispatcher_cpointer_arguments",
        "the test reads x[10] of 10 elements; a GPU does not notice",
    ),
    ("test_struct_model_type_arr", "the test writes 10 elements into arrays of 1; a GPU does not notice"),
    ("test_dynshared_slice_gaps", "NVVM reads 16 bytes where 12 are left; a GPU rounds shared memory up"),
    ("tensormap", "tensor maps (TMA) are not supported"),
    ("test_device_arch_specific", "the kernel needs tensor maps (TMA), which are not supported"),
    ("'reserved'", "cuda-bindings 13.5 has no CUipcMemHandle.reserved: fails on a GPU as well"),
    (
        "test_cpu_and_cuda",
        "each package takes the index of the other for an old one",
    ),
    ("timeout", "takes longer than the limit"),
)


def reason(line: dict[str, Any]) -> str:
    """Why a test did not pass."""
    for pattern, text in REASONS:
        if pattern in line["test"] or pattern in line["why"]:
            return text
    said = [part for part in line["why"].strip().splitlines() if part.strip()]
    return said[-1].strip()[:160] if said else "no message"


def page(results: dict[str, dict[str, dict[str, Any]]]) -> str:
    """The page of all tests that do not pass, and why; what is skipped is counted by reason."""
    lines = [line for module in results.values() for line in module.values()]
    counts = Counter(line["outcome"] for line in lines)
    expected = counts["expected failure"]
    text = [
        "# numba-cuda's own tests on the virtual GPU",
        "",
        "Written by `python bench/numba_suite.py --page docs/numba-tests.md`; see [numba](numba.md).",
        "",
        f"numba-cuda {importlib.metadata.version('numba-cuda')}: of {len(lines)} tests in "
        f"{', '.join(GROUPS)}, {counts[PASSED]} pass, {expected} fail as the package expects, "
        f"{counts['skipped']} skip themselves, {len(lines) - counts[PASSED] - expected - counts['skipped']} "
        "do not pass.",
        "",
        *("| group | pass | expected failures | skipped | do not pass |", "|---|---|---|---|---|"),
    ]
    for group in GROUPS:
        own = Counter(
            line["outcome"]
            for module, found in results.items()
            if module.startswith(f"{group}.")
            for line in found.values()
        )
        rest = own.total() - own[PASSED] - own["expected failure"] - own["skipped"]
        text.append(f"| {group} | {own[PASSED]} | {own['expected failure']} | {own['skipped']} | {rest} |")
    text += ["", "## What does not pass", "", "| test | outcome | why |", "|---|---|---|"]
    for line in sorted(lines, key=lambda one: one["test"]):
        if line["outcome"] not in (PASSED, "expected failure", "skipped"):
            name = line["test"].removeprefix("numba.cuda.tests.")
            text.append(f"| `{name}` | {line['outcome']} | {reason(line).replace('|', '/')} |")
    text += ["", "## What skips itself", "", "| tests | why |", "|---|---|"]
    skips = Counter(line["why"] or "no reason given" for line in lines if line["outcome"] == "skipped")
    text += [f"| {count} | {why.replace('|', '/')} |" for why, count in skips.most_common()]
    return "\n".join(text) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="numba-cuda's own tests on the virtual device")
    parser.add_argument("modules", nargs="*", help="such as cudapy.test_atomics; all without")
    parser.add_argument("--package", choices=sorted(FOLDERS), default="numba-cuda", help="what compiles them")
    parser.add_argument("--again", action="store_true", help="run what has results as well")
    parser.add_argument("--patience", type=float, default=180.0, help="seconds that one test may take")
    parser.add_argument("--budget", type=float, default=1e9, help="seconds after which no module is begun")
    parser.add_argument("--page", type=Path, help="write the page of what does not pass, from the results")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--results", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        done = {test for test, line in read_results(given.results).items() if line["outcome"] != STARTED}
        run_module(given.child, given.results, done, given.package)
        return
    folder = FOLDERS[given.package]
    folder.mkdir(parents=True, exist_ok=True)
    if given.page:
        results = all_results(folder)
        of_mlir = given.package == "numba-cuda-mlir"
        lines = [line for module in results.values() for line in module.values()]
        given.page.write_text(numba_mlir.page(lines) if of_mlir else page(results), "utf-8")
        return
    begun = time.time()
    for name in given.modules or find_modules():
        path = folder / f"{name}.jsonl"
        if path.exists() and not given.again and not given.modules:
            continue
        if time.time() - begun > given.budget:
            break
        path.unlink(missing_ok=True)
        path.with_suffix(".log").unlink(missing_ok=True)
        started = time.time()
        watch(name, path, given.patience, given.package)
        counts = Counter(line["outcome"] for line in read_results(path).values())
        print(f"{name} {time.time() - started:.0f}s {dict(counts)}", flush=True)
    print(summary(all_results(folder)))


if __name__ == "__main__":
    main()
