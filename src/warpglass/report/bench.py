"""A bench's record as tables on a terminal.

Belongs here: the words and the layout of a ladder's result. It reads a Record and nothing else.

Each table of the ladder is printed with what its rows share above it (device, array) and its sums below it.
One table holds everything where it fits; where it does not, the speedups move to a second one, as in the
notes, and cells that are still too wide are folded, never cut. The heading of the time column says whose
time it is: an engine's time is never shown as a GPU's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from ..record import Record, Row
from .bench_counters import LANGUAGES, print_counters
from .console import text_console, text_of
from .figures import format_bytes, format_ratio, format_seconds, format_sum

TIME_HEADINGS = {"engine": "engine time", "gpu": "GPU time"}
PLACES = {"engine": "engine", "gpu": "GPU"}
AS_WRITTEN = "_as_written"


@dataclass(frozen=True, slots=True)
class _Column:
    """One column: its heading, its cell for (number, row), and its alignment."""

    heading: str
    cell: Callable[[int, Row], str | Text]
    justify: Literal["left", "right"] = "left"


def print_bench(record: Record, console: Console) -> None:
    """Print all tables of a record."""
    _line(console, f"Device: {record.device}")
    for (_, as_written), group in groupby(record.rows, key=lambda row: (row.table, row.as_written)):
        _print_table(list(group), as_written, record.counted_for, console)


def render_text(record: Record, width: int) -> str:
    """Return the tables as plain text of that width."""
    console = text_console(width)
    print_bench(record, console)
    return text_of(console)


def _print_table(rows: Sequence[Row], as_written: bool, counted_for: str | None, console: Console) -> None:
    first = rows[0]
    console.print()
    _line(console, first.title + (", as written in the course notes" if as_written else ""), style="bold")
    size = f"{first.size} x {first.dtype} ({format_bytes(int(first.size * _itemsize(first.dtype)))})"
    final = "on the host" if first.final == "host" else "by further launches"
    _line(console, f"Array size: {size}; partial sums added {final}")
    label = next((row.label for row in rows if row.label in TIME_HEADINGS), None)
    tables = [_make_table(rows, _wide_columns(label))]
    if _full_width(tables[0], console) > console.width:
        tables = [_make_table(rows, columns) for columns in _narrow_columns(label)]
    for table in tables:
        console.print()
        console.print(table)
    print_counters(rows, counted_for, console)
    console.print()
    for text in _summary(rows, label):
        _line(console, text)
    for number, row in enumerate(rows, 1):
        if row.failure is not None:
            _line(
                console, f"{number} {row.rung} ({LANGUAGES[row.language]}) failed: {row.failure}", style="red"
            )


def _full_width(table: Table, console: Console) -> int:
    return Measurement.get(console, console.options.update(width=10_000), table).maximum


def _make_table(rows: Sequence[Row], columns: Sequence[_Column]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column.heading, justify=column.justify, overflow="fold")
    previous: Row | None = None
    for number, row in enumerate(rows, 1):
        if previous is not None and row.grid is not None and row.language != previous.language:
            table.add_row()
        table.add_row(*(column.cell(number, row) for column in columns))
        previous = row
    return table


def _wide_columns(label: str | None) -> list[_Column]:
    heading = TIME_HEADINGS.get(label or "", "time")
    return [*_run_columns(heading, lambda row: row.kernel), *_speed_columns(), _verified("verified")]


def _narrow_columns(label: str | None) -> list[list[_Column]]:
    heading = TIME_HEADINGS.get(label or "", "time").replace(" ", "\n")
    run = _run_columns(heading, lambda row: row.rung.removesuffix(AS_WRITTEN))
    number, *_, kernel, language = run
    return [[*run, _verified("ok")], [number, kernel, language, *_speed_columns()]]


def _run_columns(heading: str, kernel: Callable[[Row], str]) -> list[_Column]:
    return [
        _Column("id", lambda number, _: str(number), "right"),
        _Column(heading, lambda _, row: format_seconds(row.seconds), "right"),
        _Column("sum", lambda _, row: format_sum(row.sum), "right"),
        _Column("<<<grid,block>>>", lambda _, row: _launch(row), "right"),
        _Column("kernel", lambda _, row: kernel(row)),
        _Column("lang", lambda _, row: LANGUAGES[row.language]),
    ]


def _speed_columns() -> list[_Column]:
    return [
        _Column("step x", lambda _, row: format_ratio(row.step_speedup), "right"),
        _Column("total x", lambda _, row: format_ratio(row.cumulative_speedup), "right"),
        _Column("GB/s", lambda _, row: format_ratio(row.gb_per_s), "right"),
    ]


def _verified(heading: str) -> _Column:
    def cell(_: int, row: Row) -> Text:
        if row.verified:
            return Text("yes", style="green")
        return Text("no" if row.failure is None else "-", style="bold red")

    return _Column(heading, cell)


def _launch(row: Row) -> str:
    return "(host time)" if row.grid is None else f"<<<{row.grid}, {row.block}>>>"


def _summary(rows: Sequence[Row], label: str | None) -> Iterator[str]:
    """Say the sums of both sides, what verified means, and whose times these are."""
    host = next((row for row in rows if row.grid is None and row.sum is not None), None)
    kernels = [row for row in rows if row.grid is not None and row.sum is not None]
    if host is not None:
        yield f"Sum on CPU: {format_sum(host.sum)} ({host.rung})"
    elif kernels:
        yield f"Sum on CPU: {format_sum(kernels[-1].expected)} (exact, NumPy)"
    if kernels:
        shown = kernels[-1]
        place = PLACES.get(shown.label or "", "device")
        yield f"Sum on {place}: {format_sum(shown.sum)} ({shown.kernel}, {LANGUAGES[shown.language]})"
    right = sum(row.verified for row in rows)
    worst = max((row for row in rows if row.bound), key=_share_of_bound, default=None)
    bound = ""
    if worst is not None and worst.error is not None and worst.bound is not None:
        bound = f"; largest error {worst.error:.2g}, rounding explains {worst.bound:.2g}"
    yield f"Verified: {right} of {len(rows)} sums against the exact one{bound}"
    if label == "engine":
        yield "Times are wall times of warpglass's engine on this CPU. They say nothing about a GPU's."


def _share_of_bound(row: Row) -> float:
    return (row.error or 0.0) / row.bound if row.bound else 0.0


def _itemsize(dtype: str) -> int:
    return int("".join(filter(str.isdigit, dtype))) // 8


def _line(console: Console, text: str, style: str | None = None) -> None:
    """Print one line as it is; what a user typed must not be read as markup."""
    console.print(Text(text, style=style or ""))
