"""A bench of several devices in words: time and speedup by number of devices."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.text import Text

from ..records.scaling import ScalingRecord, ScalingRow
from .figures import format_seconds
from .fitting_table import FittingTable
from .tables import Cell, Column, DataTable

_COLUMNS = (
    Column("operation"),
    Column("devices", True),
    Column("size", True),
    Column("type"),
    Column("time", True),
    Column("speedup", True),
    Column("ok"),
)


def print_scaling(record: ScalingRecord, console: Console) -> None:
    """Print the devices and the table."""
    console.print(f"Device: {record.device}", highlight=False)
    table = FittingTable(box=box.SIMPLE_HEAD, pad_edge=False)
    found = scaling_table(record)
    for column in found.columns:
        table.add_column(column.heading, justify="right" if column.number else "left")
    for row in found.rows:
        table.add_row(*(Text(cell.text) for cell in row))
    console.print(table)


def scaling_table(record: ScalingRecord) -> DataTable:
    """A line for each operation and number of devices."""
    return DataTable("Several devices", _COLUMNS, tuple(_cells(row) for row in record.rows))


def _cells(row: ScalingRow) -> tuple[Cell, ...]:
    return (
        Cell(row.operation),
        Cell(str(row.devices), row.devices),
        Cell(f"{row.size:,}", row.size),
        Cell(row.dtype),
        Cell(format_seconds(row.seconds), row.seconds),
        Cell(f"{row.speedup:.2f}", row.speedup),
        Cell("yes" if row.verified else "NO", None, "good" if row.verified else "bad"),
    )
