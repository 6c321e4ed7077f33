"""The course notes' figures beside ours: times, steps, efficiencies, what is wrong in them.

Belongs here: pairing a bench's rows with the notes' and the views of the pairs. Times of ours are modelled,
on the notes' GPU and for their size only; efficiencies are those that the bench counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .. import devices
from ..records.bench import Record, Row
from ..records.course_notes import CourseNotes, NotedRow, NotedTable, Statement, course_notes
from .figures import format_ratio, format_seconds
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
    shown = [one for one in _COLUMNS if any(one.noted(row, table) is not None for row in table.rows)]
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
            noted, here = one.noted(row, table), one.ours(own, table, row)
            cells += [number(noted, one.text(noted)), number(here, one.text(here))]
        made.append((*cells, *_steps(previous, row, own)))
        if row.rung != "cpu_recursive":
            previous = row, own
    steps = () if table.size is None else (Column("step, notes", True), Column("ours", True))
    rows = tuple(cells if steps else cells[:-2] for cells in made)
    return DataTable(table.title, (*columns, *steps), rows)


def _steps(previous: tuple[NotedRow, Ours] | None, row: NotedRow, own: Ours) -> tuple[Cell, Cell]:
    if previous is None:
        return words(None), words(None)
    before, ours_before = previous
    noted = before.seconds / row.seconds
    here = ours_before.seconds / own.seconds if ours_before.seconds and own.seconds else None
    return number(noted, format_ratio(noted)), number(here, format_ratio(here))


class _Column:
    """One quantity of the notes' tables: its heading, theirs, ours, its text."""

    heading = ""

    def noted(self, row: NotedRow, table: NotedTable) -> float | None:
        """The notes' number."""
        raise NotImplementedError

    def ours(self, own: Ours, table: NotedTable, row: NotedRow) -> float | None:
        """Ours."""
        raise NotImplementedError

    def text(self, value: float | None) -> str:
        """As people read it."""
        return "-" if value is None else f"{value:.2f}"


class _Seconds(_Column):
    heading = "time"

    def noted(self, row: NotedRow, table: NotedTable) -> float | None:
        return row.seconds

    def ours(self, own: Ours, table: NotedTable, row: NotedRow) -> float | None:
        return own.seconds

    def text(self, value: float | None) -> str:
        return format_seconds(value)


class _Bandwidth(_Column):
    heading = "GiB/s"

    def noted(self, row: NotedRow, table: NotedTable) -> float | None:
        return row.gib_per_s

    def ours(self, own: Ours, table: NotedTable, row: NotedRow) -> float | None:
        if own.seconds is None or table.bytes_per_element is None:
            return None
        return table.bytes_per_element * table.size_of(row) / own.seconds / GIB


class _Host(_Column):
    heading = "host / GPU"

    def noted(self, row: NotedRow, table: NotedTable) -> float | None:
        return row.host_seconds / row.seconds if row.host_seconds else None

    def ours(self, own: Ours, table: NotedTable, row: NotedRow) -> float | None:
        return row.host_seconds / own.seconds if row.host_seconds and own.seconds else None


class _Loads(_Column):
    heading = "load %"

    def noted(self, row: NotedRow, table: NotedTable) -> float | None:
        return row.gld_efficiency

    def ours(self, own: Ours, table: NotedTable, row: NotedRow) -> float | None:
        return own.gld_efficiency


class _Stores(_Column):
    heading = "store %"

    def noted(self, row: NotedRow, table: NotedTable) -> float | None:
        return row.gst_efficiency

    def ours(self, own: Ours, table: NotedTable, row: NotedRow) -> float | None:
        return own.gst_efficiency


_COLUMNS: tuple[_Column, ...] = (_Seconds(), _Host(), _Bandwidth(), _Loads(), _Stores())


# ---------------------------------------------------------------------------------------- on a terminal
def print_notes(record: Record, console: Console) -> None:
    """Print what the notes say of a bench's ladder beside what the bench found, and what is wrong in them."""
    for key, notes in notes_of(record.ladder).items():
        console.print()
        console.print(Text(f"Course notes {key}: {notes.about}", style="bold"))
        for table in notes.table:
            ours = ours_of(record, table)
            console.print()
            console.print(Text(f"{table.title}; times of ours are modelled on {table.gpu}"))
            console.print(_rich(notes_table(table, ours)))
            if not any(one.seconds for one in ours.values()):
                size = table.size or table.rows[0].size
                again = f"warpglass bench {record.ladder} --size {size} --dtype {table.dtype}"
                console.print(Text(f"Ours: {again} --model {table.gpu} --notes", style="dim"))
        for line in statements(notes):
            console.print(Text(line))


def statements(notes: CourseNotes) -> Iterator[str]:
    """A line for every figure, erratum and misconception."""
    for heading, name in _SECTIONS:
        found: Sequence[Statement] = getattr(notes, name)
        if found:
            yield f"{heading}:"
        for one in found:
            right = "which is right" if one.right == one.says else f"right is {one.right}"
            yield f"  {one.of}: the notes say {one.says}; {right}"


def _rich(table: DataTable) -> Table:
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in table.columns:
        made.add_column(column.heading, justify="right" if column.number else "left", overflow="fold")
    for row in table.rows:
        made.add_row(*(cell.text for cell in row))
    return made
