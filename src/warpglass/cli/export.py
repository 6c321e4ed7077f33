"""What several commands can make of records beside their own view: a page, tables in other forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ArgumentError
from .output import write_file

if TYPE_CHECKING:
    from ..ladders.view import Section
    from ..records.bench import Record
    from ..records.files import AnyRecord
    from ..report.html import Named
    from ..report.tables import DataTable

HtmlOption = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE.html", help="Also write one page that needs no network."),
]
CsvOption = Annotated[bool, typer.Option("--csv", help="Print comma-separated values instead.")]
MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print Markdown tables instead.")]
LatexOption = Annotated[bool, typer.Option("--latex", help="Print LaTeX tables (booktabs) instead.")]


def table_format(**forms: bool) -> str | None:
    """The name of the option that asks for another form, None for the usual view; ArgumentError for two."""
    wanted = [name for name, given in forms.items() if given]
    if len(wanted) > 1:
        raise ArgumentError(f"{' and '.join(f'--{name}' for name in wanted)}: give one of them")
    return wanted[0] if wanted else None


def print_tables(tables: Sequence[DataTable], form: str) -> None:
    """Print tables in one of the forms of `table_format`."""
    from ..report.tables import FORMATS

    typer.echo(FORMATS[form](tables), nl=False)


def write_page(records: Sequence[AnyRecord], path: Path, title: str, where: str = "the record") -> None:
    """Write the page of records that have just been made, or that a file holds."""
    from ..report.html import Named

    write_report([Named(where, one) for one in records], path, title)


def write_report(records: Sequence[Named], path: Path, title: str) -> None:
    """Write the page of some records; raises WarpglassError that names the file of a bad one."""
    from ..report.html import report_page

    check_page(path)
    write_made(path, lambda: report_page(records, title, sections_of))


def write_made(path: Path, make: Callable[[], str]) -> None:
    """Write a page that is made now, and say so while it takes long."""
    from ..report.progress import waiting

    with waiting(f"Writing {path}"):
        write_file(make(), path)


def draw(picture: Callable[[], None], path: Path) -> None:
    """Have a picture written to a file, and say so while it takes long."""
    from ..report.progress import waiting

    with waiting(f"Drawing {path}"):
        picture()


def check_page(path: Path) -> None:
    """Raise ArgumentError unless a page can be written under this name."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ArgumentError(f"{path}: pages are written as .html")


def sections_of(record: Record) -> Sequence[Section]:
    """What a bench's ladder has to say of it; nothing if this version has no such ladder."""
    from ..ladders import find_ladder, ladder_names

    if record.ladder not in ladder_names():
        return ()
    try:
        return find_ladder(record.ladder).problem.view(record)
    except (ArithmeticError, LookupError, StopIteration, TypeError, ValueError):
        return ()  # a view may need rungs or counts that a record lacks
