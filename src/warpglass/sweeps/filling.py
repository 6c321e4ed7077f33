"""Doing what has no result yet, keeping each result, and trying again what may go better."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from .store import Kept, Store
from .work import ENDED, FAILED, LOST, Outcome

AnyJob = TypeVar("AnyJob", bound=Kept)
Progress = Callable[[int, int, str], None]  # jobs done, jobs in all, what was done last
AGAIN = (LOST, ENDED)  # what another try may mend


def fill_store(
    store: Store,
    jobs: Sequence[AnyJob],
    execute: Callable[[Iterable[AnyJob]], Iterator[tuple[AnyJob, Outcome]]],
    *,
    tries: int,
    retry: bool = False,
    progress: Progress | None = None,
) -> None:
    """Do the jobs, which have different keys, whose result is not kept.

    One whose process was lost or ended is done `tries` times at most. `retry` does failed ones again.
    """
    before = store.attempts(job.key for job in jobs)
    todo = [job for job in jobs if _wanted(before.get(job.key), tries, retry)]
    done, tried = len(jobs) - len(todo), dict.fromkeys((job.key for job in todo), 0)
    while todo:
        again: list[AnyJob] = []
        for job, outcome in execute(todo):
            store.put(job, outcome)
            tried[job.key] += 1
            if outcome.status in AGAIN and tried[job.key] < tries:
                again.append(job)
                continue
            done += 1
            if progress is not None:
                progress(done, len(jobs), str(job))
        todo = again


def _wanted(kept: tuple[str, int] | None, tries: int, retry: bool) -> bool:
    if kept is None:
        return True
    status, attempts = kept
    return (status in AGAIN and attempts < tries) or (retry and status in (*AGAIN, FAILED))
