"""Judging one submission: what a worker does, in a process of the pool or of a Dask cluster.

Belongs here: the order of the questions. It is compiled (compiling.py), run on every case with poisoned
outputs and compared with the reference, run again under the checker, and counted. The first thing that is
wrong is the verdict. Nothing here runs code of the submission but its PTX, on the engine. If a GPU's time is
the score, a process of its own takes it at the end (gpu.py).
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from time import perf_counter
from typing import Any

from .. import lab
from ..errors import CompileError, KernelFault, KernelTimeout, LaunchError, WarpglassError
from ..lab import check as lab_check
from ..lab.profile import profile
from ..records.argument_text import parse_setting
from ..source import Compiled, FixedSource
from ..sweeps.work import Outcome, needs_caches
from . import gpu
from .cases import arguments, compare
from .compiling import compile_submission
from .submission import Job
from .task import GPU_TIME, TIME, Case, Task
from .verdicts import (
    ACCEPTED,
    BUDGET,
    COMPILE_ERROR,
    DEFECT,
    FAULT,
    FLOOD,
    LAUNCH,
    SIGNATURE,
    TIMEOUT,
    UNREADABLE,
    Verdict,
    of_case,
)

_MEMORY = "WARPGLASS_MEMORY"
_UNKNOWN = "its score is not known, since there is none of some case: it stands behind those that have one"
_instances = count(-1, -1)  # those of other kernels are above 0


def judge_one(job: Job) -> Outcome:
    """The verdict on a submission, its score and numbers, and the reason in words."""
    begun = perf_counter()
    numbers: dict[str, Any] = {}
    try:
        _judge(job, numbers)
        code, text = ACCEPTED, "" if job.task.score in numbers else _UNKNOWN
    except Verdict as verdict:
        code, text = verdict.code, verdict.text
    return Outcome(job.key, code, numbers, text, perf_counter() - begun)


def longest(job: Job) -> float:
    """Seconds after which a trial is ended from outside."""
    limits = job.task.limits
    on_gpu = gpu.longest(job.task) if job.task.score == GPU_TIME else 0.0
    return 60.0 + 8 * limits.compile + len(job.task.cases) * (8 * limits.run + 10.0) + on_gpu


def _judge(job: Job, numbers: dict[str, Any]) -> None:
    task = job.task
    os.environ[_MEMORY] = str(task.limits.memory)
    if job.submission.problem:
        raise Verdict(UNREADABLE, job.submission.problem)
    compiled = compile_submission(job.submission, task, arguments(task, 0))
    trials = [_Trial(compiled, task, index, case) for index, case in enumerate(task.cases) if case.engine]
    for trial in trials:
        _right(trial)
    for trial in trials:
        if trial.case.check:
            _checked(trial)
    totals: dict[str, float] = {}
    lacking = [trial for trial in trials if not _counted(trial, totals)]
    if task.score == GPU_TIME:
        totals[GPU_TIME] = gpu.seconds(compiled, task)
    if lacking:
        totals.pop(task.score, None)  # of some cases alone it would be too good
    numbers |= totals


@dataclass
class _Trial:
    """One case with a submission's kernel.

    Each launch has fresh arguments, variables of its module and memory from malloc: a kernel cannot know
    whether it ran before, and what it computed then.
    """

    compiled: Compiled
    task: Task
    index: int
    case: Case

    def launch(self) -> tuple[Any, ...]:
        """Kernel, grid, block, arguments and shared memory, as run, check and profile take them."""
        case = self.case
        kernel = lab.Kernel(FixedSource(replace(self.compiled, instance=next(_instances))))
        lab.reset("cpu", self.task.model)
        lab_check.reset(self.task.model)
        for text in case.variables:
            kernel.set(*parse_setting(text))
        return kernel, case.grid, case.block, arguments(self.task, self.index), case.shared

    def fails(self, code: str, text: str, detail: str = "") -> Verdict:
        """A verdict on this case."""
        return of_case(self.case, code, text, detail)

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
        found = lab_check.check(*launch, timeout=10 * trial.task.limits.run, model=trial.task.model)
    for finding in found.findings:
        if finding.severity == "error":
            place = f" at line {finding.source.line}" if finding.source is not None else ""
            raise trial.fails(DEFECT, f"{finding.kind}{place}", f": {finding.message}")
    _compare(trial, launch[3])  # what tells a checked run from another is found out here


def _counted(trial: _Trial, totals: dict[str, float]) -> bool:
    """Add the case's score and counters to the totals, and tell whether the score is known.

    Raises Verdict for a counter above its budget.
    """
    task = trial.task
    asked = {name for name, _ in trial.case.budget} | ({task.score} - {GPU_TIME})
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
    if found.modelled is not None and found.modelled.seconds is not None:
        counted[TIME] = found.modelled.seconds
    for name in asked:
        if name in counted:
            totals[name] = totals.get(name, 0.0) + counted[name]
    for name, most in trial.case.budget:
        if counted.get(name, 0.0) > most:
            raise trial.fails(BUDGET, f"{name} is above the budget", f": {counted[name]:,g} > {most:,g}")
    _compare(trial, launch[3])  # what was counted is the work, not another that tells a counted run
    return task.score == GPU_TIME or task.score in counted


def _compare(trial: _Trial, args: Sequence[Any]) -> None:
    if (wrong := compare(trial.task, trial.index, 0, args)) is not None:
        raise trial.fails(*wrong)


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
