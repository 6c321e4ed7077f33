"""The result of `warpglass run`: one launch, its time, and the sum of every array afterwards."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from rich.text import Text

from .bench import TIME_HEADINGS
from .console import stdout_console
from .figures import format_seconds, format_sum


@dataclass(frozen=True, slots=True)
class RunReport:
    """What one launch did; `sums` pairs each array argument, as typed, with the sum of its elements."""

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    device: str
    label: str
    seconds: float
    sums: tuple[tuple[str, float | int], ...]


def print_run(report: RunReport, *, as_json: bool) -> None:
    """Print the report for people or as JSON."""
    if as_json:
        sums = [{"argument": text, "sum": value} for text, value in report.sums]
        print(json.dumps({**asdict(report), "sums": sums}, indent=1))
        return
    console = stdout_console()
    shape = ", ".join("x".join(map(str, extents)) for extents in (report.grid, report.block))
    lines = [
        f"Device: {report.device}",
        f"Kernel: {report.kernel}<<<{shape}>>>",
        f"{TIME_HEADINGS[report.label].capitalize()}: {format_seconds(report.seconds)}",
        *(f"Sum of {text}: {format_sum(value)}" for text, value in report.sums),
    ]
    for line in lines:
        console.print(Text(line))
