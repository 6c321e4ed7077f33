"""How well each rung of a bench uses memory and lanes: the table of `warpglass bench --counters`.

Belongs here: the columns, and how certain they are. The engine has counted, whatever device the times are
from, so the table stands apart from the times and names the GPU that it is for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from ..records.bench import Row
from ..records.work import CountedWork
from .figures import LANGUAGES
from .fitting_table import FittingTable
from .profile_lines import short

_WIDE = 100  # columns from which there is room for whole kernel names


@dataclass(frozen=True, slots=True)
class CounterColumn:
    """A metric, or a figure of a row's work; `over` is the count without which a share means nothing."""

    heading: str
    metric: str
    share: bool
    over: str | None = None
    of_work: Callable[[CountedWork], float | None] | None = None
    label: str = ""  # of what follows from the work

    @property
    def name(self) -> str:
        """The heading on one line."""
        return self.heading.replace("-\n", "").replace("\n", " ")

    def value(self, row: Row) -> float | None:
        """The number of a row; None where it was not counted or means nothing."""
        if self.of_work is not None:
            return self.of_work(row.work) if row.work is not None else None
        metrics = row.metrics or {}
        if self.over is not None and not metrics.get(self.over):
            return None
        return metrics.get(self.metric)

    def known(self, rows: Sequence[Row]) -> bool:
        """Whether it has anything to say of rows that were counted."""
        if self.of_work is not None:
            return any(self.value(row) is not None for row in rows)
        return any(self.metric in (row.metrics or {}) for row in rows)

    def text(self, row: Row) -> str:
        """The number as people read it, "-" for none."""
        value = self.value(row)
        if value is None:
            return "-"
        if self.of_work is not None:
            return f"{value:.3g}"
        return f"{value:.1f}" if self.share else short(value)


COLUMNS = (
    CounterColumn("load\neff.", "gld_efficiency", True, "gld_transactions"),
    CounterColumn("store\neff.", "gst_efficiency", True, "gst_transactions"),
    CounterColumn("bank\nconflicts", "shared_bank_conflicts", False),
    CounterColumn("branch\neff.", "branch_efficiency", True, "branch"),
    CounterColumn("warp\neff.", "warp_execution_efficiency", True),
    CounterColumn("occu-\npancy", "theoretical_occupancy", True),
    CounterColumn("instruc-\ntions", "inst_executed", False),
    CounterColumn(
        "FLOP/B\nloads",
        "FLOP per byte that threads load",
        False,
        of_work=lambda work: work.asked_intensity,
        label="ptx-level",
    ),
    CounterColumn(
        "FLOP/B\nDRAM",
        "FLOP per byte of DRAM",
        False,
        of_work=lambda work: work.dram_intensity,
        label="modelled",
    ),
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
    table = FittingTable(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("id", justify="right")
    rows = [row for _, row in counted]
    columns = [one for one in COLUMNS if one.known(rows)]
    for column in columns:
        table.add_column(column.heading, justify="right", no_wrap=True)
    table.add_column("kernel", overflow="fold")
    table.add_column("lang")
    language = counted[0][1].language
    for (number, row), name in zip(counted, names, strict=True):
        if row.language != language:
            table.add_row()
        language = row.language
        cells = (column.text(row) for column in columns)
        table.add_row(str(number), *cells, Text(name), LANGUAGES[row.language])
    console.print(table)
    for label in ("exact", "ptx-level", "modelled", "measured"):
        found = [column.metric for column in columns if _label(column, rows) == label]
        if found:
            console.print(Text(f"{label}: {', '.join(found)}", style="dim"))


def counted_text(row: Row) -> str:
    """The same of one rung in words, each number with its label."""
    said: list[str] = []
    for column in COLUMNS:
        text = column.text(row)
        if text != "-":
            percent = " %" if column.share else ""
            said.append(f"{column.metric} {text}{percent} ({_label(column, [row])})")
    return ", ".join(said)


def _label(column: CounterColumn, rows: Sequence[Row]) -> str:
    """The least certain label of a column."""
    if column.of_work is not None:
        return column.label
    order = ("measured", "exact", "ptx-level", "modelled")
    return max(((row.labels or {})[column.metric] for row in rows), key=order.index)
