"""The self-test on a terminal: a row for each planted bug, and what was missed."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from ..records.check import SelfTest, SelfTestRow
from .fitting_table import FittingTable
from .tables import Column, DataTable, number, words


def print_selftest(test: SelfTest, console: Console) -> None:
    """Print the table and the verdict."""
    console.print(Text(f"Device: {test.device}"))
    console.print()
    table = FittingTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for heading in ("kind", "found", "line", "without the bug", ""):
        table.add_column(heading, no_wrap=True)
    for row in test.rows:
        table.add_row(*_cells(row))
    console.print(table)
    console.print()
    missed = [row.kind for row in test.rows if not row.passed]
    if missed:
        verdict = f"{len(missed)} of {len(test.rows)} failed: {', '.join(missed)}. Do not trust this checker."
        console.print(Text(verdict, style="bold red"))
    else:
        verdict = f"All {len(test.rows)} planted bugs are found, and nothing else."
        console.print(Text(verdict, style="bold green"))


def selftest_table(test: SelfTest) -> DataTable:
    """A row for each planted bug."""
    headings = ("kind", "found", "place", "planted at line", "without the bug", "verdict")
    rows = tuple(
        (
            *(words(row.kind), words(", ".join(row.found))),
            words(f"{Path(row.file).name}:{row.line}" if row.line is not None else None),
            number(row.expected_line, str(row.expected_line)),
            words(", ".join(row.alarms) or "silent"),
            words("ok" if row.passed else "FAILED", "good" if row.passed else "bad"),
        )
        for row in test.rows
    )
    columns = tuple(Column(heading, heading == "planted at line") for heading in headings)
    return DataTable(f"Planted bugs, {test.device}", columns, rows)


def _cells(row: SelfTestRow) -> list[Text]:
    right = row.line == row.expected_line
    where = f"{Path(row.file).name}:{row.line}" if row.line is not None else "-"
    return [
        Text(row.kind),
        Text(", ".join(row.found) or "nothing", style="" if row.found == (row.kind,) else "bold red"),
        Text(where if right else f"{where} (not {row.expected_line})", style="" if right else "bold red"),
        Text(", ".join(row.alarms) or "silent", style="bold red" if row.alarms else ""),
        Text("ok", style="green") if row.passed else Text("FAILED", style="bold red"),
    ]
