"""A sweep in words: its table, what failed and why, the best configuration; CSV and Parquet of the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.text import Text

from ..errors import ArgumentError, PackageError
from ..records.sweep import SweepRecord, SweepRow
from .console import text_console, text_of
from .figures import format_seconds
from .fitting_table import FittingTable
from .tables import Cell, Column, DataTable, csv_text, number, words

_TEXTS = ("device", "label", "findings")  # numbers of a row that are none
_MOST_COLUMNS = 6  # of numbers in a table; CSV has all
_MOST_ROWS = 200


def print_sweep(record: SweepRecord, console: Console, chosen: Sequence[str] = ()) -> None:
    """Print a line for each cell with the chosen numbers (all, if they are few), then what went wrong."""
    for name in chosen:
        record.check_number(name)
    numbers = tuple(chosen) or tuple(name for name in record.numbers if name not in _TEXTS)[:_MOST_COLUMNS]
    names = {row.name for row in record.rows}
    models = {row.model for row in record.rows}
    table = FittingTable(box=box.SIMPLE_HEAD, pad_edge=False)
    if len(names) > 1:
        table.add_column("kernel", overflow="fold")
    axes = [axis for axis in record.axes if axis != "model" or len(models) == 1]
    for axis in axes:
        table.add_column(axis, justify="right")
    if len(models) > 1:
        table.add_column("model")
    for name in numbers:
        table.add_column("time" if name == "seconds" else name, justify="right", overflow="fold")
    table.add_column("ok")
    for row in record.rows[:_MOST_ROWS]:
        cells = [*([row.name] if len(names) > 1 else []), *(_plain(row.axes.get(axis)) for axis in axes)]
        cells += [row.model] if len(models) > 1 else []
        cells += [shown(name, row.numbers.get(name)) for name in numbers]
        table.add_row(*cells, "yes" if row.status == "done" else row.status)
    console.print(table)
    if len(record.rows) > _MOST_ROWS:
        console.print(f"... and {len(record.rows) - _MOST_ROWS} rows more; --csv or --json has them all")
    _print_failures(record, console)


def _print_failures(record: SweepRecord, console: Console) -> None:
    counts = Counter(row.status for row in record.rows)
    console.print(
        f"{len(record.rows)} cells: " + ", ".join(f"{count} {status}" for status, count in counts.items())
    )
    texts: dict[str, list[SweepRow]] = {}
    for row in record.rows:
        if row.status != "done":
            texts.setdefault(row.text or str(row.numbers.get("findings", "")), []).append(row)
    for text, rows in texts.items():
        more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
        console.print(Text(f"{_where(rows[0])}{more}: {text}"))


def print_best(record: SweepRecord, number: str, largest: bool, by: Sequence[str], console: Console) -> None:
    """Print the best row for each value of `by`."""
    for row in record.best(number, largest, by):
        group = ", ".join(f"{name} {record.value(row, name)}" for name in by)
        console.print(Text(f"Best {number} for {group}: {shown(number, row.numbers[number])}, {_where(row)}"))


def _where(row: SweepRow) -> str:
    axes = ", ".join(f"{name}={value}" for name, value in row.axes.items())
    return f"{row.name} ({axes})" if axes else row.name


def shown(name: str, value: Any) -> str:
    """A number of a row for people; times with their unit."""
    if value is None:
        return "-"
    if name.rpartition(".")[2] == "seconds" and isinstance(value, (int, float)):
        return format_seconds(value)
    if isinstance(value, float):
        plain = value.is_integer() or abs(value) >= 1e3
        return f"{value:,.0f}" if plain and abs(value) < 1e15 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _plain(value: object) -> str:
    return "-" if value is None else str(value)


def sweep_text(record: SweepRecord, width: int) -> str:
    """The table as plain text."""
    console = text_console(width)
    print_sweep(record, console)
    return text_of(console) + "\n"


def columns_of(record: SweepRecord) -> tuple[tuple[str, ...], list[Mapping[str, Any]]]:
    """Names of columns and rows of a flat table; a number that is called like an axis gets `_result`."""
    own = ("name", *record.axes, *(() if "model" in record.axes else ("model",)), "status")
    last = ("text", "cell_seconds")
    named = {name: f"{name}_result" if name in (*own, *last) else name for name in record.numbers}
    rows: list[Mapping[str, Any]] = []
    for row in record.rows:
        first = {"name": row.name, "model": row.model, **row.axes, "status": row.status}
        numbers = {named[name]: value for name, value in row.numbers.items()}
        rows.append({**first, **numbers, "text": row.text, "cell_seconds": row.seconds})
    return (*own, *named.values(), *last), rows


def sweep_csv(record: SweepRecord) -> str:
    """A line for each cell, a column for each axis and number."""
    return csv_text([sweep_table(record)])


def sweep_table(record: SweepRecord) -> DataTable:
    """All cells with all their numbers, as `columns_of` names them."""
    names, rows = columns_of(record)
    kinds = {name: [row[name] for row in rows if row.get(name) is not None] for name in names}
    columns = tuple(Column(name, bool(kinds[name]) and all(map(_is_number, kinds[name]))) for name in names)
    cells = tuple(tuple(_cell(name, row.get(name)) for name in names) for row in rows)
    return DataTable(f"Sweep of {', '.join(dict.fromkeys(row.name for row in record.rows))}", columns, cells)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _cell(name: str, value: Any) -> Cell:
    if _is_number(value):
        return number(value, shown(name, value))
    return words(None if value is None else str(value))


def write_parquet(record: SweepRecord, path: Path) -> None:
    """Write the same table as a Parquet file; columns of mixed kinds become texts."""
    try:
        from pyarrow import (  # pyright: ignore[reportMissingImports]
            ArrowInvalid,
            ArrowTypeError,
            array,
            parquet,
            table,
        )
    except ImportError:
        raise PackageError("Parquet files need pyarrow: pip install 'warpglass[sweep]'") from None
    names, rows = columns_of(record)
    columns: dict[str, Any] = {}
    for name in names:
        values = [row.get(name) for row in rows]
        try:
            columns[name] = array(values)
        except (ArrowInvalid, ArrowTypeError):
            columns[name] = array([None if value is None else str(value) for value in values])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(table(columns), path)
    except OSError as problem:
        raise ArgumentError(f"{path} cannot be written: {problem.strerror or problem}") from None
