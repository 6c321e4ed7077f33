"""The notes' access counts beside a bench: what the formulas say, what was counted, and what the notes have
wrong.

Belongs here: the words and the table. The formulas are those of each ladder's counts.py.
"""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..ladders.access_counts import AccessCounts, Formula
from ..ladders.conv1d.counts import COUNTS as CONV1D
from ..ladders.conv2d.counts import COUNTS as CONV2D
from ..ladders.matmul.counts import COUNTS as MATMUL
from ..records.bench import Record, Row
from .bench_counters import LANGUAGES

COUNTS = {"conv1d": CONV1D, "conv2d": CONV2D, "matmul": MATMUL}


def print_access_counts(record: Record, console: Console) -> None:
    """Print the formulas of the rungs that were counted, and the notes' errata; nothing if none was."""
    counts = COUNTS[record.ladder]
    found = [
        (row, counts.formulas[row.rung])
        for row in record.rows
        if row.metrics is not None and row.rung in counts.formulas
    ]
    if not found:
        return
    _line(console)
    _line(console, "Elements read from global memory", style="bold")
    console.print(_table(found))
    _line(console, f"counted: {counts.counted_as}")
    _print_errata(counts, console)


def _table(found: list[tuple[Row, Formula]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for heading in ("by formula", "counted"):
        table.add_column(heading, justify="right")
    for heading in ("formula", "rung", "lang"):
        table.add_column(heading, overflow="fold")
    for row, formula in found:
        block = row.block if isinstance(row.block, int) else 0
        counted = formula.counted(row.metrics or {}, np.dtype(row.dtype).itemsize, row.size)
        table.add_row(
            f"{formula.value(row.size, block):,}",
            f"{counted:,.0f}",
            formula.text,
            row.rung,
            LANGUAGES[row.language],
        )
    return table


def _print_errata(counts: AccessCounts, console: Console) -> None:
    for erratum in counts.errata:
        _line(console, f"{erratum.of}: the notes say {erratum.notes}, right is {erratum.right}")


def _line(console: Console, text: str = "", style: str | None = None) -> None:
    console.print(Text(text, style=style or ""))
