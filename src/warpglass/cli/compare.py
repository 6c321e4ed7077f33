"""The command `compare`: what changed from one saved profile to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .metrics import chosen_definitions, metric_definitions
from .options import JsonOption
from .status import FAILED


def compare(
    before: Annotated[Path, typer.Argument(metavar="A.json", help="A saved profile.")],
    after: Annotated[Path, typer.Argument(metavar="B.json", help="The one to compare with it.")],
    threshold: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="Exit with status 1 if a number got worse by more, as in 5%."),
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metrics", metavar="NAMES", help="Only these; several times, or with commas."),
    ] = None,
    json_output: JsonOption = False,
) -> None:
    """Say what changed from one saved profile to another, and by how much; what got worse comes first."""
    from ..records.profile import load_all
    from ..report.compare import compare_profiles, comparison_json, parse_share, print_comparison
    from ..report.console import stdout_console

    limit = parse_share(threshold) if threshold is not None else None
    chosen = chosen_definitions(metric)
    found = compare_profiles(load_all(before), load_all(after), chosen or metric_definitions(), limit)
    if json_output:
        typer.echo(comparison_json(found))
    else:
        print_comparison(found, stdout_console())
    if found.past_limit:
        raise typer.Exit(FAILED)
