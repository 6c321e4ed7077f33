"""A bench's whole programs: modelled kernels, launches and copies beside what the host takes.

Belongs here: the table of `warpglass bench --whole`. Times of the GPU are modelled; the host's is that of
this machine, as the course notes compare theirs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from .. import devices
from ..devices import Device
from ..models.whole_program import WholeTime, copies_of, whole_time
from ..records.bench import Record, Row
from .bench_counters import full_name
from .figures import LANGUAGES, format_bytes, format_ratio, format_seconds
from .fitting_table import FittingTable


def print_whole(record: Record, console: Console) -> None:
    """Print a table for every GPU and table of a record that has modelled times."""
    for _, group in groupby(record.rows, key=lambda row: (row.table, row.as_written)):
        rows = list(group)
        for name in dict.fromkeys(one.device for row in rows for one in row.modelled):
            device = devices.get(name)
            console.print()
            console.print(Text(f"{rows[0].title}: whole programs on {device.name} (modelled)", style="bold"))
            console.print(Text(_copies_text(rows, device)))
            console.print(_table(rows, device))


def whole_of(row: Row, device: Device, *, pinned: bool = True) -> WholeTime | None:
    """The whole time of a row's program on a GPU; None where its kernels have none."""
    modelled = next((one.seconds for one in row.modelled if one.device == device.key), None)
    if modelled is None or row.copied is None:
        return None
    return whole_time(device, modelled, row.launches, *row.copied, pinned=pinned)


def _copies_text(rows: Sequence[Row], device: Device) -> str:
    copies = copies_of(device)
    if copies is None:
        return "The bandwidth between this GPU and its host is not known."
    copied = next((row.copied for row in rows if row.copied), (0, 0))
    there, back = (format_bytes(size) for size in copied)
    how = "measured" if copies.measured else "derived from its link"
    return (
        f"{there} go to the GPU and {back} come back, from pinned memory at {copies.pinned:.3g} GB/s, "
        f"else at {copies.pageable:.3g} ({how})."
    )


def _host(rows: Sequence[Row]) -> Row | None:
    """The host's fastest version of the problem."""
    timed = [row for row in rows if row.label == "host" and row.grid is None and row.seconds]
    return min(timed, key=lambda row: row.seconds or 0.0, default=None)


def _table(rows: Sequence[Row], device: Device) -> Table:
    host = _host(rows)
    beside = f"{host.rung} here / whole" if host else ""
    table = FittingTable(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("id", justify="right")
    table.add_column("kernel", overflow="fold")
    table.add_column("lang", no_wrap=True)
    for heading in ("kernels", "launches", "copies", "whole", "pageable", *([beside] if host else [])):
        table.add_column(heading, justify="right")
    for number, row in enumerate(rows, 1):
        whole, paged = whole_of(row, device), whole_of(row, device, pinned=False)
        if whole is None or paged is None:
            continue
        cells = (whole.kernels, whole.launches, whole.to_device + whole.to_host, whole.seconds, paged.seconds)
        ratio = host.seconds / whole.seconds if host and host.seconds else None
        table.add_row(
            str(number),
            full_name(row),
            LANGUAGES[row.language],
            *map(format_seconds, cells),
            *([format_ratio(ratio)] if host else []),
        )
    return table
