"""The source of a kernel with its counters line by line: `warpglass profile --lines`.

Belongs here: the columns of the listing and the marks on its worst lines. Lines that did nothing are shown
without numbers between those that did, so that a loop is seen as one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..host.source_lines import lines_of
from ..records.profile import LineProfile, Profile
from .fitting_table import FittingTable

Counters = Mapping[str, float]

_AROUND = 2  # lines without counters shown before the first and after the last
_GAP = 6  # longer stretches without counters are left out
_HEAT = " ▁▂▃▄▅▆▇█"
_NARROW = 100  # columns below which only the first lines of headings are used


@dataclass(frozen=True, slots=True)
class LineColumn:
    """A column: its cell's number on a line, whether more is worse, and from where on a line is marked."""

    heading: str
    value: Callable[[Counters], float]
    fine: float | None = None  # values above are marked; None: never
    cost: Callable[[Counters], float] | None = None  # decides the worst line; without it the value does

    @property
    def name(self) -> str:
        """The heading on one line."""
        return self.heading.replace("-\n", "").replace("/\n", "/").replace("\n", " ")

    def weight(self, counters: Counters) -> float:
        """How much a line has to do with it: what decides which is the worst."""
        return (self.cost or self.value)(counters)


def _sum(*names: str) -> Callable[[Counters], float]:
    return lambda counters: sum(counters.get(name, 0.0) for name in names)


def _over(a: Callable[[Counters], float], b: Callable[[Counters], float]) -> Callable[[Counters], float]:
    return lambda counters: a(counters) / b(counters) if b(counters) else 0.0


_KINDS = ("ld", "st", "atom", "red", "ldgsts")
_requests = _sum(*(f"l1tex__t_requests_pipe_lsu_mem_global_op_{kind}.sum" for kind in _KINDS))
_sectors = _sum(*(f"l1tex__t_sectors_pipe_lsu_mem_global_op_{kind}.sum" for kind in _KINDS))
_bytes = _sum(*(f"smsp__sass_data_bytes_mem_global_op_{kind}.sum" for kind in _KINDS))
_waves = _sum("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum")
_conflicts = _sum("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum")
_local = _sum(*(f"l1tex__t_sectors_pipe_lsu_mem_local_op_{kind}.sum" for kind in ("ld", "st")))
_inst = _sum("smsp__inst_executed.sum")
_divergent = _sum("smsp__sass_branch_targets_threads_divergent.sum")


def _wasted_share(counters: Counters) -> float:
    """The share of moved bytes that nobody asked for, in percent."""
    moved = 32 * _sectors(counters)
    return 100 * (moved - _bytes(counters)) / moved if moved else 0.0


COLUMNS = (
    LineColumn("inst", _inst),
    LineColumn("global\nreq", _requests),
    LineColumn("sect/\nreq", _over(_sectors, _requests)),
    LineColumn("wasted\n%", _wasted_share, 20.0, lambda counters: 32 * _sectors(counters) - _bytes(counters)),
    LineColumn("shared\nwaves", _waves),
    LineColumn("con-\nflicts", _conflicts, 0.0),
    LineColumn("local\nsect", _local, 0.0),
    LineColumn("diver-\ngent", _divergent, 0.0),
)


def print_lines(profile: Profile, console: Console) -> None:
    """Print the source of every file that a kernel's lines come from, with what each line did."""
    for file, group in groupby(profile.lines, key=lambda one: one.file):
        console.print()
        console.print(Text(_short_path(file), style="bold"))
        rows = list(group)
        columns = [one for one in COLUMNS if any(one.value(row.counters) for row in rows)]
        console.print(_table(rows, columns, lines_of(file), console.width))
    if profile.lines:
        note = (
            "inst: instructions of warps as in the PTX, drawn as a bar; ! marks what costs, !! the worst "
            "line of its column"
        )
        console.print(Text(note, style="dim"))
    else:
        console.print(Text("The kernel has no line information: compile with -lineinfo."))


def _short_path(file: str) -> str:
    """As seen from the current folder, where it lies in it."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def _table(
    rows: Sequence[LineProfile], columns: Sequence[LineColumn], source: Sequence[str], width: int
) -> Table:
    table = FittingTable(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold", width=width)
    table.add_column("line", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for column in columns:
        table.add_column(column.heading, justify="right", no_wrap=True)
    table.add_column("source", no_wrap=True, overflow="ellipsis", ratio=1)
    counted = {row.line: row.counters for row in rows}
    hottest = max(map(_inst, counted.values()), default=0.0)
    worst = {column.heading: max(map(column.weight, counted.values())) for column in columns}
    for line in _shown(sorted(counted), source):
        if line is None:
            table.add_row("...")
            continue
        text = Text(source[line - 1].expandtabs(4) if line <= len(source) else "")
        counters = counted.get(line)
        if counters is None:
            table.add_row(str(line), "", *("" for _ in columns), text, style="dim")
            continue
        heat = _HEAT[round((len(_HEAT) - 1) * _inst(counters) / hottest)] if hottest else ""
        cells = (_cell(column, counters, worst[column.heading]) for column in columns)
        table.add_row(str(line), Text(heat, style="yellow"), *cells, text)
    return table


def _cell(column: LineColumn, counters: Counters, worst: float) -> Text:
    value = column.value(counters)
    if not value:
        return Text("")
    text = short(value)
    if column.fine is None or value <= column.fine:
        return Text(text)
    if column.weight(counters) == worst:
        return Text(f"!! {text}", style="bold red")
    return Text(f"! {text}", style="red")


def _shown(counted: Sequence[int], source: Sequence[str]) -> Iterator[int | None]:
    """The lines to show; None stands for a stretch that is left out."""
    written = [number for number, text in enumerate(source, 1) if text.strip()] or counted
    first = min(line for line in (*written, counted[0]) if line >= counted[0] - _AROUND)
    last = max(line for line in (*written, counted[-1]) if line <= counted[-1] + _AROUND)
    previous = first - 1
    for line in (*counted, last):
        if line - previous > _GAP and previous >= first:
            yield None
            yield line
        else:
            yield from range(previous + 1, line + 1)
        previous = line


def short(value: float) -> str:
    """Return a count in at most six characters: 987, 12.3k, 4.5M; small fractions with a digit or two."""
    for unit, factor in (("G", 1e9), ("M", 1e6), ("k", 1e4)):
        if value >= factor:
            scaled = value / (1e3 if unit == "k" else factor)
            return f"{scaled:.1f}{unit}" if scaled < 100 else f"{scaled:.0f}{unit}"
    return f"{value:.0f}" if value == int(value) else f"{value:.3g}"
