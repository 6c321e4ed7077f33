"""The command `metrics`: what counters and metrics there are and mean; other commands choose among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from .export import CsvOption, LatexOption, MarkdownOption, print_tables, table_format
from .options import JsonOption

if TYPE_CHECKING:
    from ..report.metrics import Definition


def metrics(
    name: Annotated[str | None, typer.Argument(help="Show the definition of this one.")] = None,
    csv: CsvOption = False,
    markdown: MarkdownOption = False,
    latex: LatexOption = False,
    json_output: JsonOption = False,
) -> None:
    """List all counters and metrics by subject, or say how one is defined."""
    from ..report.console import stdout_console
    from ..report.metrics import (
        definitions_json,
        definitions_tables,
        find,
        print_definition,
        print_definitions,
    )

    form = table_format(json=json_output, csv=csv, markdown=markdown, latex=latex)
    known = _known()
    wanted = find([name], known) if name is not None else list(known.values())
    if json_output:
        typer.echo(definitions_json(wanted))
    elif form is not None:
        print_tables(definitions_tables(wanted), form)
    elif name is not None:
        print_definition(wanted[0], known, stdout_console())
    else:
        print_definitions(wanted, stdout_console())


def metric_definitions() -> list[Definition]:
    """The metrics under nvprof's names."""
    from ..observe.metrics import METRICS
    from ..report.metrics import Definition

    return [
        Definition(one.name, one.text, one.subject, one.unit, one.formula, one.counters, tuple(one.over))
        for one in METRICS.values()
    ]


def counter_definitions() -> list[Definition]:
    """The counters under Nsight Compute's names."""
    from ..observe.counters import COUNTERS
    from ..report.metrics import Definition

    return [Definition(one.name, one.text, one.subject, one.unit) for one in COUNTERS.values()]


def chosen_definitions(given: Sequence[str] | None) -> list[Definition]:
    """What --metrics names; raises ArgumentError for a name that there is not."""
    from ..report.metrics import find

    names = [name for text in given or () for name in text.split(",") if name]
    every = [one.name for one in metric_definitions()]
    return find([one for name in names for one in (every if name == "all" else [name])], _known())


def _known() -> dict[str, Definition]:
    return {one.name: one for one in (*metric_definitions(), *counter_definitions())}
