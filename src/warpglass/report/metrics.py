"""What counters and metrics are: the views of `warpglass metrics`.

Belongs here: definitions as data and their lists. The numbers of a launch are profile.py's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from textwrap import wrap

from rich.console import Console
from rich.text import Text

from ..errors import ArgumentError
from ..records.profile import Subject
from ..records.spelling import did_you_mean
from .tables import Column, DataTable, words

_LIST_WIDTH = 110  # columns from which a name and its text share a line

# What nvprof has and nobody can count: rates, shares of time, and what depends on when warps are scheduled.
_TIMED = re.compile(
    r"\w+_throughput|stall_\w+|\w+_utilization|\w+_replay_overhead|achieved_occupancy|(issued_)?ipc|"
    r"sm_efficiency|eligible_warps_per_cycle|\w+\.per_second|\w+__cycles_\w+\.\w+"
)

LABELS = {
    "exact": "follows from the kernel and its launch; equal to the hardware's",
    "ptx-level": "exact for the PTX; the machine code of ptxas may do otherwise here",
    "modelled": "derived from a model, of the machine code or of a cache",
    "measured": "read from a GPU by Nsight Compute",
}


@dataclass(frozen=True, slots=True)
class Definition:
    """What a number is. `formula` and `over` (the counters that it is divided by) belong to metrics only."""

    name: str
    text: str
    subject: Subject
    unit: str  # "" for plain numbers
    formula: str = ""
    counters: tuple[str, ...] = ()
    over: tuple[str, ...] = ()

    @property
    def nvprof(self) -> bool:
        """Whether it is a metric under a name of nvprof; the others are counters of Nsight Compute."""
        return bool(self.formula)


def find(names: Iterable[str], known: Mapping[str, Definition]) -> list[Definition]:
    """The definitions of these names; ArgumentError says of each unknown one which is nearest, or why not."""
    wanted = list(dict.fromkeys(names))
    problems = [_unknown(name, known) for name in wanted if name not in known]
    if problems:
        raise ArgumentError(
            f"no such counter or metric: {', '.join(problems)}; `warpglass metrics` lists all of them"
        )
    return [known[name] for name in wanted]


def _unknown(name: str, known: Mapping[str, Definition]) -> str:
    if _TIMED.fullmatch(name):
        return f"{name!r} (it needs the clock of a GPU, and is not counted)"
    return f"{name!r}{did_you_mean(name, known)}"


# ---------------------------------------------------------------------------------------- views
def print_definitions(known: Sequence[Definition], console: Console) -> None:
    """Print all names by subject, nvprof's before Nsight Compute's."""
    for subject, group in _by_subject(known):
        console.print(Text(subject, style="bold"))
        indent = 2 + max(len(one.name) for one in group) + 2
        for one in group:
            console.print(_entry(one, indent, console.width), soft_wrap=True)
        console.print()
    _print_labels(console)


def _by_subject(known: Sequence[Definition]) -> Iterator[tuple[str, list[Definition]]]:
    ordered = sorted(known, key=lambda one: (one.subject.place, not one.nvprof))
    for subject, group in groupby(ordered, key=lambda one: one.subject):
        yield str(subject), list(group)


def definitions_tables(known: Sequence[Definition]) -> list[DataTable]:
    """A table for each subject: what every number is, its unit, and what it is made of."""
    columns = tuple(map(Column, ("name", "name of", "unit", "what it is", "formula")))
    return [
        DataTable(
            subject,
            columns,
            tuple(
                (
                    words(one.name),
                    words("nvprof" if one.nvprof else "Nsight Compute"),
                    words(one.unit),
                    words(one.text),
                    words(one.formula),
                )
                for one in group
            ),
        )
        for subject, group in _by_subject(known)
    ]


def _entry(one: Definition, indent: int, width: int) -> Text:
    said = f"{one.text} [{one.unit}]" if one.unit else one.text
    if width < max(_LIST_WIDTH, indent + 30):
        lines = wrap(said, width - 6)
        return Text("\n").join([Text(f"  {one.name}", "cyan"), *(Text(f"      {line}") for line in lines)])
    first, *more = wrap(said, width - indent)
    text = Text(f"  {one.name}".ljust(indent), "cyan").append(first, "default")
    return Text("\n").join([text, *(Text(" " * indent + line) for line in more)])


def print_definition(one: Definition, known: Mapping[str, Definition], console: Console) -> None:
    """Print what one number is, what it is made of, and what is made of it."""
    console.print(Text(one.name, style="bold"))
    for key, value in _facts(one, known):
        lines = wrap(value, max(20, console.width - 14), break_long_words=False, break_on_hyphens=False)
        console.print(Text(f"  {key:<10}", "cyan").append(f"  {lines[0]}", "default"), soft_wrap=True)
        for line in lines[1:]:
            console.print(Text(" " * 14 + line), soft_wrap=True)
    console.print()
    _print_labels(console)


def _facts(one: Definition, known: Mapping[str, Definition]) -> Iterator[tuple[str, str]]:
    yield "is", one.text
    yield "unit", one.unit or "a plain number"
    yield "subject", one.subject
    yield "name of", "nvprof" if one.nvprof else "Nsight Compute"
    if one.formula:
        yield "formula", one.formula
        for name in dict.fromkeys(one.counters):
            yield "counter", f"{name}: {known[name].text}"
    used = [other.name for other in known.values() if one.name in other.counters]
    if used:
        yield "used by", ", ".join(used)


def _print_labels(console: Console) -> None:
    console.print(Text("A profile labels every number:", style="bold"))
    for label, meaning in LABELS.items():
        console.print(Text(f"  {label:<10}", "cyan").append(f" {meaning}", "default"), soft_wrap=True)


def definitions_json(known: Sequence[Definition]) -> str:
    """Return definitions as JSON text, under their names."""
    record = {one.name: {**asdict(one), "tool": "nvprof" if one.nvprof else "ncu"} for one in known}
    return json.dumps({"metrics": record, "labels": LABELS}, indent=1)
