"""What changed from one bench to another: two machines, two versions of warpglass, two sizes.

Belongs here: pairing rows, and the views of the pairs. Rows are of one rung, language and table; a time is
compared only with a time of the same kind, since an engine's says nothing about a GPU's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.text import Text

from ..errors import ArgumentError
from ..records.bench import Record, Row
from .bench_chart import Chart, Series, colour_of
from .figures import LANGUAGES, format_ratio, format_seconds
from .fitting_table import FittingTable
from .tables import Cell, Column, DataTable, Tone, number, words

_COUNTED = ("inst_executed", "gld_transactions", "gst_transactions", "shared_bank_conflicts")
_NOISE = 1.05  # a ratio of times below which nothing is said to be faster


@dataclass(frozen=True, slots=True)
class RowPair:
    """One rung in one language, in both benches."""

    title: str
    before: Row
    after: Row

    @property
    def ratio(self) -> float | None:
        """How many times as fast the second is; None where either has no time, or another kind of time."""
        a, b = self.before, self.after
        return a.seconds / b.seconds if a.seconds and b.seconds and a.label == b.label else None

    def past(self, limit: float | None) -> bool:
        """Whether the second takes longer by more than a share, or is no longer right."""
        if limit is None:
            return False
        slower = self.ratio is not None and 1 / self.ratio - 1 > limit
        return slower or (self.before.verified and not self.after.verified)


@dataclass(frozen=True, slots=True)
class BenchComparison:
    """Two benches of one ladder, row by row; `gone` and `new` are rungs of the first and the second only."""

    before: Record
    after: Record
    pairs: tuple[RowPair, ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]
    limit: float | None = None

    @property
    def past_limit(self) -> bool:
        """Whether something got worse by more than was allowed, or a rung is no longer there."""
        missing = self.limit is not None and bool(self.gone)
        return missing or any(pair.past(self.limit) for pair in self.pairs)

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What the two are, in words."""
        return [("First", _what(self.before)), ("Second", _what(self.after))]

    @property
    def remarks(self) -> list[str]:
        """What the table does not say."""
        said = [f"{name} is only in the first" for name in self.gone]
        said += [f"{name} is only in the second" for name in self.new]
        if any(pair.before.label != pair.after.label for pair in self.pairs):
            said.append("times of an engine and of a GPU are not compared")
        if any(pair.before.size != pair.after.size for pair in self.pairs):
            said.append("the sizes differ")
        return said


def _what(record: Record) -> str:
    return f"{record.ladder} on {record.device} (warpglass {record.version})"


def compare_benches(before: Record, after: Record, limit: float | None = None) -> BenchComparison:
    """Compare two benches; raises ArgumentError if they are of different ladders."""
    if before.ladder != after.ladder:
        raise ArgumentError(f"the benches are of different ladders, {before.ladder} and {after.ladder}")
    first, second = _keyed(before), _keyed(after)
    pairs = tuple(RowPair(row.title, row, second[key]) for key, row in first.items() if key in second)
    gone = tuple(_name(row) for key, row in first.items() if key not in second)
    new = tuple(_name(row) for key, row in second.items() if key not in first)
    return BenchComparison(before, after, pairs, gone, new, limit)


def _keyed(record: Record) -> dict[tuple[str, bool, str, str], Row]:
    rows = (*record.rows, *record.peers)
    return {(row.table, row.as_written, row.rung, row.language): row for row in rows}


def _name(row: Row) -> str:
    return f"{row.rung} ({LANGUAGES.get(row.language, row.language)})"


def comparison_table(found: BenchComparison) -> DataTable:
    """A row for each pair: both times, how many times as fast, and the counts that changed."""
    columns = (
        *(Column(name) for name in ("table", "rung", "language")),
        *(Column(name, True) for name in ("first", "second", "times as fast")),
        *(Column("counts that changed"), Column("right")),
    )
    return DataTable(f"{found.before.ladder}: both benches", columns, tuple(map(_row, found.pairs)))


def _row(pair: RowPair) -> tuple[Cell, ...]:
    a, b = pair.before, pair.after
    ratio = pair.ratio
    tone: Tone = ""
    if ratio is not None and not 1 / _NOISE < ratio < _NOISE:
        tone = "good" if ratio > 1 else "bad"
    both = {(True, True): "both", (True, False): "first", (False, True): "second"}
    right = both.get((a.verified, b.verified), "none")
    return (
        words(pair.title),
        words(b.rung),
        words(LANGUAGES.get(b.language, b.language)),
        number(a.seconds, format_seconds(a.seconds)),
        number(b.seconds, format_seconds(b.seconds)),
        number(ratio, format_ratio(ratio), tone),
        words(", ".join(_changed(a, b))),
        words(right, "" if right == "both" else "bad"),
    )


def _changed(a: Row, b: Row) -> Iterator[str]:
    """The counts that differ, relative to the first."""
    old, new = a.metrics or {}, b.metrics or {}
    for name in _COUNTED:
        if name in old and name in new and old[name] != new[name]:
            change = f"{100 * (new[name] / old[name] - 1):+.1f} %" if old[name] else f"0 -> {new[name]:g}"
            yield f"{name} {change}"


def comparison_charts(found: BenchComparison) -> list[Chart]:
    """A chart for each table, a colour for each bench; the rungs of a language stand together."""
    charts: list[Chart] = []
    for title in dict.fromkeys(pair.title for pair in found.pairs):
        own = [pair for pair in found.pairs if pair.title == title]
        rows = [
            {_name(row): row for row in side} for side in ([p.before for p in own], [p.after for p in own])
        ]
        series = (Series("first", rows[0], colour_of(0)), Series("second", rows[1], colour_of(1)))
        charts.append(Chart(title, tuple(rows[0]), series))
    return charts


def print_benches(found: BenchComparison, console: Console) -> None:
    """Print a row for each rung that both benches have."""
    for name, text in found.facts:
        console.print(Text(f"{name}: {text}"))
    table = comparison_table(found)
    wide = FittingTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in table.columns[1:]:
        wide.add_column(column.heading, justify="right" if column.number else "left", overflow="fold")
    title = None
    for pair, row in zip(found.pairs, table.rows, strict=True):
        if title is not None and pair.title != title:
            wide.add_row()
        title = pair.title
        wide.add_row(*(Text(cell.text, style=_STYLES[cell.tone]) for cell in row[1:]))
    console.print()
    console.print(wide)
    console.print()
    for text in found.remarks:
        console.print(Text(f"Note: {text}.", style="yellow"))
    print_limit(found.limit, found.past_limit, console)


_STYLES: dict[Tone, str] = {"": "", "good": "green", "bad": "red", "dim": "dim"}


def print_limit(limit: float | None, past: bool, console: Console) -> None:
    """Say whether a threshold is kept; nothing if there is none."""
    if limit is not None:
        verdict, style = ("is exceeded", "bold red") if past else ("is kept", "green")
        console.print(Text(f"The threshold of {100 * limit:g} % {verdict}.", style=style))


def benches_json(comparisons: Sequence[BenchComparison]) -> str:
    """Return the pairs as JSON text: times in seconds, ratios of the first to the second."""
    rows = [
        {
            "ladder": found.before.ladder,
            "table": pair.before.table,
            "rung": pair.before.rung,
            "language": pair.before.language,
            "before": pair.before.seconds,
            "after": pair.after.seconds,
            "times_as_fast": pair.ratio,
            "past_threshold": pair.past(found.limit),
        }
        for found in comparisons
        for pair in found.pairs
    ]
    return json.dumps({"rows": rows, "past_threshold": any(one.past_limit for one in comparisons)}, indent=1)
