"""The command `report`: saved records as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .export import check_page, write_report


def report(
    records: Annotated[
        list[Path],
        typer.Argument(
            metavar="RECORD.json...",
            help="What bench --json, profile --save and check --json have written, in the page's order.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE.html", help="The page to write.")
    ] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="The page's title.")] = None,
) -> None:
    """Write saved benches, profiles and checks as one page of HTML that needs no network."""
    from ..records.files import open_records
    from ..report.html import Named

    check_page(output)
    found = [Named(str(path), one) for path in records for one in open_records(path)]
    write_report(found, output, title or ", ".join(dict.fromkeys(path.stem for path in records)))
    typer.echo(f"{output}: {len(found)} record{'' if len(found) == 1 else 's'}")
