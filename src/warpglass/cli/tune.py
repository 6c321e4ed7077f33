"""The command `tune`: the best cell of a grid that is too large to do all of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .export import LatexOption, MarkdownOption, print_tables, table_format
from .options import DaskOption, JsonOption, ResultsOption, WorkersOption
from .output import write_file

if TYPE_CHECKING:
    from ..sweeps import Tuning


def tune(
    spec: Annotated[Path, typer.Argument(metavar="SPEC.toml", help="A sweep's file: axes, kernels, expect.")],
    number: Annotated[str, typer.Argument(help="What is to be least: seconds, or a metric that it names.")],
    by: Annotated[
        str, typer.Option(metavar="AXES", help="Search once for each value of these: n,model.")
    ] = "",
    trials: Annotated[int, typer.Option(metavar="N", min=1, help="Candidates for each search.")] = 40,
    largest: Annotated[bool, typer.Option("--largest", help="Search for the largest instead.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the search.")] = 0,
    results: ResultsOption = None,
    workers: WorkersOption = None,
    dask: DaskOption = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write all as CSV.")] = None,
    markdown: MarkdownOption = False,
    latex: LatexOption = False,
    json_output: JsonOption = False,
) -> None:
    """Search a grid for its best configuration, with every candidate's result checked."""
    from ..report.progress import progress_bar
    from ..report.sweep import sweep_csv, sweep_table
    from ..sweeps import tune as search

    form = table_format(json=json_output, markdown=markdown, latex=latex)

    chosen = [name.strip() for name in by.split(",") if name.strip()]
    with progress_bar() as progress:
        found = search(
            spec,
            number,
            by=chosen,
            trials=trials,
            largest=largest,
            seed=seed,
            results=results,
            workers=workers,
            dask=dask,
            progress=progress,
        )
    if json_output:
        typer.echo(found.record.to_json(), nl=False)
    elif form is not None:
        print_tables([sweep_table(found.record)], form)
    else:
        _print(found, largest)
    if csv is not None:
        write_file(sweep_csv(found.record), csv)


def _print(found: Tuning, largest: bool) -> None:
    from ..report.console import stdout_console
    from ..report.sweep import print_best, print_sweep

    console = stdout_console()
    print_sweep(found.record, console, [found.number])
    console.print(f"{len(found.rows)} of {found.space} candidates were tried.")
    print_best(found.record, found.number, largest, found.by, console)
