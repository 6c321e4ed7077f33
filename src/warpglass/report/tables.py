"""Tables as data: what pages, CSV, Markdown and LaTeX are made of.

Belongs here: the table, and its three written forms. A cell has the text that people read and, where that is
a number, the number itself: pages sort by it and CSV carries it in full. What the tables of a record are is
record_tables.py's.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Tone = Literal["", "good", "bad", "dim"]

# LaTeX's special characters, as text.
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


@dataclass(frozen=True, slots=True)
class Cell:
    """What people read, the number behind it (None for words), and whether it is good or bad news."""

    text: str
    value: float | None = None
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Column:
    """A heading; numbers stand at the right."""

    heading: str
    number: bool = False


@dataclass(frozen=True, slots=True)
class DataTable:
    """A table with its title; every row has a cell for every column."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


def words(text: str | None, tone: Tone = "") -> Cell:
    """A cell of words; "-" for none."""
    return Cell(text or "-", None, tone)


def number(value: float | None, text: str, tone: Tone = "") -> Cell:
    """A cell with a number; "-" for none."""
    return Cell("-" if value is None else text, value, tone)


def csv_text(tables: Sequence[DataTable]) -> str:
    """Comma-separated values with full numbers.

    Several tables stand one below the other, an empty line apart, and the first column says which it is.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    for place, table in enumerate(tables):
        if place:
            stream.write("\n")
        several = len(tables) > 1
        headings = [column.heading for column in table.columns]
        writer.writerow(["table", *headings] if several else headings)
        for row in table.rows:
            cells = [_plain(cell) for cell in row]
            writer.writerow([table.title, *cells] if several else cells)
    return stream.getvalue()


def _plain(cell: Cell) -> str:
    if cell.value is not None:
        return repr(cell.value)
    text = "" if cell.text == "-" else cell.text
    # A spreadsheet must not take a kernel's name for a formula.
    return f"'{text}" if text[:1] in "=+-@\t\r" and text else text


def markdown_text(tables: Sequence[DataTable]) -> str:
    """Tables of GitHub's Markdown, each below its title."""
    return "\n".join(_markdown(table) for table in tables)


def _markdown(table: DataTable) -> str:
    def row(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |"

    lines = [f"**{_markdown_cell(table.title)}**", ""] if table.title else []
    lines.append(row([_markdown_cell(column.heading) for column in table.columns]))
    lines.append(row(["--:" if column.number else ":--" for column in table.columns]))
    lines += [row([_markdown_cell(cell.text) for cell in cells]) for cells in table.rows]
    return "\n".join(lines) + "\n"


def _markdown_cell(text: str) -> str:
    for character in "\\`*_[]<>|":
        text = text.replace(character, f"\\{character}")
    return " ".join(text.split())


def latex_text(tables: Sequence[DataTable]) -> str:
    """Tables for LaTeX with the package booktabs, each in an environment of its own."""
    return "\n".join(_latex(table) for table in tables)


def _latex(table: DataTable) -> str:
    def row(cells: Sequence[str]) -> str:
        return f"{' & '.join(cells)} \\\\"

    layout = "".join("r" if column.number else "l" for column in table.columns)
    lines = [r"\begin{table}", r"\centering", f"\\caption{{{latex(table.title)}}}"]
    lines += [f"\\begin{{tabular}}{{{layout}}}", r"\toprule"]
    lines += [row([latex(column.heading) for column in table.columns]), r"\midrule"]
    lines += [row([latex(cell.text) for cell in cells]) for cells in table.rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}"]) + "\n"


def latex(text: str) -> str:
    """A text with LaTeX's special characters escaped."""
    return "".join(_LATEX.get(character, character) for character in " ".join(text.split()))


FORMATS: Mapping[str, Callable[[Sequence[DataTable]], str]] = {
    "csv": csv_text,
    "markdown": markdown_text,
    "latex": latex_text,
}
