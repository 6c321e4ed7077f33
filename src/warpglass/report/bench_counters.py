"""How well each rung of a bench uses memory and lanes: the table of `warpglass bench --counters`.

Belongs here: the columns, and how certain they are. The engine has counted, whatever device the times are
from, so the table stands apart from the times and names the GPU that it is for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..records.bench import Row
from .figures import LANGUAGES
from .profile_lines import short

_WIDE = 100  # columns from which there is room for whole kernel names


@dataclass(frozen=True, slots=True)
class CounterColumn:
    """A metric; `over` is the count without which a share means nothing."""

    heading: str
    metric: str
    share: bool
    over: str | None = None

    @property
    def name(self) -> str:
        """The heading on one line."""
        return self.heading.replace("-\n", "").replace("\n", " ")

    def value(self, row: Row) -> float | None:
        """The number of a row; None where it was not counted or means nothing."""
        metrics = row.metrics or {}
        if self.over is not None and not metrics.get(self.over):
            return None
        return metrics.get(self.metric)

    def text(self, row: Row) -> str:
        """The number as people read it, "-" for none."""
        value = self.value(row)
        if value is None:
            return "-"
        return f"{value:.1f}" if self.share else short(value)


COLUMNS = (
    CounterColumn("load\neff.", "gld_efficiency", True, "gld_transactions"),
    CounterColumn("store\neff.", "gst_efficiency", True, "gst_transactions"),
    CounterColumn("bank\nconflicts", "shared_bank_conflicts", False),
    CounterColumn("branch\neff.", "branch_efficiency", True, "branch"),
    CounterColumn("warp\neff.", "warp_execution_efficiency", True),
    CounterColumn("occu-\npancy", "theoretical_occupancy", True),
    CounterColumn("instruc-\ntions", "inst_executed", False),
)


def full_name(row: Row) -> str:
    """What ran: the kernel with its template arguments; the rung, where its program launches several."""
    return row.kernel if row.launches < 2 else row.rung


def print_counters(rows: Sequence[Row], counted_for: str | None, console: Console) -> None:
    """Print what was counted of the rungs of a table; nothing if nothing was."""
    counted = [(number, row) for number, row in enumerate(rows, 1) if row.metrics is not None]
    if not counted:
        return
    console.print()
    console.print(Text(f"Counted by the engine for {counted_for} (efficiencies in percent)", style="bold"))
    names = [full_name(row) if console.width >= _WIDE else row.rung for _, row in counted]
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("id", justify="right")
    for column in COLUMNS:
        table.add_column(column.heading, justify="right", no_wrap=True)
    table.add_column("kernel", overflow="fold")
    table.add_column("lang")
    language = counted[0][1].language
    for (number, row), name in zip(counted, names, strict=True):
        if row.language != language:
            table.add_row()
        language = row.language
        cells = (column.text(row) for column in COLUMNS)
        table.add_row(str(number), *cells, Text(name), LANGUAGES[row.language])
    console.print(table)
    for label in ("exact", "ptx-level", "modelled", "measured"):
        found = [column.metric for column in COLUMNS if _label(column, [row for _, row in counted]) == label]
        if found:
            console.print(Text(f"{label}: {', '.join(found)}", style="dim"))


def counted_text(row: Row) -> str:
    """The same of one rung in words, each number with its label."""
    said: list[str] = []
    for column in COLUMNS:
        text = column.text(row)
        if text != "-":
            percent = " %" if column.share else ""
            said.append(f"{column.metric} {text}{percent} ({(row.labels or {})[column.metric]})")
    return ", ".join(said)


def _label(column: CounterColumn, rows: Sequence[Row]) -> str:
    """The least certain label of a column."""
    order = ("measured", "exact", "ptx-level", "modelled")
    return max(((row.labels or {})[column.metric] for row in rows), key=order.index)
