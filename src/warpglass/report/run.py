"""The result of `warpglass run`: one launch, its time, and the sum of every array afterwards."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.text import Text

from .bench import TIME_HEADINGS
from .figures import format_seconds, format_sum


@dataclass(frozen=True, slots=True)
class RunReport:
    """What one launch did; `sums` has of each array its name, how it was typed, the sum of its elements."""

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    device: str
    label: str
    seconds: float
    sums: tuple[tuple[str, str, float | int], ...]


def run_json(report: RunReport) -> str:
    """Return the report as JSON text."""
    sums = [{"name": name, "argument": text, "sum": value} for name, text, value in report.sums]
    return json.dumps({**asdict(report), "sums": sums}, indent=1)


def print_run(report: RunReport, console: Console) -> None:
    """Print the report for people."""
    shape = ", ".join("x".join(map(str, extents)) for extents in (report.grid, report.block))
    heading = TIME_HEADINGS[report.label]
    lines = [
        f"Device: {report.device}",
        f"Kernel: {report.kernel}<<<{shape}>>>",
        f"{heading[0].upper()}{heading[1:]}: {format_seconds(report.seconds)}",
        *(f"Sum of {name} ({text}): {format_sum(value)}" for name, text, value in report.sums),
    ]
    for line in lines:
        console.print(Text(line))
