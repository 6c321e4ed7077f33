"""Doing a cell that is a whole program: source with a main function, executable, or Python script.

Belongs here: from runs of the program to numbers. Each run is a process of its own on the virtual GPU, ended
with all that it has started after the cell's timeout, or when the worker ends.
"""

from __future__ import annotations

import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from .. import lab
from ..errors import WarpglassError
from ..host.tied import run_bounded
from ..lab.check import by_place
from ..observe.metrics import METRICS
from ..programs import start, targets
from ..programs.records import VARIABLE, Records, Wish
from ..records.profile import Profile, load_all
from .cell import Cell, Subject

_KEPT = 1 << 20  # bytes of output, the last ones, in which numbers are looked for
_SHOWN = 5  # lines of what a program said when it failed
_OURS = "warpglass: "
_SUM = ".sum"  # how counters end that add up over launches


def run_program(cell: Cell, caches: Callable[[Iterable[str]], bool]) -> dict[str, Any]:
    """The numbers of a cell; `caches` tells whether metrics need the simulated caches.

    Raises WarpglassError where the program does not compile, fails, or does not end in time.
    """
    numbers: dict[str, Any] = {}
    subject = cell.subject
    if "time" in cell.do or subject.expect or subject.numbers:
        numbers |= _plain(cell)
    if "counters" in cell.do:
        numbers |= _counters(cell, caches(cell.metrics))
    if "check" in cell.do:
        numbers |= _findings(cell)
    return numbers


# ---------------------------------------------------------------------------------------- one run
def _is_script(subject: Subject) -> bool:
    return subject.file.endswith(".py")


def _command(cell: Cell) -> start.Command:
    """What to start, built if need be."""
    subject = cell.subject
    if _is_script(subject):
        return start.script((subject.file, *subject.args), cell.model)
    between = ("--",) if targets.may_be_source(subject.file) else ()
    return start.command((*subject.program, *subject.flags, *between, *subject.args), cell.model)


def _ended(
    program: start.Command, cell: Cell, more: dict[str, str] | None = None, scratch: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """A run of the program, whatever its status; raises WarpglassError if it does not end in time.

    `scratch` is a folder of ours that is deleted even if this process is killed meanwhile.
    """
    try:
        return run_bounded(
            program.words,
            keep=_KEPT,
            timeout=cell.timeout,
            file=program.file,
            env={**program.environment, **(more or {})},
            cwd=Path(cell.subject.folder),
            scratch=scratch,
        )
    except subprocess.TimeoutExpired:
        raise WarpglassError(f"it did not end within {cell.timeout:g} s") from None
    except OSError as problem:
        raise WarpglassError(f"{program.words[0]} cannot be run: {problem.strerror or problem}") from None


def _refuse(status: int, said: str) -> None:
    """Raise WarpglassError with the program's last words unless it ended well."""
    if status == 0:
        return
    name = ""
    if status > 128:
        try:
            name = f" ({signal.Signals(status - 128).name})"
        except ValueError:
            name = ""
    lines = [line for line in said.splitlines() if line.strip()]
    ours = [line for line in lines if line.startswith(_OURS)][:_SHOWN]  # such as a kernel's fault
    last = [line for line in lines if not line.startswith(_OURS)][-_SHOWN:]
    raise WarpglassError("\n".join([f"exit status {status}{name}", *ours, *last]))


def _words(done: subprocess.CompletedProcess[str]) -> str:
    """What it said of its failure: its errors, or else its output."""
    return done.stderr if done.stderr.strip() else done.stdout


# ---------------------------------------------------------------------------------------- as it is
def _plain(cell: Cell) -> dict[str, Any]:
    """Runs without anybody watching: the clock's time, and what the program says itself.

    Each number is the median of the runs that are timed; the first one, which fills caches, is not.
    """
    subject, program = cell.subject, _command(cell)
    timed = cell.repeat if "time" in cell.do else 0
    seconds: list[float] = []
    said: list[dict[str, float]] = []
    for _ in range(1 + timed):
        begun = perf_counter()
        done = _ended(program, cell)
        seconds.append(perf_counter() - begun)
        _refuse(done.returncode, _words(done))
        if subject.expect and subject.expect not in done.stdout:
            last = (done.stdout.rstrip().splitlines() or ["nothing"])[-1]
            return {"wrong": f"it does not print {subject.expect!r}; its last line: {last}"}
        said.append(_said(subject, done.stdout))
    kept = slice(1 if timed else 0, None)
    numbers: dict[str, Any] = {
        name: statistics.median(one[name] for one in said[kept]) for name, _ in subject.numbers
    }
    if timed:
        numbers |= {"seconds": statistics.median(seconds[kept]), "label": "engine"}
        numbers["device"] = lab.backend("cpu", cell.model).description
    return numbers


def _said(subject: Subject, output: str) -> dict[str, float]:
    """The numbers that the output has, the last of each; raises WarpglassError for what it has not."""
    found: dict[str, float] = {}
    for name, pattern in subject.numbers:
        texts = re.findall(pattern, output)
        if not texts:
            last = (output.rstrip().splitlines() or ["nothing"])[-1]
            raise WarpglassError(f"{name}: nothing in its output fits {pattern!r}; its last line: {last}")
        try:
            found[name] = float(texts[-1].replace(",", ""))
        except ValueError:
            raise WarpglassError(f"{name}: {pattern!r} finds {texts[-1]!r}, which is no number") from None
    return found


# ---------------------------------------------------------------------------------------- watched
def _watched(cell: Cell, what: str, caches: bool) -> list[Any]:
    """The records of all launches of a program outside Python."""
    program = _command(cell)
    file = Records()
    try:
        wish = Wish(what, file.path, timeout=cell.timeout, caches=caches)
        done = _ended(program, cell, {VARIABLE: wish.text()})
        found = list(file.read())
    finally:
        file.close()
    if what != "check" or not found:  # a launch that fails is a finding
        _refuse(done.returncode, _words(done))
    return found


def _script(
    cell: Cell, what: str, *options: str, scratch: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Our command on a Python script, whose launches are watched from within its process."""
    words = [sys.executable, "-m", "warpglass", what, "--model", cell.model]
    words += [*options, cell.subject.file, "--", *cell.subject.args]
    return _ended(start.Command(Path(sys.executable), tuple(words), {**os.environ}), cell, scratch=scratch)


def _counters(cell: Cell, caches: bool) -> dict[str, Any]:
    if not _is_script(cell.subject):
        return _totals(_watched(cell, "profile", caches), cell.metrics)
    with tempfile.TemporaryDirectory(prefix="warpglass-sweep-") as folder:
        saved = Path(folder, "profile.json")
        how = "--caches" if caches else "--no-caches"
        done = _script(cell, "profile", how, "--save", str(saved), scratch=Path(folder))
        _refuse(done.returncode, _words(done))
        return _totals(load_all(saved), cell.metrics)


def _totals(found: Sequence[Profile], metrics: Sequence[str]) -> dict[str, Any]:
    """The number of launches, and of all of them together what was asked for.

    Counts and times add up, and metrics that are made of such are made of the sums; other numbers, such as an
    occupancy, are means of the launches.
    """
    totals: dict[str, Any] = {"kernels": len(found)}
    if not found:
        return totals
    names = dict.fromkeys(name for one in found for name in one.counters)
    sums = {
        name: sum(one.counters[name] for one in found if name in one.counters)
        for name in names
        if name.endswith(_SUM)
    }
    for name in metrics or dict.fromkeys(name for one in found for name in one.metrics):
        if name in sums:
            totals[name] = _whole(sums[name])
        elif name in METRICS and sums.keys() >= set(METRICS[name].counters):
            totals[name] = _whole(METRICS[name].value(sums))
        else:
            values = [{**one.counters, **one.metrics}.get(name) for one in found]
            known = [value for value in values if value is not None]
            totals |= {name: _whole(statistics.fmean(known))} if known else {}
    return totals


def _whole(value: float) -> float:
    """A count as an integer."""
    return int(value) if float(value).is_integer() else value


def _findings(cell: Cell) -> dict[str, Any]:
    if not _is_script(cell.subject):
        launches = _watched(cell, "check", caches=False)
        count = len(launches)
        findings = [(one.severity, one.kind) for check in by_place(launches) for one in check.findings]
    else:
        done = _script(cell, "check", "--json")
        try:
            found = json.loads(done.stdout)
        except ValueError:
            _refuse(done.returncode or 1, _words(done))
            raise
        count = sum(one["launches"] for one in found["checks"])
        findings = [(one["severity"], one["kind"]) for check in found["checks"] for one in check["findings"]]
        if not findings:
            _refuse(found["status"], _words(done))
    errors = sum(severity == "error" for severity, _ in findings)
    return {
        "kernels": count,
        "errors": errors,
        "warnings": len(findings) - errors,
        "findings": ", ".join(dict.fromkeys(kind for _, kind in findings)),
    }
