"""The command `list`: the ladders and their rungs, or a file's kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import ArgumentError
from .kernel_launch import show_kernels


def list_ladders(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE.cu]", help="List the kernels of this file instead.")
    ] = None,
) -> None:
    """List the ladders and their rungs, or the kernels of a .cu or .ptx file."""
    if file is not None:
        if not file.is_file():
            raise ArgumentError(f"no file {file}")
        show_kernels(file)
        return
    from ..ladders import find_ladder, ladder_names
    from ..ladders.trial import Options
    from ..report.console import stdout_console
    from ..report.listing import print_ladder

    for name in ladder_names():
        ladder = find_ladder(name)
        print_ladder(ladder.name, ladder.title, ladder.rungs(Options(as_written=True)), stdout_console())
