"""The command `list`: the ladders and their rungs, or a file's kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import ArgumentError
from .export import CsvOption, LatexOption, MarkdownOption, print_tables, table_format
from .kernel_launch import show_kernels


def list_ladders(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE.cu]", help="List the kernels of this file instead.")
    ] = None,
    csv: CsvOption = False,
    markdown: MarkdownOption = False,
    latex: LatexOption = False,
) -> None:
    """List the ladders and their rungs, or the kernels of a .cu or .ptx file."""
    form = table_format(csv=csv, markdown=markdown, latex=latex)
    if file is not None:
        if not file.is_file():
            raise ArgumentError(f"no file {file}")
        show_kernels(file, form)
        return
    from ..ladders import find_ladder, ladder_names
    from ..ladders.trial import Options
    from ..report.console import stdout_console
    from ..report.listing import ladder_table, print_ladder

    ladders = [find_ladder(name) for name in ladder_names()]
    listed = [(one.name, one.title, one.rungs(Options(as_written=True))) for one in ladders]
    if form is not None:
        print_tables([ladder_table(*one) for one in listed], form)
        return
    for one in listed:
        print_ladder(*one, stdout_console())
