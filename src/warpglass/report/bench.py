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

from ..ladders.view import Section, TextTable
from ..records.bench import Record, Row
from .bench_counters import full_name, print_counters
from .bench_modelled import print_modelled
from .bench_steps import print_steps
from .console import text_console, text_of
from .figures import LANGUAGES, LIBRARIES, format_bytes, format_ratio, format_seconds, format_sum
from .fitting_table import FittingTable

TIME_HEADINGS = {"engine": "engine time", "gpu": "GPU time"}
PLACES = {"engine": "engine", "gpu": "GPU"}
AS_WRITTEN = "_as_written"
_UNOPTIMISED = (
    "ran in quick code, which takes two to four times as long: optimising came to a limit, which "
    "WARPGLASS_OPTIMISE_TIMEOUT and WARPGLASS_OPTIMISE_MEMORY set."
)
_COLD = "Caches are cold."
_IN_A_ROW = "Short kernels here: each sample is of many in a row, with warm caches."


@dataclass(frozen=True, slots=True)
class _Column:
    """One column: its heading, its cell for (number, row), and its alignment."""

    heading: str
    cell: Callable[[int, Row], str | Text]
    justify: Literal["left", "right"] = "left"


def print_bench(record: Record, console: Console, sections: Sequence[Section] = ()) -> None:
    """Print all tables of a record, and below them what its ladder has to say."""
    _line(console, f"Device: {record.device}")
    for (table, as_written), group in groupby(record.rows, key=lambda row: (row.table, row.as_written)):
        peers = () if as_written else (row for row in record.peers if row.table == table)
        _print_table([*group, *peers], as_written, record, console)
    for section in sections:
        _print_section(section, console)


def render_text(record: Record, width: int, sections: Sequence[Section] = ()) -> str:
    """Return what print_bench prints as plain text of that width."""
    console = text_console(width)
    print_bench(record, console, sections)
    return text_of(console)


def _print_table(rows: Sequence[Row], as_written: bool, record: Record, console: Console) -> None:
    first = rows[0]
    console.print()
    _line(console, first.title + (", as written in the course notes" if as_written else ""), style="bold")
    _line(console, size_line(first))
    label = next((row.label for row in rows if row.label in TIME_HEADINGS), None)
    tables = [_make_table(rows, _wide_columns(rows, label))]
    if _full_width(tables[0], console) > console.width:
        tables = [_make_table(rows, columns) for columns in _narrow_columns(rows, label)]
    for table in tables:
        console.print()
        console.print(table)
    print_modelled(rows, console)
    print_counters(rows, record.counted_for, console)
    print_steps(rows, console)
    console.print()
    for text in _summary(rows, label):
        _line(console, text)
    if label == "gpu":
        _line(console, f"Times are of kernels{' and transfers' if record.transfers else ''} on the GPU.")
        for text in how_measured(rows, record.unwatched):
            _line(console, text)
    for number, row in enumerate(rows, 1):
        if row.failure is not None:
            _line(
                console, f"{number} {row.rung} ({LANGUAGES[row.language]}) failed: {row.failure}", style="red"
            )


def how_measured(rows: Sequence[Row], unwatched: str) -> Iterator[str]:
    """What is to be known of times on a GPU: caches, noise, its clock."""
    timed = [row for row in rows if row.label == "gpu" and row.noise is not None]
    if not timed:
        return
    yield (
        "Median of samples taken in turns, until it is known to 0.5 %; noise is their relative standard "
        "deviation. " + (_COLD if all(row.in_a_row == 1 for row in timed) else _IN_A_ROW)
    )
    held = sorted({reason for row in timed for reason in row.held_back_by})
    if held:
        names = ", ".join(dict.fromkeys(row.rung for row in timed if row.held_back_by))
        yield f"The clock was held back by {', '.join(held)} for {names}: their times may be too long."
    if unwatched:
        yield unwatched[0].upper() + unwatched[1:] + "."


def _print_section(section: Section, console: Console) -> None:
    console.print()
    _line(console, section.title, style="bold")
    for part in section.parts:
        if isinstance(part, TextTable):
            console.print(_text_table(part))
        else:
            _line(console, part)


def _text_table(text: TextTable) -> Table:
    table = _plain_table()
    numbers = len(text.headings) - text.texts
    for place, heading in enumerate(text.headings):
        table.add_column(heading, justify="right" if place < numbers else "left", overflow="fold")
    for row in text.rows:
        table.add_row(*row)
    return table


def _plain_table() -> Table:
    return FittingTable(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")


def _full_width(table: Table, console: Console) -> int:
    return Measurement.get(console, console.options.update(width=10_000), table).maximum


def _make_table(rows: Sequence[Row], columns: Sequence[_Column]) -> Table:
    table = _plain_table()
    for column in columns:
        table.add_column(column.heading, justify=column.justify, overflow="fold")
    previous: Row | None = None
    for number, row in enumerate(rows, 1):
        if (
            previous is not None
            and (row.grid is not None or row.language in LIBRARIES)
            and _group(row) != _group(previous)
        ):
            table.add_row()
        table.add_row(*(column.cell(number, row) for column in columns))
        previous = row
    return table


def _group(row: Row) -> str:
    """Rows of one language stand together, and so do those of all libraries."""
    return "library" if row.language in LIBRARIES else row.language


def size_line(row: Row) -> str:
    """What was computed on: size, element type, bytes, and where partial sums are added."""
    text = row.size_text
    if not text:
        text = f"{row.size} x {row.dtype} ({format_bytes(int(row.size * _itemsize(row.dtype)))})"
    finals = {
        "host": "; partial sums added on the host",
        "launch": "; partial sums added by further launches",
    }
    return f"{'Size' if row.size_text else 'Array size'}: {text}{finals.get(row.final, '')}"


def _wide_columns(rows: Sequence[Row], label: str | None) -> list[_Column]:
    heading = TIME_HEADINGS.get(label or "", "time")
    columns = _run_columns(rows, heading, full_name)
    return [*columns, *_speed_columns(rows), _verified()]


def _narrow_columns(rows: Sequence[Row], label: str | None) -> list[list[_Column]]:
    heading = TIME_HEADINGS.get(label or "", "time").replace(" ", "\n")
    run = _run_columns(rows, heading, lambda row: row.rung.removesuffix(AS_WRITTEN))
    number, *_, kernel, language = run
    return [[*run, _verified()], [number, kernel, language, *_speed_columns(rows)]]


def _run_columns(rows: Sequence[Row], heading: str, kernel: Callable[[Row], str]) -> list[_Column]:
    """What ran; the column of sums stands only where results are one number."""
    columns = [
        _Column("id", lambda number, _: str(number), "right"),
        _Column(heading, lambda _, row: format_seconds(row.seconds), "right"),
    ]
    if any(row.sum is not None for row in rows):
        columns.append(_Column("sum", lambda _, row: format_sum(row.sum), "right"))
    if any(row.launches > 1 for row in rows):
        columns.append(_Column("launches", lambda _, row: str(row.launches or "-"), "right"))
    if any(row.transfer_seconds is not None for row in rows):
        columns.append(_Column("transfers", lambda _, row: format_seconds(row.transfer_seconds), "right"))
    return [
        *columns,
        _Column("<<<grid,block>>>", lambda _, row: launch_text(row), "right"),
        _Column("kernel", lambda _, row: kernel(row)),
        _Column("lang", lambda _, row: LANGUAGES[row.language]),
    ]


def _speed_columns(rows: Sequence[Row]) -> list[_Column]:
    columns = [
        _Column("step x", lambda _, row: format_ratio(row.step_speedup), "right"),
        _Column("total x", lambda _, row: format_ratio(row.cumulative_speedup), "right"),
        _Column("GB/s", lambda _, row: format_ratio(row.gb_per_s), "right"),
    ]
    if any(row.gflop_per_s for row in rows):
        columns.append(_Column("GFLOP/s", lambda _, row: format_ratio(row.gflop_per_s), "right"))
    if any(row.noise is not None for row in rows):
        columns.append(_Column("noise %", lambda _, row: _percent(row.noise), "right"))
    if any(row.share_of_peak is not None for row in rows):
        columns.append(_Column("% of peak", lambda _, row: _percent(row.share_of_peak), "right"))
    return columns


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"


def _verified() -> _Column:
    def cell(_: int, row: Row) -> Text:
        if row.verified:
            return Text("yes", style="green")
        return Text("no" if row.failure is None else "-", style="bold red")

    return _Column("ok", cell)


def launch_text(row: Row) -> str:
    """What stands between <<< and >>>; whose time it is, where nothing is launched."""
    if row.grid is None or row.block is None:
        return "(library)" if row.label == "gpu" else "(host time)"
    return f"<<<{_extents(row.grid)}, {_extents(row.block)}>>>"


def _extents(extents: int | tuple[int, ...]) -> str:
    return "x".join(map(str, extents)) if isinstance(extents, tuple) else str(extents)


def _summary(rows: Sequence[Row], label: str | None) -> Iterator[str]:
    """Say the sums of both sides, what verified means, and whose times these are."""
    own = [row for row in rows if row.language not in LIBRARIES]
    host = next((row for row in own if row.grid is None and row.sum is not None), None)
    kernels = [row for row in rows if row.grid is not None and row.sum is not None]
    if host is not None:
        yield f"Sum on CPU: {format_sum(host.sum)} ({host.rung})"
    elif kernels:
        yield f"Sum on CPU: {format_sum(kernels[-1].expected)} (exact, NumPy)"
    if kernels:
        shown = kernels[-1]
        place = PLACES.get(shown.label or "", "device")
        yield f"Sum on {place}: {format_sum(shown.sum)} ({full_name(shown)}, {LANGUAGES[shown.language]})"
    right = sum(row.verified for row in rows)
    worst = max((row for row in own if row.bound), key=_share_of_bound, default=None)
    bound = ""
    if worst is not None and worst.error is not None and worst.bound is not None:
        bound = f"; largest error {worst.error:.2g}, rounding explains {worst.bound:.2g}"
    judged = "sums against the exact one" if kernels else "results against the true one"
    yield f"Verified: {right} of {len(rows)} {judged}{bound}"
    yield from filter(None, map(_wrong, rows))
    if label == "engine":
        yield "Times are wall times of warpglass's engine on this CPU. They say nothing about a GPU's."
    slow = ", ".join(dict.fromkeys(row.rung for row in rows if row.unoptimised))
    if slow:
        yield f"{slow} {_UNOPTIMISED}"


def _wrong(row: Row) -> str | None:
    """What is wrong with a result of many elements."""
    if row.verified or row.failure is not None or row.index is None:
        return None
    place = f"{row.array}[{', '.join(map(str, row.index))}]"
    return (
        f"{row.rung} ({LANGUAGES[row.language]}): {row.wrong} wrong elements, as {place} = "
        f"{format_sum(row.result)}, right is {format_sum(row.expected)}"
    )


def _share_of_bound(row: Row) -> float:
    return (row.error or 0.0) / row.bound if row.bound else 0.0


def _itemsize(dtype: str) -> int:
    return int("".join(filter(str.isdigit, dtype)) or 0) // 8


def _line(console: Console, text: str, style: str | None = None) -> None:
    """Print one line as it is; what a user typed must not be read as markup."""
    console.print(Text(text, style=style or ""))
