"""The course notes' figures beside ours: times, steps, efficiencies, what is wrong in them.

Belongs here: pairing a bench's rows with the notes' and the views of the pairs. Times of ours are modelled,
on the notes' GPU and for their size only; efficiencies are those that the bench counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .. import devices
from ..records.bench import Record, Row
from ..records.course_notes import CourseNotes, NotedRow, NotedTable, Statement, course_notes
from .figures import format_ratio, format_seconds
from .fitting_table import FittingTable
from .tables import Cell, Column, DataTable, number, words

GIB = 2**30
_SECTIONS = (("Figures", "figure"), ("Errata", "erratum"), ("Misconceptions", "misconception"))


@dataclass(frozen=True, slots=True)
class Ours:
    """What is known here of a row of the notes: modelled seconds on its GPU, counted efficiencies."""

    seconds: float | None = None
    gld_efficiency: float | None = None
    gst_efficiency: float | None = None


def notes_of(ladder: str) -> dict[str, CourseNotes]:
    """The sets of notes that have a ladder's kernels, by number."""
    return {key: one for key, one in course_notes().items() if one.ladder == ladder}


def notes_title(key: str, notes: CourseNotes) -> str:
    """What a set of notes is called."""
    return f"Course notes {key}: {notes.about}"


def ours_of(record: Record, table: NotedTable) -> dict[str, Ours]:
    """What a bench has of a table's rungs: of the same element type, times of the same size too."""
    found: dict[str, Ours] = {}
    for row in record.rows:
        noted = next((one for one in table.rows if one.rung == row.rung), None)
        if noted is None or row.as_written or row.rung in found or row.dtype != table.dtype:
            continue
        metrics = row.metrics or {}
        seconds = _modelled(row, table.gpu) if row.size == table.size_of(noted) else None
        if record.counted_for == devices.get(table.gpu).name:  # efficiencies are those of a GPU's rules
            loads, stores = metrics.get("gld_efficiency"), metrics.get("gst_efficiency")
        else:
            loads = stores = None
        found[row.rung] = Ours(seconds, loads, stores)
    return found


def _modelled(row: Row, gpu: str) -> float | None:
    return next((one.seconds for one in row.modelled if one.device == gpu), None)


def notes_table(table: NotedTable, ours: Mapping[str, Ours]) -> DataTable:
    """The notes' table with ours beside; `ours` by the rung, or by RUNG/SIZE where rows differ in size."""
    shown = [one for one in _QUANTITIES if any(one.noted(row) is not None for row in table.rows)]
    columns = [Column("rung")]
    if any(row.size for row in table.rows):
        columns.append(Column("elements", True))
    for one in shown:
        columns += [Column(f"{one.heading}, notes", True), Column("ours", True)]
    made: list[tuple[Cell, ...]] = []
    previous: tuple[NotedRow, Ours] | None = None
    for row in table.rows:
        own = ours.get(f"{row.rung}/{row.size}") or ours.get(row.rung) or Ours()
        cells = [words(row.rung), *([number(row.size, str(row.size))] if row.size else [])]
        for one in shown:
            noted, here = one.noted(row), one.ours(row, own, table)
            cells += [number(noted, one.text(noted)), number(here, one.text(here))]
        made.append((*cells, *_steps(previous, row, own)))
        if row.rung != "cpu_recursive":
            previous = row, own
    steps = () if table.size is None else (Column("step, notes", True), Column("ours", True))
    rows = tuple(cells if steps else cells[:-2] for cells in made)
    title = f"{table.title}; times of ours are modelled on {table.gpu}"
    return DataTable(title, (*columns, *steps), rows)


def _steps(previous: tuple[NotedRow, Ours] | None, row: NotedRow, own: Ours) -> tuple[Cell, Cell]:
    if previous is None:
        return words(None), words(None)
    before, ours_before = previous
    noted = before.seconds / row.seconds
    here = ours_before.seconds / own.seconds if ours_before.seconds and own.seconds else None
    return number(noted, format_ratio(noted)), number(here, format_ratio(here))


def _ratio(above: float | None, below: float | None) -> float | None:
    return above / below if above and below else None


def _bandwidth(row: NotedRow, own: Ours, table: NotedTable) -> float | None:
    moved = table.bytes_per_element and table.bytes_per_element * table.size_of(row) / GIB
    return _ratio(moved, own.seconds)


def _two_digits(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


@dataclass(frozen=True, slots=True)
class _Quantity:
    """One quantity of the notes' tables: its heading, theirs, ours, its text."""

    heading: str
    noted: Callable[[NotedRow], float | None]
    ours: Callable[[NotedRow, Ours, NotedTable], float | None]
    text: Callable[[float | None], str] = _two_digits


_QUANTITIES = (
    _Quantity("time", lambda row: row.seconds, lambda row, own, table: own.seconds, format_seconds),
    _Quantity(
        "host / GPU",
        lambda row: _ratio(row.host_seconds, row.seconds),
        lambda row, own, table: _ratio(row.host_seconds, own.seconds),
    ),
    _Quantity("GiB/s", lambda row: row.gib_per_s, _bandwidth),
    _Quantity("load %", lambda row: row.gld_efficiency, lambda row, own, table: own.gld_efficiency),
    _Quantity("store %", lambda row: row.gst_efficiency, lambda row, own, table: own.gst_efficiency),
)


# ---------------------------------------------------------------------------------------- on a terminal
def print_notes(record: Record, console: Console) -> None:
    """Print what the notes say of a bench's ladder beside what the bench found, and what is wrong in them."""
    for key, notes in notes_of(record.ladder).items():
        console.print()
        console.print(Text(notes_title(key, notes), style="bold"))
        for table in notes.table:
            ours = ours_of(record, table)
            shown = notes_table(table, ours)
            console.print()
            console.print(Text(shown.title))
            console.print(_rich(shown))
            if remark := how_to_have_ours(record, table, ours):
                console.print(Text(remark, style="dim"))
        for heading, sentences in statements_of(notes):
            for line in (f"{heading}:", *(f"  {one}" for one in sentences)):
                console.print(Text(line))


def how_to_have_ours(record: Record, table: NotedTable, ours: Mapping[str, Ours]) -> str:
    """The command that models a table's times, "" if they are there."""
    if any(one.seconds for one in ours.values()):
        return ""
    size = table.size or table.rows[0].size
    again = f"warpglass bench {record.ladder} --size {size} --dtype {table.dtype}"
    return f"Ours: {again} --model {table.gpu} --notes"


def statements_of(notes: CourseNotes) -> list[tuple[str, list[str]]]:
    """Figures, errata and misconceptions, of each kind under its heading a sentence for every one."""
    found: list[tuple[str, list[str]]] = []
    for heading, name in _SECTIONS:
        several: Sequence[Statement] = getattr(notes, name)
        if several:
            found.append((heading, [_sentence(one) for one in several]))
    return found


def _sentence(one: Statement) -> str:
    right = "which is right" if one.right == one.says else f"right is {one.right}"
    return f"{one.of}: the notes say {one.says}; {right}"


def _rich(table: DataTable) -> Table:
    made = FittingTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in table.columns:
        made.add_column(column.heading, justify="right" if column.number else "left", overflow="fold")
    for row in table.rows:
        made.add_row(*(cell.text for cell in row))
    return made
