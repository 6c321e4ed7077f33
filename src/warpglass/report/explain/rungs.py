"""The explanation of each rung, beside its own figures.

Belongs here: the view of `--explain`. The text is the rung's; the figures come from the record.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from ...records.bench import Record, Row
from ..bench_counters import counted_text
from ..figures import LANGUAGES, format_ratio, format_seconds

if TYPE_CHECKING:
    from ...ladders.rung import Rung

READING_WIDTH = 96


def print_explanations(rungs: Sequence[Rung], record: Record | None, console: Console) -> None:
    """Print each rung's name, figures (if there is a record) and text."""
    for rung in rungs:
        console.print()
        console.print(Text(rung.name, style="bold"))
        for row in record.rows if record is not None else ():
            if row.rung == rung.name and row.seconds is not None:
                _print_indented(_figures(row), console, "cyan")
                if row.metrics is not None:
                    _print_indented(f"{LANGUAGES[row.language]}: {counted_text(row)}", console, "cyan")
        for paragraph in _paragraphs(rung.explanation):
            _print_indented(paragraph, console)
        if rung.defect:
            _print_indented(f"Defect: {rung.defect}.", console, "red")


def _figures(row: Row) -> str:
    parts = [f"{LANGUAGES[row.language]}: {format_seconds(row.seconds)} ({row.label} time)"]
    if row.step_speedup is not None and row.cumulative_speedup != 1.0:
        parts.append(f"{format_ratio(row.step_speedup)} times the previous rung")
        parts.append(f"{format_ratio(row.cumulative_speedup)} times the first")
    return ", ".join(parts)


def _paragraphs(explanation: str) -> list[str]:
    return [" ".join(block.split()) for block in explanation.strip().split("\n\n")]


def _print_indented(text: str, console: Console, style: str = "") -> None:
    width = min(READING_WIDTH, console.width)
    filled = fill(text, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    console.print(Text(filled, style=style))
