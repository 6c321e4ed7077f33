"""Jobs on a Dask cluster: whatever an address of dask.distributed leads to.

A task of Dask costs milliseconds in scheduler, worker and here, whatever it does. So it is a batch: as many
jobs as take about half a second together, by what the last ones took; one, where a job takes longer. A worker
has its jobs done by a process beside it (host/slots.py), as the pool of local.py does: one that crashes or
takes too long ends that process, and jobs of a worker's several threads share nothing.

The scheduler moves batches of a lost worker to others. The jobs of one that lost worker after worker are done
once more at the end, one at a time, so that none is taken for another, and one that does so then is given up.
If the scheduler itself is lost, we wait for it to come back and hand it what has no result yet: results that
are there are never asked for again, and two results of one job are one.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import length_hint
from typing import Any, Generic

from ..errors import ArgumentError, PackageError
from ..host import slots
from .local import AnyJob
from .work import ENDED, FAILED, LOST, Job, Outcome

_AHEAD = 4  # batches that the scheduler holds for each thread of its workers
_BATCH = 0.5  # seconds of work in a batch
_MOST = 64  # jobs in a batch
_WEIGHT = 0.3  # of a batch's jobs in the running mean of what a job takes
_ASKING = 1.0  # seconds between two looks at how many workers there are
_CONNECT = 10.0  # seconds that a scheduler has to answer
_PATIENCE = 60.0  # seconds that a lost scheduler has to come back


def on_dask(
    jobs: Iterable[AnyJob],
    address: str,
    do: Callable[[AnyJob], Outcome],
    longest: Callable[[AnyJob], float],
) -> Iterator[tuple[AnyJob, Outcome]]:
    """Do all jobs on the cluster at an address, and give each with its outcome when it is there.

    `do` does a job in a process of a worker; after `longest` seconds it is ended from outside.
    """
    batches = _Batches(jobs)
    given_up = 0.0
    lost = _what_says_lost()
    while True:
        try:
            with _client(address, first=not given_up) as client:
                given_up = 0.0
                yield from _done(client, batches, do, longest)
                return
        except lost as problem:
            given_up = given_up or time.monotonic() + _PATIENCE
            if time.monotonic() > given_up:
                raise ArgumentError(f"the Dask scheduler at {address} is lost: {problem}") from None
            time.sleep(1.0)


_STATUS = {slots.RAISED: FAILED, slots.ENDED: ENDED, slots.LOST: LOST}


def _outcome(job: Job, answer: slots.Answer, seconds: float) -> Outcome:
    """What became of a job by what its worker tells; `seconds` is the most that it had."""
    if answer.how == slots.RETURNED:
        return pickle.loads(answer.content)
    took = seconds if answer.how == slots.ENDED else 0.0
    return Outcome(job.key, _STATUS[answer.how], text=answer.text, seconds=took)


class _Batches(Generic[AnyJob]):
    """The jobs that are still to be done, and those under way, in batches by their keys."""

    def __init__(self, jobs: Iterable[AnyJob]):
        self._todo = iter(jobs)
        self._suspects: list[AnyJob] = []  # of batches that were lost
        self._only = ""  # the key of the last one of them, which had all workers to itself
        self._mean: float | None = None  # seconds of a job
        self.under_way: dict[str, list[AnyJob]] = {}

    def next(self, threads: int) -> str | None:
        """The key of another batch, which is under way from now on; None if all is."""
        batch = list(islice(self._todo, self._size(threads)))
        if batch:
            key = f"warpglass-{batch[0].key}-{len(batch)}"
        elif self._suspects and not self.under_way:
            batch = [self._suspects.pop()]
            key = self._only = f"warpglass-{batch[0].key}-only"
        else:
            return None
        self.under_way[key] = batch
        return key

    def _size(self, threads: int) -> int:
        """How many jobs the next batch has; the last ones are shared out."""
        if self._mean is None:
            return 1
        left = length_hint(self._todo, _MOST * 2 * threads)
        wanted = min(_MOST, int(_BATCH / max(self._mean, _BATCH / _MOST)), -(-left // (2 * threads)))
        return max(1, wanted)

    def ended(self, key: str, outcomes: Sequence[Outcome]) -> Iterator[tuple[AnyJob, Outcome]]:
        """Take a batch for done, and give its jobs with their outcomes."""
        batch = self.under_way.pop(key)
        mean = sum(outcome.seconds for outcome in outcomes) / len(outcomes)
        self._mean = mean if self._mean is None else self._mean + _WEIGHT * (mean - self._mean)
        yield from zip(batch, outcomes, strict=True)

    def lost(self, key: str, status: str, text: str) -> Iterator[tuple[AnyJob, Outcome]]:
        """Take a batch for lost: its jobs are to be done by themselves; one that was is done for."""
        batch = self.under_way.pop(key)
        if key == self._only:
            yield batch[0], Outcome(batch[0].key, status, text=text)
        else:
            self._suspects += batch


def _client(address: str, first: bool) -> Any:
    from distributed import Client

    try:
        return Client(address, timeout=_CONNECT, set_as_default=False)
    except (OSError, ValueError) as problem:
        if first:
            raise ArgumentError(f"there is no Dask scheduler at {address!r}: {problem}") from None
        raise


def _what_says_lost() -> tuple[type[BaseException], ...]:
    """The exceptions of a scheduler that is lost; raises PackageError without Dask."""
    try:
        from distributed import CancelledError
    except ImportError:
        raise PackageError("jobs on Dask need distributed: pip install 'warpglass[sweep]'") from None
    return OSError, CancelledError


def _done(
    client: Any,
    batches: _Batches[AnyJob],
    do: Callable[[AnyJob], Outcome],
    longest: Callable[[AnyJob], float],
) -> Iterator[tuple[AnyJob, Outcome]]:
    from distributed import CancelledError, as_completed
    from distributed.protocol.pickle import dumps

    function = dumps(do)

    def submit(key: str) -> Any:
        calls = [(pickle.dumps(job), longest(job)) for job in batches.under_way[key]]
        return client.submit(slots.call_all, function, calls, key=key, pure=False)

    queue = as_completed([submit(key) for key in batches.under_way], loop=client.loop)

    asked, threads = 0.0, 1

    def more() -> None:
        nonlocal asked, threads
        if time.monotonic() - asked > _ASKING:  # workers come and go
            asked, threads = time.monotonic(), max(1, sum(client.nthreads().values()))
        while len(batches.under_way) < _AHEAD * threads and (key := batches.next(threads)) is not None:
            queue.add(submit(key))

    more()
    for future in queue:
        problem = future.exception()
        if isinstance(problem, CancelledError):
            raise problem
        if problem is None:
            jobs = batches.under_way[future.key]
            told = zip(jobs, future.result(), strict=True)
            yield from batches.ended(
                future.key, [_outcome(job, answer, longest(job)) for job, answer in told]
            )
        else:
            status = LOST if type(problem).__name__ == "KilledWorker" else FAILED
            yield from batches.lost(future.key, status, f"{type(problem).__name__}: {problem}")
        future.release()
        more()
