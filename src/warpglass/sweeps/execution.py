"""Where cells are done and results kept, and a result as a row: what sweeps and searches share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ..errors import ArgumentError
from ..host.cores import core_count
from ..records.sweep import SweepRow
from .cell import Cell
from .cluster import on_dask
from .local import on_processes
from .spec import Spec
from .work import Outcome, do, longest

Executor = Callable[[Iterable[Cell]], Iterator[tuple[Cell, Outcome]]]


def executor(spec: Spec, workers: int | None, dask: str | None) -> Executor:
    """Processes of this machine, or the Dask cluster at an address; raises ArgumentError for no workers."""
    if workers is not None and workers < 1:
        raise ArgumentError(f"workers is {workers}; at least 1")
    if dask is not None:
        address = dask
        return lambda cells: on_dask(cells, address, do)
    count = workers or (1 if "time" in spec.settings.do else core_count())
    return lambda cells: on_processes(cells, count, do, longest)


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
