"""Any grid of kernels or rungs, sizes, blocks, constants and GPU models, as independent cells.

    found = wg.sweep("sweep.toml")            # or a dictionary like the file
    print(found.table())

A specification (spec.py) becomes cells (cell.py); processes (local.py) or a Dask cluster (cluster.py)
do each (work.py), and one SQLite file keeps what came out (store.py). What the file has is not done again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..host.processes import refuse_importing
from ..records.sweep import SweepRecord, SweepRow
from ..report.sweep import sweep_csv, sweep_text, write_parquet
from ..report.sweep_chart import draw_heat_map
from .execution import executor, results_file, row_of, usual_workers
from .filling import Progress, fill_store
from .spec import make, read
from .store import Store
from .tuning import Tuning, tune
from .work import do, longest

__all__ = ["Sweep", "Tuning", "sweep", "tune"]


@dataclass(frozen=True, slots=True)
class Sweep:
    """The outcome of a sweep: a record and its usual views."""

    record: SweepRecord

    @property
    def rows(self) -> tuple[SweepRow, ...]:
        """One row for each cell, in the order of the axes."""
        return self.record.rows

    def best(
        self, number: str, largest: bool = False, by: Sequence[str] = ("model",)
    ) -> tuple[SweepRow, ...]:
        """For each value of `by` (axes, "model", "name") the row with the least, or largest, `number`."""
        return self.record.best(number, largest, by)

    def table(self, width: int = 120) -> str:
        """The rows as plain text, `width` columns wide."""
        return sweep_text(self.record, width)

    def to_csv(self) -> str:
        """A line for each cell, a column for each axis and number."""
        return sweep_csv(self.record)

    def to_json(self) -> str:
        """The record as JSON text."""
        return self.record.to_json()

    def save_parquet(self, path: str | Path) -> None:
        """Write the columns of `to_csv` as a Parquet file; raises PackageError without pyarrow."""
        write_parquet(self.record, Path(path))

    def draw(self, path: str | Path, number: str, x: str, y: str) -> None:
        """Draw a number over two axes as a heat map, into a .png, .svg or .pdf file."""
        draw_heat_map(self.record, number, x, y, Path(path))


def sweep(
    spec: str | Path | Mapping[str, Any],
    *,
    results: str | Path | None = None,
    workers: int | None = None,
    dask: str | None = None,
    retry: bool = False,
    progress: Progress | None = None,
) -> Sweep:
    """Do every cell of a specification that has no result yet, and return the results of all.

    `spec` is a TOML file, or a dictionary of its form. `results` is the SQLite file; by default that of the
    specification, or FILE.sqlite beside it; a dictionary without one keeps its results in sweep.sqlite.
    `workers` processes run at a time: by default one where times are taken, which others would disturb, else
    one for each core. `dask` is the address of a Dask scheduler that does the work instead. `retry` does
    failed cells again. Raises ArgumentError for what is wrong in the specification before anything runs; a
    cell that fails is a row with its error.
    """
    refuse_importing("wg.sweep")
    found = make(spec) if isinstance(spec, Mapping) else read(spec)
    cells = list(found.cells())
    with (
        executor(do, longest, workers, dask, usual_workers(found)) as execute,
        Store(results_file(spec, found, results)) as store,
    ):
        different = list({cell.key: cell for cell in cells}.values())
        fill_store(
            store, different, execute, tries=1 + found.settings.retries, retry=retry, progress=progress
        )
        kept = store.get(cell.key for cell in cells)
    rows = tuple(row_of(cell, kept[cell.key]) for cell in cells)
    return Sweep(SweepRecord(axes=found.names, rows=rows))
