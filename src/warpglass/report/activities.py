"""nvprof's summary of a program: GPU activities and API calls, with times of the engine."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from ..records.activity import Activity
from .figures import format_seconds
from .fitting_table import FittingTable

_HEADINGS = ("Time(%)", "Time", "Calls", "Avg", "Min", "Max")
_NOTE = (
    "Times of the engine on this CPU say nothing about a GPU's. It works while its caller waits: a call that "
    "launches or copies takes the time of what it starts."
)


def print_activities(found: Sequence[Activity], console: Console) -> None:
    """Print the rows of each kind with their shares of its time."""
    table = FittingTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("Type", justify="right", no_wrap=True)
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("Name", overflow="fold")
    for kind, share, one in _rows(found):
        times = [format_seconds(seconds) for seconds in (one.total, one.mean, one.least, one.most)]
        name = Text(one.name)
        table.add_row(kind, f"{100 * share:.2f}%", times[0], str(one.calls), *times[1:], name)
    console.print(table)
    console.print()
    console.print(Text(_NOTE))


def activities_csv(found: Sequence[Activity]) -> str:
    """The rows in nvprof's columns, its row of units included."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(("Type", *_HEADINGS, "Name"))
    writer.writerow(("", "%", "ms", "", "ms", "ms", "ms", ""))
    last = ""
    for kind, share, one in _rows(found):
        last = kind.rstrip(":") or last
        times = [round(1e3 * seconds, 6) for seconds in (one.total, one.mean, one.least, one.most)]
        writer.writerow((last, round(100 * share, 2), times[0], one.calls, *times[1:], one.name))
    return text.getvalue()


def _rows(found: Sequence[Activity]) -> Iterator[tuple[str, float, Activity]]:
    """Each row with its kind, if it is the first of it, and its share of the kind's time."""
    for kind, group in groupby(found, key=lambda one: one.kind):
        members = list(group)
        whole = sum(one.total for one in members)
        for number, one in enumerate(members):
            yield f"{kind}:" if number == 0 else "", one.total / whole if whole else 0.0, one
