"""Doing one cell: what a worker calls, in a process of the pool or of a Dask cluster.

Belongs here: from a cell to its numbers. A cell that is wrong (it does not compile, faults, takes arguments
that do not fit) has a result as well: its error. Only the loss of the process is not told here.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from .. import lab
from ..engine.cpu.tiers import OPTIMISED, only
from ..errors import LaunchError, WarpglassError
from ..host.budget import compile_timeout
from ..lab.bench import bench
from ..lab.check import check
from ..lab.profile import profile
from ..records.argument_text import make_marked, parse_setting
from ..records.marks import unmark
from .cell import Cell, Subject
from .programs import run_program
from .reference import call_reference, difference


class Job(Protocol):
    """What is done in another process: a cell, or whatever else has a key."""

    @property
    def key(self) -> str:
        """What its result depends on."""
        ...


_BY_CACHES = ("dram", "l2", "lts", "gpu__time", "gpu_time", "throughput")
DONE, WRONG, FAILED, LOST, ENDED = "done", "wrong", "failed", "lost", "ended"


@dataclass(frozen=True)
class Outcome:
    """What became of a cell.

    `status` is "done", "wrong" (it ran, but its result is not the expected one or the checker has errors),
    "failed" (an error that another try would meet again), "lost" (its process died) or "ended" (it ran out of
    time). `numbers` has what was asked for, by name: seconds, counters and metrics, errors and warnings.
    """

    key: str
    status: str
    numbers: dict[str, Any] = field(default_factory=dict[str, Any])
    text: str = ""  # of the error
    seconds: float = 0.0  # that the cell took, compilation included


def do(cell: Cell) -> Outcome:
    """Do what a cell asks for."""
    begun = perf_counter()
    try:
        numbers = _numbers(cell)
    except WarpglassError as problem:
        if isinstance(problem, LaunchError):
            _recover(cell)
        return Outcome(cell.key, FAILED, {}, str(problem), perf_counter() - begun)
    except MemoryError as problem:
        return Outcome(cell.key, FAILED, {}, f"there is not enough memory: {problem}", perf_counter() - begun)
    text = str(numbers.pop("wrong", ""))
    status = WRONG if text or numbers.get("errors") else DONE
    return Outcome(cell.key, status, numbers, text, perf_counter() - begun)


def _numbers(cell: Cell) -> dict[str, Any]:
    if cell.subject.program:
        return run_program(cell, needs_caches)
    return _rung(cell) if cell.subject.ladder else _kernel(cell)


def longest(cell: Cell) -> float:
    """Seconds after which a cell is ended from outside: all its launches and compilations in full."""
    launches = len(cell.do) * 2 + cell.repeat
    return launches * cell.timeout + len(cell.do) * compile_timeout()


def _recover(cell: Cell) -> None:
    for device in ("auto", "cpu"):
        lab.reset(device, cell.model)


def _kernel(cell: Cell) -> dict[str, Any]:
    numbers: dict[str, Any] = {}
    if "time" in cell.do or cell.subject.expect:
        numbers |= _times(cell)
    if "counters" in cell.do:
        numbers |= _counters(cell)
    if "check" in cell.do:
        numbers |= _findings(cell)
    return numbers


@lru_cache(maxsize=64)
def _load(file: str, kernel: str, flags: tuple[str, ...], variables: tuple[str, ...], _content: str) -> Any:
    loaded = lab.load(file, kernel, options=flags)
    for text in variables:
        loaded.set(*parse_setting(text))
    return loaded


def _launch(cell: Cell) -> tuple[Any, tuple[int, ...], tuple[int, ...], list[Any], int]:
    """Kernel, grid, block, fresh arguments and shared memory, as run, profile and check take them."""
    subject = cell.subject
    loaded = _load(subject.file, subject.kernel, subject.flags, subject.variables, cell.content)
    return loaded, subject.grid, subject.block, make_marked(subject.args), subject.shared


def _times(cell: Cell) -> dict[str, Any]:
    subject = cell.subject
    seconds: list[float] = []
    found: lab.Run | None = None
    wrong = ""
    for number in range(1 + (cell.repeat if "time" in cell.do else 0)):  # the first compiles and warms up
        launch = _launch(cell)
        args = launch[3]
        wanted = _expected(subject, args) if number == 0 and subject.expect else None
        with only(OPTIMISED):  # a time is that of the code a program ends up with
            found = lab.run(*launch, timeout=cell.timeout, model=cell.model)
        seconds.append(found.seconds)
        if wanted is not None:
            wrong = _compare(wanted, args, subject)
    assert found is not None
    numbers: dict[str, Any] = {"label": found.label, "device": found.device, "wrong": wrong}
    return numbers | ({"seconds": statistics.median(seconds[1:])} if len(seconds) > 1 else {})


def _counters(cell: Cell) -> dict[str, Any]:
    found = profile(
        *_launch(cell),
        model=cell.model,
        timeout=cell.timeout,
        caches=needs_caches(cell.metrics),
    )
    numbers = {**found.counters, **found.metrics}
    return {name: _whole(numbers[name]) for name in cell.metrics or found.metrics if name in numbers}


def needs_caches(names: Iterable[str]) -> bool:
    """Whether a metric of these is told by the model of caches, or by that of times, which needs it."""
    return any(part in name for name in names for part in _BY_CACHES)


def _whole(value: float) -> float:
    """A count as an integer."""
    return int(value) if float(value).is_integer() else value


def _findings(cell: Cell) -> dict[str, Any]:
    found = check(*_launch(cell), timeout=cell.timeout, model=cell.model)
    severities = [finding.severity for finding in found.findings]
    kinds = dict.fromkeys(finding.kind for finding in found.findings)
    return {
        "errors": severities.count("error"),
        "warnings": len(severities) - severities.count("error"),
        "findings": ", ".join(kinds),
    }


def _expected(subject: Subject, args: Sequence[Any]) -> list[Any]:
    """What the reference makes of the arguments as they are before the launch."""
    file, _, name = subject.expect.partition(":")
    path = Path(file) if Path(file).is_absolute() else Path(subject.file).parent / file
    return call_reference(f"{path}:{name}", args)


def _compare(wanted: Sequence[Any], args: Sequence[Any], subject: Subject) -> str:
    """What is wrong with the arrays after the launch; empty if nothing."""
    arrays = [value for value in unmark(args) if isinstance(value, np.ndarray)]
    for number, (array, right) in enumerate(zip(arrays, wanted, strict=True), 1):
        if right is not None and (said := difference(array, right, subject.tolerance, f"array {number}")):
            return said
    return ""


def _rung(cell: Cell) -> dict[str, Any]:
    subject = cell.subject
    found = bench(
        subject.ladder,
        rungs=() if subject.rung == "*" else (subject.rung,),
        repeat=cell.repeat,
        counters="counters" in cell.do,
        timeout=cell.timeout,
        model=cell.model,
        peers=False,
        **{name: value for name, value in subject.options if value is not None},
    )
    numbers: dict[str, Any] = {}
    failures: list[str] = []
    for row in found.rows:
        before = f"{row.rung}.{row.language}." if len(found.rows) > 1 else ""
        numbers |= {f"{before}{name}": value for name, value in (row.metrics or {}).items()}
        numbers |= {f"{before}seconds": row.seconds, f"{before}label": row.label}
        if row.failure is not None:
            failures.append(f"{row.rung} ({row.language}): {row.failure}")
        elif not row.verified and not row.as_written:
            failures.append(f"{row.rung} ({row.language}): {row.result} instead of {row.expected}")
    return {**numbers, "device": found.record.device, "wrong": "; ".join(failures)}
