"""The command `judge`: many submissions of one kernel, each with a verdict that its author can follow."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .export import CsvOption, LatexOption, MarkdownOption, print_tables, table_format
from .options import DaskOption, JsonOption


def judge(
    task: Annotated[Path, typer.Argument(metavar="TASK.toml", help="Kernel, reference, cases, limits.")],
    submissions: Annotated[
        Path, typer.Argument(metavar="SUBMISSIONS/", help="A folder: a file, or a folder, for each.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FOLDER", help="Write results.json, .csv, index.html, feedback/."
        ),
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(metavar="FILE.sqlite", help="Keep verdicts; what it has is not judged again."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Processes; one for each core if not given.")
    ] = None,
    dask: DaskOption = None,
    csv: CsvOption = False,
    markdown: MarkdownOption = False,
    latex: LatexOption = False,
    json_output: JsonOption = False,
) -> None:
    """Judge many untrusted submissions of one kernel: right, fast, and without defects?"""
    from ..judging import judge as judge_all
    from ..report.console import stderr_console, stdout_console
    from ..report.judgement import judgement_table, print_judgement
    from ..report.progress import progress_bar

    form = table_format(json=json_output, csv=csv, markdown=markdown, latex=latex)
    with progress_bar() as progress:
        try:
            found = judge_all(
                task, submissions, results=results, workers=workers, dask=dask, progress=progress
            )
        except KeyboardInterrupt:
            kept = "what is judged is kept" if results else "nothing is kept without --results FILE.sqlite"
            stderr_console().print(f"Interrupted; {kept}.")
            raise
    if json_output:
        typer.echo(found.to_json(), nl=False)
    elif form is not None:
        print_tables([judgement_table(found.record)], form)
    else:
        print_judgement(found.record, stdout_console())
    if output is not None:
        found.save(output)
