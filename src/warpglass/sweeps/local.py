"""Jobs on a pool of processes of this machine: one that hangs or crashes ends its own process only."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, TimeoutError, wait
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from pebble import ProcessExpired, ProcessPool

from ..host.cores import core_count
from ..host.processes import end_with_parent, without_interrupts
from .work import ENDED, FAILED, LOST, Job, Outcome

AnyJob = TypeVar("AnyJob", bound=Job)

_AHEAD = 4  # jobs that are handed to the pool for each of its workers
_THREADS = "WARPGLASS_THREADS"


class Processes(Generic[AnyJob]):
    """A pool of `workers` processes, begun with its first job and ended with the context that it is.

    `do` does a job in a worker; after `longest` seconds it is ended from outside.
    """

    def __init__(
        self, workers: int, do: Callable[[AnyJob], Outcome], longest: Callable[[AnyJob], float]
    ) -> None:
        self._workers, self._do, self._longest = workers, do, longest
        self._pool: ProcessPool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.stop()
            self._pool.join(timeout=10)

    def done(self, jobs: Iterable[AnyJob]) -> Iterator[tuple[AnyJob, Outcome]]:
        """Do all jobs, and give each with its outcome when it is there."""
        todo = iter(jobs)
        under_way: dict[Future[Any], AnyJob] = {}
        while True:
            while len(under_way) < _AHEAD * self._workers and (job := next(todo, None)) is not None:
                with without_interrupts():  # the pool begins with its first job
                    begun = self._begun().schedule(self._do, args=(job,), timeout=self._longest(job))
                under_way[begun] = job
            if not under_way:
                return
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                job = under_way.pop(future)
                yield job, _outcome(job.key, future, self._longest(job))

    def _begun(self) -> ProcessPool:
        if self._pool is None:
            self._pool = ProcessPool(
                self._workers,
                initializer=_begin,
                initargs=(max(1, core_count() // self._workers),),
                context=multiprocessing.get_context("spawn"),
            )
        return self._pool


def _begin(threads: int) -> None:
    """Prepare a worker: its share of the cores, its output nowhere, its end with its parent's."""
    os.environ.setdefault(_THREADS, str(threads))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # what kernels print
    os.close(nowhere)
    end_with_parent()


def _outcome(key: str, future: Future[Any], seconds: float) -> Outcome:
    try:
        return future.result()
    except TimeoutError:
        return Outcome(key, ENDED, text=f"ended after {seconds:.6g} s", seconds=seconds)
    except (ProcessExpired, CancelledError) as problem:
        code = getattr(problem, "exitcode", None)
        said = f"by signal {-code}" if isinstance(code, int) and code < 0 else f"with status {code}"
        return Outcome(key, LOST, text=f"the process that did it ended {said}")
    except Exception as problem:  # a defect of ours in one job must not end the others
        return Outcome(key, FAILED, text=f"{type(problem).__name__}: {problem}")
