"""The command `sweep`: a grid of cells, done once, wherever there are processes for them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ArgumentError
from .export import LatexOption, MarkdownOption, draw, print_tables, table_format
from .options import DaskOption, JsonOption, ResultsOption, WorkersOption
from .output import write_file
from .status import FAILED

if TYPE_CHECKING:
    from ..sweeps import Sweep


def sweep(
    spec: Annotated[Path, typer.Argument(metavar="SPEC.toml", help="Axes, kernels, and what is asked.")],
    results: ResultsOption = None,
    workers: WorkersOption = None,
    dask: DaskOption = None,
    retry: Annotated[bool, typer.Option("--retry", help="Do cells again that failed.")] = False,
    numbers: Annotated[
        list[str] | None,
        typer.Option("--show", metavar="NAMES", help="Columns of the table; several times, or with commas."),
    ] = None,
    best: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Say which cell has the least, as in seconds.")
    ] = None,
    largest: Annotated[bool, typer.Option("--largest", help="With --best: the largest instead.")] = False,
    by: Annotated[
        str, typer.Option(metavar="AXES", help="With --best: one for each value of these, as in model,n.")
    ] = "model",
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write all as CSV.")] = None,
    parquet: Annotated[Path | None, typer.Option(metavar="FILE", help="Write all as Parquet.")] = None,
    heat_map: Annotated[
        str | None, typer.Option(metavar="NUMBER,X,Y", help="With --plot: what to draw over which two axes.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw the --heat-map.")] = None,
    markdown: MarkdownOption = False,
    latex: LatexOption = False,
    json_output: JsonOption = False,
) -> None:
    """Run, profile or check every cell of a grid: kernels, sizes, blocks, constants, GPU models."""
    from ..report.console import stderr_console
    from ..report.progress import progress_bar
    from ..report.sweep import sweep_table
    from ..sweeps import sweep as run_sweep

    form = table_format(json=json_output, markdown=markdown, latex=latex)
    if (heat_map is None) != (plot is None):
        raise ArgumentError("--heat-map NUMBER,X,Y and --plot FILE.png belong together")
    drawn = None if heat_map is None else _three(heat_map)
    with progress_bar() as progress:
        try:
            found = run_sweep(
                spec, results=results, workers=workers, dask=dask, retry=retry, progress=progress
            )
        except KeyboardInterrupt:
            stderr_console().print(
                "Interrupted; what is done is kept, and the same command goes on from there."
            )
            raise
    if json_output:
        typer.echo(found.to_json(), nl=False)
    elif form is not None:
        print_tables([sweep_table(found.record)], form)
    else:
        _print(found, numbers, best, largest, by)
    if csv is not None:
        write_file(found.to_csv(), csv)
    if parquet is not None:
        found.save_parquet(parquet)
    if drawn is not None and plot is not None:
        draw(lambda: found.draw(plot, *drawn), plot)
    if any(row.status != "done" for row in found.rows):
        raise typer.Exit(FAILED)


def _three(text: str) -> tuple[str, str, str]:
    match text.split(","):
        case [number, x, y]:
            return number.strip(), x.strip(), y.strip()
        case _:
            raise ArgumentError(f"--heat-map {text!r}: write NUMBER,X,Y, as in seconds,n,block")


def _print(found: Sweep, numbers: list[str] | None, best: str | None, largest: bool, by: str) -> None:
    from ..report.console import stdout_console
    from ..report.sweep import print_best, print_sweep

    console = stdout_console()
    chosen = [name.strip() for part in numbers or () for name in part.split(",")]
    print_sweep(found.record, console, chosen)
    if best is not None:
        print_best(found.record, best, largest, [name.strip() for name in by.split(",")], console)
