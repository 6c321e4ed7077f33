"""A bench's modelled times: what its rungs would take on GPUs that are not here.

Belongs here: one table for each table of the ladder, beside the times of the device that ran. The word
"modelled" and the interval stand with every time; reasons why there is none stand below.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..records.bench import Row
from ..records.kernel_time import ModelledTime
from .bench_counters import full_name
from .figures import LANGUAGES, format_ratio, format_seconds
from .fitting_table import FittingTable
from .kernel_time import interval

_HEADING = "Modelled times, from counts; nine of ten kernels take a time within the interval"


def print_modelled(rows: Sequence[Row], console: Console) -> None:
    """Print times, steps and totals on every GPU that was asked for; nothing where none was."""
    kernels = [(number, row) for number, row in enumerate(rows, 1) if row.modelled]
    if not kernels:
        return
    names = list(dict.fromkeys((one.device, one.name) for _, row in kernels for one in row.modelled))
    console.print()
    console.print(Text(_HEADING, style="bold"))
    for device, name in names:
        console.print()
        console.print(_table(kernels, device, name))
    for reason in _reasons(kernels):
        console.print(Text(reason))


def _table(kernels: Sequence[tuple[int, Row]], device: str, name: str) -> Table:
    table = FittingTable(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("id", justify="right")
    table.add_column(f"modelled on {name}", overflow="fold")
    table.add_column("lang", no_wrap=True)
    for heading in ("time", "interval", "step x", "total x"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("limited by", overflow="fold")
    for number, row in kernels:
        one = next((one for one in row.modelled if one.device == device), None)
        if one is not None:
            table.add_row(str(number), full_name(row), LANGUAGES[row.language], *_cells(one))
    return table


def _cells(one: ModelledTime) -> tuple[str, ...]:
    if one.seconds is None:
        return ("-", "-", "-", "-", "not modelled")
    return (
        format_seconds(one.seconds),
        interval(one),
        format_ratio(one.step_speedup),
        format_ratio(one.cumulative_speedup),
        one.limiter,
    )


def _reasons(kernels: Sequence[tuple[int, Row]]) -> list[str]:
    """Why rungs have no time, each reason once."""
    found: dict[str, list[str]] = {}
    for _, row in kernels:
        for one in row.modelled:
            if one.failure and row.rung not in found.setdefault(one.failure, []):
                found[one.failure].append(row.rung)
    return [f"Not modelled: {', '.join(rungs)}: {reason}" for reason, rungs in found.items()]
