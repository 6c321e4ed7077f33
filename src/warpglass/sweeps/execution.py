"""Where jobs are done and results kept, and a result as a row: what sweeps, searches and judgings share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import ArgumentError
from ..host.cores import core_count
from ..records.sweep import SweepRow
from .cell import Cell
from .cluster import on_dask
from .local import AnyJob, Processes
from .spec import Spec
from .work import Outcome

# Does jobs, and gives each with its outcome when it is there.
Executor = Callable[[Iterable[AnyJob]], Iterator[tuple[AnyJob, Outcome]]]


@contextmanager
def executor(
    do: Callable[[AnyJob], Outcome],
    longest: Callable[[AnyJob], float],
    workers: int | None,
    dask: str | None,
    usual: int | None = None,
) -> Iterator[Executor[AnyJob]]:
    """What does jobs meanwhile: processes of this machine, or the Dask cluster at an address.

    `do` does a job in a worker, for `longest` seconds at most. There are `workers` processes, or the `usual`
    number of them, one for each core if that is not given; they live as long as the context. Raises
    ArgumentError for no workers.
    """
    if workers is not None and workers < 1:
        raise ArgumentError(f"workers is {workers}; at least 1")
    if dask is not None:
        yield lambda jobs: on_dask(jobs, dask, do, longest)
        return
    with Processes(workers or usual or core_count(), do, longest) as processes:
        yield processes.done


def usual_workers(spec: Spec) -> int | None:
    """One process where times are taken, which others would disturb."""
    return 1 if "time" in spec.settings.do else None


def results_file(spec: object, found: Spec, results: str | Path | None) -> Path:
    """The file asked for, that of the specification, or one beside it."""
    if results is not None:
        return Path(results)
    if found.settings.results:
        return found.folder / found.settings.results
    return Path(spec).with_suffix(".sqlite") if isinstance(spec, (str, Path)) else Path("sweep.sqlite")


def row_of(cell: Cell, outcome: Outcome) -> SweepRow:
    """A cell with what became of it."""
    return SweepRow(
        name=cell.name,
        axes=dict(cell.axes),
        model=cell.model,
        status=outcome.status,
        numbers=outcome.numbers,
        text=outcome.text,
        seconds=outcome.seconds,
    )
