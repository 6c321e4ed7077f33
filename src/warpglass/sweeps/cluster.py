"""Jobs on a Dask cluster: whatever an address of dask.distributed leads to.

The scheduler moves jobs of a lost worker to others; a job that ends worker after worker is given up. If the
scheduler itself is lost, we wait for it to come back and hand it what has no result yet: results that are
there are never asked for again, and two results of one cell are one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..errors import ArgumentError, PackageError
from .local import AnyJob
from .work import FAILED, LOST, Outcome

_AHEAD = 8  # jobs that the scheduler holds for each thread of its workers
_CONNECT = 10.0  # seconds that a scheduler has to answer
_PATIENCE = 60.0  # seconds that a lost scheduler has to come back


def on_dask(
    jobs: Iterable[AnyJob], address: str, do: Callable[[AnyJob], Outcome]
) -> Iterator[tuple[AnyJob, Outcome]]:
    """Do all jobs on the cluster at an address, and give each with its outcome when it is there."""
    todo = iter(jobs)
    under_way: dict[str, AnyJob] = {}
    given_up = 0.0
    while True:
        try:
            with _client(address, first=not given_up) as client:
                given_up = 0.0
                yield from _done(client, todo, under_way, do)
                return
        except (OSError, _cancelled()) as problem:
            given_up = given_up or time.monotonic() + _PATIENCE
            if time.monotonic() > given_up:
                raise ArgumentError(f"the Dask scheduler at {address} is lost: {problem}") from None
            time.sleep(1.0)


def _client(address: str, first: bool) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise PackageError("sweeps on Dask need distributed: pip install 'warpglass[sweep]'") from None
    try:
        return Client(address, timeout=_CONNECT, set_as_default=False)
    except (OSError, ValueError) as problem:
        if first:
            raise ArgumentError(f"there is no Dask scheduler at {address!r}: {problem}") from None
        raise


def _cancelled() -> type[BaseException]:
    from distributed import CancelledError

    return CancelledError


def _done(
    client: Any, todo: Iterator[AnyJob], under_way: dict[str, AnyJob], do: Callable[[AnyJob], Outcome]
) -> Iterator[tuple[AnyJob, Outcome]]:
    from distributed import as_completed

    def submit(job: AnyJob) -> Any:
        under_way[job.key] = job
        return client.submit(do, job, key=f"warpglass-{job.key}", pure=False)

    queue = as_completed([submit(job) for job in list(under_way.values())], loop=client.loop)

    def more() -> None:
        threads = max(1, sum(client.nthreads().values()))
        while len(under_way) < _AHEAD * threads and (job := next(todo, None)) is not None:
            queue.add(submit(job))

    more()
    for future in queue:
        job = under_way[future.key.removeprefix("warpglass-")]
        outcome = _outcome(job.key, future)
        del under_way[job.key]
        future.release()
        yield job, outcome
        if len(under_way) < _AHEAD:
            more()


def _outcome(key: str, future: Any) -> Outcome:
    problem = future.exception()
    if problem is None:
        return future.result()
    if isinstance(problem, _cancelled()):
        raise problem
    status = LOST if type(problem).__name__ == "KilledWorker" else FAILED
    return Outcome(key, status, text=f"{type(problem).__name__}: {problem}")
