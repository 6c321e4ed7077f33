"""Judging one submission: what a worker does, in a process of the pool or of a Dask cluster.

Belongs here: the order of the questions. It is compiled (compiling.py), run on every case with poisoned
outputs and compared with the reference, run again under the checker, and counted. The first thing that is
wrong is the verdict. Nothing here runs code of the submission but its PTX, on the engine.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np

from .. import lab
from ..errors import CompileError, KernelFault, KernelTimeout, LaunchError, WarpglassError
from ..lab.check import check
from ..lab.profile import profile
from ..records.argument_text import make_arguments, parse_argument, parse_setting
from ..sweeps.reference import call_reference, difference
from ..sweeps.work import Outcome, needs_caches
from .compiling import compile_submission
from .submission import Job
from .task import TIME, Case, Task
from .verdicts import (
    ACCEPTED,
    BUDGET,
    CHANGED,
    COMPILE_ERROR,
    DEFECT,
    FAULT,
    FLOOD,
    LAUNCH,
    SIGNATURE,
    TIMEOUT,
    UNREADABLE,
    UNWRITTEN,
    WRONG,
    Verdict,
)

_OUT = "out:"
_POISON = 0xA5  # of every byte of an output: no likely value of any type, no NaN
_MEMORY = "WARPGLASS_MEMORY"
_CASES = 64  # whose arguments and results are kept between passes and submissions


def judge_one(job: Job) -> Outcome:
    """The verdict on a submission, its score and numbers, and the reason in words."""
    begun = perf_counter()
    numbers: dict[str, Any] = {}
    try:
        _judge(job, numbers)
        code, text = ACCEPTED, ""
    except Verdict as verdict:
        code, text = verdict.code, verdict.text
    return Outcome(job.key, code, numbers, text, perf_counter() - begun)


def longest(job: Job) -> float:
    """Seconds after which a trial is ended from outside."""
    limits = job.task.limits
    return 60.0 + 8 * limits.compile + len(job.task.cases) * (8 * limits.run + 10.0)


def _judge(job: Job, numbers: dict[str, Any]) -> None:
    task = job.task
    os.environ[_MEMORY] = str(task.limits.memory)
    if job.submission.problem:
        raise Verdict(UNREADABLE, job.submission.problem)
    kernel = lab.Kernel(compile_submission(job.submission, task, _arguments(task, 0)))
    for index, case in enumerate(task.cases):
        _right(_Trial(kernel, task, index, case))
    for index, case in enumerate(task.cases):
        if case.check:
            _checked(_Trial(kernel, task, index, case))
    totals: dict[str, float] = {}
    for index, case in enumerate(task.cases):
        _counted(_Trial(kernel, task, index, case), totals)
    numbers |= totals


@dataclass
class _Trial:
    """One case with a submission's kernel; each use makes fresh arguments."""

    kernel: lab.Kernel
    task: Task
    index: int
    case: Case

    def launch(self) -> tuple[Any, ...]:
        """Kernel, grid, block, arguments and shared memory, as run, check and profile take them."""
        case = self.case
        for text in case.variables:
            self.kernel.set(*parse_setting(text))
        return self.kernel, case.grid, case.block, _arguments(self.task, self.index), case.shared

    def fails(self, code: str, text: str, detail: str = "") -> Verdict:
        """A verdict on this case; authors learn the numbers of public cases only."""
        if self.case.public:
            return Verdict(code, f"{self.case}: {text}{detail}")
        return Verdict(code, f"a hidden case: {text}")

    @contextmanager
    def judged(self) -> Iterator[None]:
        """Turn what a launch raises, and floods of its output, into verdicts."""
        failure: WarpglassError | None = None
        with _printed(self.task.limits.output) as flooded:
            try:
                yield
            except WarpglassError as problem:
                failure = problem
        if isinstance(failure, LaunchError):
            lab.recover()
        if flooded:
            raise self.fails(FLOOD, f"it printed more than {self.task.limits.output} bytes")
        if failure is not None:
            raise self._verdict_of(failure)

    def _verdict_of(self, failure: WarpglassError) -> Verdict:
        match failure:
            case KernelFault():
                return self.fails(FAULT, failure.place.kind, _in_full(failure))
            case KernelTimeout():
                return self.fails(TIMEOUT, f"a launch did not end within {self.task.limits.run:g} s")
            case LaunchError():
                return self.fails(LAUNCH, str(failure))
            case CompileError():
                return Verdict(COMPILE_ERROR, str(failure))
            case _:
                return Verdict(SIGNATURE, str(failure))


def _right(trial: _Trial) -> None:
    launch = trial.launch()
    with trial.judged():
        lab.run(*launch, device="cpu", timeout=trial.task.limits.run, model=trial.task.model)
    _compare(trial, launch[3])


def _checked(trial: _Trial) -> None:
    launch = trial.launch()
    with trial.judged():
        found = check(*launch, timeout=10 * trial.task.limits.run, model=trial.task.model)
    for finding in found.findings:
        if finding.severity == "error":
            place = f" at line {finding.source.line}" if finding.source is not None else ""
            raise trial.fails(DEFECT, f"{finding.kind}{place}", f": {finding.message}")
    _compare(trial, launch[3])  # what tells a checked run from another is found out here


def _counted(trial: _Trial, totals: dict[str, float]) -> None:
    """Add the case's score and counters to the totals; raises Verdict for one above its budget."""
    task = trial.task
    asked = {name for name, _ in trial.case.budget} | ({task.score} - {TIME})
    launch = trial.launch()
    with trial.judged():
        found = profile(
            *launch,
            device="cpu",
            model=task.model,
            timeout=10 * task.limits.run,
            caches=task.score == TIME or needs_caches(asked),
        )
    counted = {**found.counters, **found.metrics}
    if task.score == TIME and found.modelled is not None and found.modelled.seconds is not None:
        totals[TIME] = totals.get(TIME, 0.0) + found.modelled.seconds
    for name in asked:
        if name in counted:
            totals[name] = totals.get(name, 0.0) + counted[name]
    for name, most in trial.case.budget:
        if counted.get(name, 0.0) > most:
            raise trial.fails(BUDGET, f"{name} is above the budget", f": {counted[name]:,g} > {most:,g}")


def _compare(trial: _Trial, args: Sequence[Any]) -> None:
    case, task = trial.case, trial.task
    wanted = _expected(task, trial.index)
    before = _made_once(task, trial.index)
    arrays = [j for j, value in enumerate(args) if isinstance(value, np.ndarray)]
    for number, (j, right) in enumerate(zip(arrays, wanted, strict=True), 1):
        made, first = args[j], before[j]
        if right is None:
            if made.tobytes() != first.tobytes():
                raise trial.fails(CHANGED, f"argument {j + 1} is only to be read")
            continue
        said = difference(made, right, task.tolerance, f"argument {j + 1}")
        if not said:
            continue
        left = (made.view(np.uint8) == _POISON).reshape(made.size, -1).all(axis=1).sum() if made.size else 0
        if case.args[j].startswith(_OUT) and left:
            raise trial.fails(
                UNWRITTEN, f"{left} of {made.size} elements of argument {j + 1} were not written"
            )
        raise trial.fails(WRONG, f"array {number} differs from the reference", f": {said}")


def _arguments(task: Task, index: int) -> list[Any]:
    """Arguments of a case for one launch."""
    made = _made_once(task, index)
    return [value.copy() if isinstance(value, np.ndarray) else value for value in made]


@lru_cache(maxsize=_CASES)
def _made_once(task: Task, index: int) -> list[Any]:
    """The arguments of a case: random ones by the task's seed, outputs poisoned; nobody may write to them."""
    case = task.cases[index]
    seed = hashlib.sha256(f"{task.seed} {index} {case.name}".encode()).digest()
    made = make_arguments(
        [parse_argument(text.removeprefix(_OUT)) for text in case.args], int.from_bytes(seed[:3], "little")
    )
    for text, value in zip(case.args, made, strict=True):
        if text.startswith(_OUT) and isinstance(value, np.ndarray):
            value.view(np.uint8).reshape(-1)[:] = _POISON
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
    return made


@lru_cache(maxsize=_CASES)
def _expected_of(reference: str, _content: str, task: Task, index: int) -> tuple[Any, ...]:
    case = task.cases[index]
    arguments = _arguments(task, index)
    for text, value in zip(case.args, arguments, strict=True):
        if text.startswith(_OUT) and isinstance(value, np.ndarray):
            value[...] = 0  # a reference is not to trip over poison
    return tuple(call_reference(reference, arguments))


def _expected(task: Task, index: int) -> tuple[Any, ...]:
    return _expected_of(task.reference, task.content, task, index)


@contextmanager
def _printed(most: int) -> Iterator[list[int]]:
    """Take what the kernel prints away from standard output; the list has its size if that is over `most`."""
    flooded: list[int] = []
    reading, writing = os.pipe()
    kept = os.dup(1)
    os.dup2(writing, 1)
    os.close(writing)

    def drain() -> None:
        size = 0
        while part := os.read(reading, 1 << 16):
            size += len(part)
        if size > most:
            flooded.append(size)

    reader = threading.Thread(target=drain, daemon=True)
    reader.start()
    try:
        yield flooded
    finally:
        os.dup2(kept, 1)  # closes the pipe's only writing end
        os.close(kept)
        reader.join()
        os.close(reading)


def _in_full(problem: WarpglassError) -> str:
    """The fault in full, without what its author would do in a program."""
    return ": " + re.sub(r" \(cuda\w+;[^()]*(\(\))?[^()]*\)$", "", str(problem))
