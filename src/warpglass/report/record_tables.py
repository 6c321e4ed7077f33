"""The tables of records as data: a bench's rows, a profile's numbers and lines, a check's findings.

Belongs here: which columns a record has, and their cells. Layout is the business of who shows them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from ..records.bench import Record, Row
from ..records.check import Check, Finding, Place
from ..records.profile import LineProfile, Profile
from .bench import launch_text as bench_launch
from .bench_counters import COLUMNS as COUNTERS
from .bench_counters import full_name
from .check_source import short as short_path
from .figures import LANGUAGES, format_launch, format_ratio, format_seconds, format_sum
from .metrics import Definition
from .profile import format_number
from .profile_csv import number_of
from .profile_lines import COLUMNS as LINE_COLUMNS
from .profile_lines import LineColumn, short
from .tables import Cell, Column, DataTable, number, words

_TITLES = {"engine": "time on the engine", "gpu": "time on the GPU"}


def groups_of(record: Record) -> Iterator[tuple[str, tuple[Row, ...]]]:
    """The tables of a bench: their title, and their rows with the libraries' below."""
    for (table, as_written), group in groupby(record.rows, key=lambda row: (row.table, row.as_written)):
        rows = [*group, *(() if as_written else (row for row in record.peers if row.table == table))]
        yield rows[0].title + (", as written in the course notes" if as_written else ""), tuple(rows)


def bench_tables(record: Record) -> list[DataTable]:
    """A table for each of a bench's, with modelled times as further columns."""
    return [_with_modelled(bench_table(title, rows), rows) for title, rows in groups_of(record)]


def _with_modelled(table: DataTable, rows: Sequence[Row]) -> DataTable:
    """A table with the modelled time on every GPU that was asked for, and its interval."""
    gpus = dict.fromkeys(one.name for row in rows for one in row.modelled)
    headings = [
        Column(f"{heading} on {name}", True)
        for name in gpus
        for heading in ("modelled", "at least", "at most")
    ]
    made: list[tuple[Cell, ...]] = []
    for cells, row in zip(table.rows, rows, strict=True):
        times = {one.name: (one.seconds, one.low, one.high) for one in row.modelled}
        every = (time for name in gpus for time in times.get(name, (None, None, None)))
        made.append((*cells, *(number(time, format_seconds(time)) for time in every)))
    return DataTable(table.title, (*table.columns, *headings), tuple(made))


def bench_table(title: str, rows: Sequence[Row]) -> DataTable:
    """The rows of one table of a bench with their times, rates and counts."""
    label = next((row.label for row in rows if row.label in _TITLES), None)
    counted = [one for one in COUNTERS if one.known(rows)]
    shared = any(row.share_of_peak is not None for row in rows)
    noisy = any(row.noise is not None for row in rows)
    columns = [
        Column("id", True),
        Column("rung"),
        Column("kernel"),
        Column("language"),
        Column("launch"),
        Column(_TITLES.get(label or "", "time"), True),
        Column("step x", True),
        Column("total x", True),
        Column("GB/s", True),
        Column("GFLOP/s", True),
        *([Column("noise %", True)] if noisy else []),
        *([Column("% of peak", True)] if shared else []),
        *(Column(one.name, True) for one in counted),
        Column("right"),
    ]
    made: list[tuple[Cell, ...]] = []
    for place, row in enumerate(rows, 1):
        cells = [
            number(place, str(place)),
            words(row.rung),
            words(full_name(row)),
            words(LANGUAGES.get(row.language, row.language)),
            words(bench_launch(row)),
            number(row.seconds, format_seconds(row.seconds)),
            number(row.step_speedup, format_ratio(row.step_speedup)),
            number(row.cumulative_speedup, format_ratio(row.cumulative_speedup)),
            number(row.gb_per_s, format_ratio(row.gb_per_s)),
            number(row.gflop_per_s, format_ratio(row.gflop_per_s)),
            *([_percent(row.noise)] if noisy else []),
            *([_percent(row.share_of_peak)] if shared else []),
        ]
        for one in counted:
            value = one.value(row)
            cells.append(number(value, one.text(row)))
        made.append((*cells, _verdict(row)))
    return DataTable(title, tuple(columns), tuple(made))


def _percent(share: float | None) -> Cell:
    return number(share, "" if share is None else f"{100 * share:.1f}")


def modelled_table(title: str, rows: Sequence[Row]) -> DataTable | None:
    """What the rungs would take on GPUs by the model of kernel times; None where nobody asked for it."""
    columns = (
        *(Column("rung"), Column("language"), Column("modelled on")),
        *(Column(name, True) for name in ("time", "at least", "at most", "step x", "total x")),
        Column("limited by"),
    )
    made = tuple(
        (
            words(row.rung),
            words(LANGUAGES.get(row.language, row.language)),
            words(one.name),
            *(number(time, format_seconds(time)) for time in (one.seconds, one.low, one.high)),
            *(number(ratio, format_ratio(ratio)) for ratio in (one.step_speedup, one.cumulative_speedup)),
            words(one.limiter or one.failure),
        )
        for row in rows
        for one in row.modelled
    )
    return DataTable(f"{title}: modelled times, from counts", columns, made) if made else None


def _verdict(row: Row) -> Cell:
    if row.verified:
        return words("yes", "good")
    if row.failure is not None:
        return words(f"failed: {row.failure}", "bad")
    if row.index is None:
        return words(f"no: {format_sum(row.result)} for {format_sum(row.expected)}", "bad")
    return words(f"no: {row.wrong} wrong elements", "bad")


def profile_table(profile: Profile, chosen: Sequence[Definition]) -> DataTable:
    """The chosen numbers of a launch with how certain each is; those that are 0 as well."""
    rows: list[tuple[Cell, ...]] = []
    for one in sorted(chosen, key=lambda one: one.subject.place):
        if one.name not in profile.labels:
            continue
        value = number_of(profile, one)
        known = value if value == value else None
        text = format_number(value, one.unit)
        rows.append(
            (
                words(one.subject),
                words(one.name),
                number(known, text),
                words(profile.labels[one.name]),
                words(one.text),
            )
        )
    columns = (Column("subject"), Column("name"), Column("value", True), Column("label"), Column("meaning"))
    return DataTable(launch_of(profile), columns, tuple(rows))


def launch_of(one: Profile | Check) -> str:
    """A launch as in CUDA: kernel<<<grid, block, shared>>>."""
    return format_launch(one.kernel, one.grid, one.block, one.shared)


def line_columns(lines: Sequence[LineProfile]) -> list[LineColumn]:
    """The columns that say anything of some lines."""
    return [one for one in LINE_COLUMNS if any(one.value(line.counters) for line in lines)]


def lines_table(profile: Profile) -> DataTable:
    """The counters of every line that has some."""
    columns = line_columns(profile.lines)
    rows = tuple(
        (
            words(short_path(line.file)),
            number(line.line, str(line.line)),
            *(number(one.value(line.counters), short(one.value(line.counters)) or "0") for one in columns),
        )
        for line in profile.lines
    )
    headings = (Column("file"), Column("line", True), *(Column(one.name, True) for one in columns))
    return DataTable(f"{launch_of(profile)}: lines", headings, rows)


def findings_table(checks: Sequence[Check]) -> DataTable:
    """Every finding of some launches."""
    columns = tuple(map(Column, "severity kind place other thread other_thread array message hint".split()))
    rows = tuple(_finding_row(one) for check in checks for one in check.findings)
    titles = dict.fromkeys(launch_of(check) for check in checks)
    return DataTable(f"Findings in {', '.join(titles)}", columns, rows)


def _finding_row(one: Finding) -> tuple[Cell, ...]:
    array = f"{one.array}[{one.index}]" if one.array and one.index is not None else one.array
    return (
        words(one.severity, "bad" if one.severity == "error" else ""),
        words(one.kind),
        words(_place(one.source)),
        words(_place(one.other_source)),
        words(_thread(one.block, one.thread)),
        words(_thread(one.other_block, one.other_thread)),
        words(array),
        words(short_path(one.message)),
        words(short_path(one.hint)),
    )


def _place(place: Place | None) -> str:
    return short_path(str(place)) if place is not None else ""


def _thread(block: Sequence[int] | None, thread: Sequence[int] | None) -> str:
    if block is None or thread is None:
        return ""
    return f"block {tuple(block)} thread {tuple(thread)}"
