"""The command `selftest`: whether the checker finds the bugs that are planted for it."""

from __future__ import annotations

import typer

from .export import CsvOption, LatexOption, MarkdownOption, print_tables, table_format
from .options import JsonOption
from .status import FAILED


def selftest(
    csv: CsvOption = False,
    markdown: MarkdownOption = False,
    latex: LatexOption = False,
    json_output: JsonOption = False,
) -> None:
    """Plant one bug of every kind, and see that the checker finds it and nothing else.

    Exit status: 0 if every bug is found at its line and no kernel without one is reported, else 1.
    """
    from ..lab.selftest import selftest as run
    from ..report.console import stdout_console
    from ..report.progress import waiting
    from ..report.selftest import print_selftest, selftest_table

    form = table_format(json=json_output, csv=csv, markdown=markdown, latex=latex)
    with waiting("Planting bugs"):
        found = run()
    if json_output:
        typer.echo(found.to_json(), nl=False)
    elif form is not None:
        print_tables([selftest_table(found)], form)
    else:
        print_selftest(found, stdout_console())
    if not found.passed:
        raise typer.Exit(FAILED)
