"""The explanation of each rung, beside its own figures.

Belongs here: the view of `--explain`. The text is the rung's; the figures come from the record.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import dedent
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from ..record import Record, Row
from .bench import LANGUAGES
from .figures import format_ratio, format_seconds

if TYPE_CHECKING:
    from ..ladders.trial import Explained

READING_WIDTH = 96


def print_explanations(rungs: Sequence[Explained], record: Record | None, console: Console) -> None:
    """Print each rung's name, figures (if there is a record) and text."""
    for rung in rungs:
        console.print()
        console.print(Text(rung.name, style="bold"))
        for row in record.rows if record is not None else ():
            if row.rung == rung.name and row.seconds is not None:
                console.print(Text(f"  {_figures(row)}", style="cyan"))
        for paragraph in _paragraphs(rung.explanation):
            _print_indented(Text(paragraph), console)
        if rung.defect:
            _print_indented(Text(f"Defect: {rung.defect}.", style="red"), console)


def _figures(row: Row) -> str:
    parts = [f"{LANGUAGES[row.language]}: {format_seconds(row.seconds)} ({row.label} time)"]
    if row.step_speedup is not None:
        parts.append(f"{format_ratio(row.step_speedup)} times the previous rung")
        parts.append(f"{format_ratio(row.cumulative_speedup)} times the first")
    return ", ".join(parts)


def _paragraphs(explanation: str) -> list[str]:
    title, _, rest = explanation.strip().partition("\n")
    return [
        title,
        *(" ".join(block.split()) for block in dedent(rest).strip().split("\n\n") if block.strip()),
    ]


def _print_indented(text: Text, console: Console) -> None:
    console.print(Padding(text, (0, 0, 0, 2)), width=min(READING_WIDTH, console.width))
