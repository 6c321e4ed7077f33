"""A judging in words: the ranked table, feedback for each author, and CSV."""

from __future__ import annotations

from collections import Counter

from rich import box
from rich.console import Console
from rich.text import Text

from ..records.judgement import JudgedRow, JudgementRecord
from .console import text_console, text_of
from .figures import format_seconds
from .fitting_table import FittingTable
from .tables import Cell, Column, DataTable, csv_text

_ACCEPTED = "accepted"
_TIME, _GPU_TIME = "time", "gpu_time"
_MOST_ROWS = 500


def print_judgement(record: JudgementRecord, console: Console) -> None:
    """Print the ranked table and how many submissions got which verdict."""
    table = FittingTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in judgement_table(record).columns:
        table.add_column(column.heading, justify="right" if column.number else "left", overflow="fold")
    for row in judgement_table(record).rows[:_MOST_ROWS]:
        table.add_row(*(Text(cell.text) for cell in row))
    console.print(table)
    if len(record.rows) > _MOST_ROWS:
        console.print(f"... and {len(record.rows) - _MOST_ROWS} more; the saved results have them all")
    console.print(judgement_summary(record))


def judgement_table(record: JudgementRecord) -> DataTable:
    """A line for each submission, the best first."""
    score = score_words(record)
    columns = (
        Column("rank", True),
        Column("submission"),
        Column("language"),
        Column("verdict"),
        Column(score, True),
        Column("reason"),
    )
    return DataTable(record.task, columns, tuple(_cells(record, row) for row in record.rows))


def score_words(record: JudgementRecord) -> str:
    """What a judging ranks by."""
    if record.score == _GPU_TIME:
        return f"time on {record.device.partition(' (')[0] or 'a GPU'}"
    return f"modelled time ({record.model})" if record.score == _TIME else record.score


def _cells(record: JudgementRecord, row: JudgedRow) -> tuple[Cell, ...]:
    return (
        Cell("-" if row.rank is None else str(row.rank), row.rank),
        Cell(row.name),
        Cell(row.language or "-"),
        Cell(row.verdict, None, "good" if row.verdict == _ACCEPTED else "bad"),
        Cell(_score(record, row.score), row.score),
        Cell(row.text.partition("\n")[0] or "-"),
    )


def _score(record: JudgementRecord, score: float | None) -> str:
    if score is None:
        return "-"
    return format_seconds(score) if record.score in (_TIME, _GPU_TIME) else f"{score:,.6g}"


def judgement_summary(record: JudgementRecord) -> str:
    """How many submissions got which verdict."""
    counts = Counter(row.verdict for row in record.rows)
    listed = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    return f"{len(record.rows)} submissions of {record.task}: {listed}"


def judgement_text(record: JudgementRecord, width: int) -> str:
    """What print_judgement prints, as plain text."""
    console = text_console(width)
    print_judgement(record, console)
    return text_of(console)


def judgement_csv(record: JudgementRecord) -> str:
    """The table as CSV."""
    return csv_text((judgement_table(record),))


def feedback_text(record: JudgementRecord, row: JudgedRow) -> str:
    """What the author of one submission is told."""
    lines = [f"{row.name}: {row.verdict}"]
    if row.text:
        lines += ["", row.text]
    if row.rank is not None:
        accepted = sum(one.rank is not None for one in record.rows)
        lines += ["", f"Rank {row.rank} of {accepted} by {score_words(record)}: {_score(record, row.score)}"]
    lines += [f"{name}: {value:,.6g}" for name, value in sorted(row.numbers.items()) if name != record.score]
    return "\n".join(lines) + "\n"
