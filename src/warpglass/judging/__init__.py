"""Many submissions of one kernel against a reference: students' homework, kernels that models write.

    found = wg.judge("task.toml", "submissions/")
    for row in found.rows: print(row.rank, row.name, row.verdict, row.text)

A task (task.py) says what is asked; each submission (submission.py) is compiled in a process that is shut in
(compiling.py, jail.py) and tried on the engine (trial.py), on the executors of sweeps. verdicts.py lists what
can come out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import ArgumentError
from ..host.processes import refuse_importing
from ..records.judgement import JudgedRow, JudgementRecord
from ..report.html import judgement_page
from ..report.judgement import feedback_text, judgement_csv, judgement_text
from ..sweeps.execution import executor
from ..sweeps.filling import Progress, fill_store
from ..sweeps.store import Store
from ..sweeps.work import Outcome
from . import gpu, jail
from .submission import Job, Submission, of_text, read_submissions
from .task import GPU_TIME, Task, make_task, read_task
from .trial import judge_one, longest
from .verdicts import ACCEPTED, CRASH, VERDICTS

__all__ = ["VERDICTS", "Judgement", "judge"]

_TRIES = 2  # for a submission whose judging process ended


@dataclass(frozen=True, slots=True)
class Judgement:
    """The outcome of a judging: a record, ranked, and its usual views."""

    record: JudgementRecord

    @property
    def rows(self) -> tuple[JudgedRow, ...]:
        """One row for each submission, the best first."""
        return self.record.rows

    def table(self, width: int = 120) -> str:
        """The ranked table as plain text, `width` columns wide."""
        return judgement_text(self.record, width)

    def to_csv(self) -> str:
        """A line for each submission."""
        return judgement_csv(self.record)

    def to_json(self) -> str:
        """The record as JSON text."""
        return self.record.to_json()

    def to_html(self) -> str:
        """The ranked table with everybody's feedback as one page."""
        return judgement_page(self.record)

    def save(self, folder: str | Path) -> None:
        """Write results.json, results.csv, index.html and feedback/NAME.txt into a folder."""
        folder = Path(folder)
        try:
            (folder / "feedback").mkdir(parents=True, exist_ok=True)
            (folder / "results.json").write_text(self.to_json(), encoding="utf-8")
            (folder / "results.csv").write_text(self.to_csv(), encoding="utf-8")
            (folder / "index.html").write_text(self.to_html(), encoding="utf-8")
            for row in self.rows:
                text = feedback_text(self.record, row)
                (folder / "feedback" / f"{row.name}.txt").write_text(text, encoding="utf-8")
        except OSError as problem:
            place = problem.filename or folder
            raise ArgumentError(f"{place} cannot be written: {problem.strerror}") from None


def judge(
    task: str | Path | Mapping[str, Any],
    submissions: str | Path | Mapping[str, str],
    *,
    results: str | Path | None = None,
    workers: int | None = None,
    dask: str | None = None,
    progress: Progress | None = None,
) -> Judgement:
    """Judge every submission by a task; the same submissions and task have the same verdicts.

    `task` is a TOML file, or a dictionary of its form. `submissions` is a folder, or texts by file names
    ("anna.cu": "..."). `results` is an SQLite file: what it has is not judged again. `workers` processes work
    at a time, one for each core by default; `dask` is the address of a Dask scheduler that does it instead.
    Verdicts are those of warpglass.judging.VERDICTS. Raises ArgumentError for what is wrong in the task
    before anything runs, where submissions cannot be shut in, and where a GPU's time is the score and there
    is no GPU.
    """
    refuse_importing("wg.judge")
    asked = make_task(task) if isinstance(task, Mapping) else read_task(task)
    if asked.score == GPU_TIME and dask is None:
        asked = replace(asked, device=gpu.device())
    jobs = [Job(one, asked) for one in _submissions(submissions, asked)]
    if any(job.submission.language != "ptx" for job in jobs) and (problem := jail.available()):
        raise ArgumentError(f"strangers' source cannot be compiled safely here: {problem}; PTX can be judged")
    with (
        executor(judge_one, longest, workers, dask) as execute,
        Store(Path(":memory:") if results is None else Path(results)) as store,
    ):
        different = list({job.key: job for job in jobs}.values())
        fill_store(store, different, execute, tries=_TRIES, progress=progress)
        kept = store.get(job.key for job in jobs)
    return Judgement(_ranked(asked, [(job, kept[job.key]) for job in jobs]))


def _submissions(given: str | Path | Mapping[str, str], task: Task) -> Sequence[Submission]:
    if not isinstance(given, Mapping):
        return list(read_submissions(given, task))
    return [of_text(name, text, task) for name, text in given.items()]


def _ranked(task: Task, judged: Sequence[tuple[Job, Outcome]]) -> JudgementRecord:
    """Accepted ones by their score, the least first; then by how far they came; equal scores share a rank."""
    order = list(VERDICTS)

    def place(pair: tuple[Job, Outcome]) -> tuple[int, float]:
        outcome = pair[1]
        code = outcome.status if outcome.status in VERDICTS else CRASH
        score = outcome.numbers.get(task.score, float("inf"))
        return order.index(code), score if code == ACCEPTED else 0.0

    rows: list[JudgedRow] = []
    rank, before = 0, None
    for count, (job, outcome) in enumerate(sorted(judged, key=lambda pair: (place(pair), pair[0].name)), 1):
        now = place((job, outcome))
        if now != before:
            rank, before = count, now
        verdict = order[now[0]]
        rows.append(
            JudgedRow(
                rank=rank if verdict == ACCEPTED else None,
                name=job.name,
                language=job.submission.language,
                verdict=verdict,
                text=outcome.text,
                score=outcome.numbers.get(task.score) if verdict == ACCEPTED else None,
                numbers=outcome.numbers,
                seconds=outcome.seconds,
            )
        )
    return JudgementRecord(
        task=task.name, score=task.score, model=task.model, rows=tuple(rows), device=task.device
    )
