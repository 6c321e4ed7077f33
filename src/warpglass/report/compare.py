"""What changed from one profile to another: `warpglass compare`.

Belongs here: pairing launches, ordering the changes, and their views. A change is relative to the first
profile; what got worse comes first, the largest change before smaller ones.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf, isfinite

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..errors import ArgumentError
from ..records.profile import Profile
from .compare_bench import print_limit
from .fitting_table import FittingTable
from .kernel_time import verdict
from .metrics import Definition
from .profile import format_number, launch_text
from .profile_csv import number_of
from .tables import Cell, Column, DataTable, Tone, number, words

WORSE, OTHER, BETTER = "worse", "", "better"
_STYLES = {WORSE: "red", OTHER: "", BETTER: "green"}
_WIDE = 100  # columns from which there is room for the difference and the ratio
_SHARES = ("%", "byte/sector", "byte/wavefront")
_CAPACITIES = (
    *("launch__occupancy_limit", "sm__maximum_warps"),
    *("smsp__thread_inst_executed_per", "smsp__thread_inst_executed_pred_on_per"),
)
_SHAPE = (  # what the launch asks for
    *("launch__grid_size", "launch__block_size", "launch__thread_count", "smsp__warps_launched.sum"),
    "launch__waves_per_multiprocessor",
)
_NEUTRAL = "Floating-point operations"  # more or fewer of them is neither good nor bad


@dataclass(frozen=True, slots=True)
class Change:
    """One number that differs. `share` is the change relative to `before`, infinite if that is 0."""

    name: str
    unit: str
    before: float
    after: float
    verdict: str

    @property
    def share(self) -> float:
        """The relative change, with its sign."""
        return (self.after - self.before) / self.before if self.before else inf

    def past(self, limit: float | None) -> bool:
        """Whether it is for the worse, and by more than the limit."""
        return limit is not None and self.verdict == WORSE and abs(self.share) > limit


@dataclass(frozen=True, slots=True)
class Pair:
    """Two launches: what is different about them, the numbers that changed, how many were compared, and which
    is faster.
    """

    before: str
    after: str
    differences: tuple[str, ...]
    changes: tuple[Change, ...]
    compared: int
    verdict: str = ""  # on the modelled times


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything about two files: `gone` and `new` are launches of the first and the second only.

    `limit` is the largest relative change for the worse that is allowed, None for any.
    """

    pairs: tuple[Pair, ...]
    gone: tuple[str, ...]
    new: tuple[str, ...]
    limit: float | None

    @property
    def past_limit(self) -> bool:
        """Whether something got worse by more than was allowed, or a launch is no longer there."""
        worse = any(change.past(self.limit) for pair in self.pairs for change in pair.changes)
        return worse or (self.limit is not None and bool(self.gone))

    @property
    def unpaired(self) -> tuple[str, ...]:
        """The launches of one file only, in words."""
        first = (f"{text} is only in the first file" for text in self.gone)
        return (*first, *(f"{text} is only in the second file" for text in self.new))


def parse_share(text: str) -> float:
    """Return the share that "5%", "5 %" or "0.05" stands for."""
    number, percent, rest = text.strip().partition("%")
    try:
        share = float(number) / (100 if percent else 1)
    except ValueError:
        share = -1.0
    if rest or not 0 <= share < inf:
        raise ArgumentError(f"threshold {text!r}: write a share as 5% or 0.05")
    return share


def compare_profiles(
    before: Sequence[Profile], after: Sequence[Profile], chosen: Sequence[Definition], limit: float | None
) -> Comparison:
    """Compare launches in pairs: two alone with each other, more of them by kernel and order."""
    if len(before) == len(after) == 1:
        return Comparison((_pair(before[0], after[0], chosen),), (), (), limit)
    first, second = _keyed(before), _keyed(after)
    pairs = tuple(_pair(one, second[key], chosen) for key, one in first.items() if key in second)
    gone = tuple(launch_text(one) for key, one in first.items() if key not in second)
    new = tuple(launch_text(one) for key, one in second.items() if key not in first)
    return Comparison(pairs, gone, new, limit)


def _keyed(profiles: Sequence[Profile]) -> dict[tuple[str, int], Profile]:
    """Launches under their kernel and their number among its launches."""
    found: dict[tuple[str, int], Profile] = {}
    for one in profiles:
        number = sum(kernel == one.kernel for kernel, _ in found)
        found[one.kernel, number] = one
    return found


def _pair(before: Profile, after: Profile, chosen: Sequence[Definition]) -> Pair:
    common = [one for one in chosen if one.name in before.labels and one.name in after.labels]
    changes = [
        Change(one.name, one.unit, a, b, _verdict(one, a, b))
        for one in common
        if (a := number_of(before, one)) != (b := number_of(after, one))
    ]
    order = (WORSE, OTHER, BETTER)
    changes.sort(key=lambda change: (order.index(change.verdict), -abs(change.share)))
    return Pair(
        launch_text(before),
        launch_text(after),
        _differences(before, after),
        tuple(changes),
        len(common),
        verdict(before.modelled, after.modelled),
    )


def _verdict(one: Definition, before: float, after: float) -> str:
    """Shares, and what an access or instruction does, are better when larger, counts when smaller."""
    if one.subject == _NEUTRAL or one.name in _SHAPE:
        return OTHER
    larger_is_better = one.unit in _SHARES or one.name.startswith(_CAPACITIES)
    return BETTER if (after > before) == larger_is_better else WORSE


_SAID = {
    "kernel": "kernels",
    "language": "languages",
    "grid": "grids",
    "block": "blocks",
    "shared": "bytes of dynamic shared memory",
    "model": "GPUs",
    "version": "versions of warpglass",
    "assembler": "assemblers",
}


def _differences(before: Profile, after: Profile) -> tuple[str, ...]:
    return tuple(
        f"different {words}: {_plain(getattr(before, field))} and {_plain(getattr(after, field))}"
        for field, words in _SAID.items()
        if getattr(before, field) != getattr(after, field)
    )


def _plain(value: object) -> str:
    return "x".join(map(str, value)) if isinstance(value, tuple) else str(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


# ---------------------------------------------------------------------------------------- views
def print_comparison(found: Comparison, console: Console) -> None:
    """Print a table of changes for every pair of launches."""
    for place, pair in enumerate(found.pairs):
        if place:
            console.print()
        console.print(Text(f"{pair.before} -> {pair.after}", style="bold"))
        for difference in pair.differences:
            console.print(Text(f"Note: {difference}", style="yellow"))
        if pair.changes:
            console.print()
            console.print(_table(pair, found.limit, console.width))
            console.print()
        console.print(Text(f"{len(pair.changes)} of {pair.compared} numbers changed."))
        if pair.verdict:
            console.print(Text(pair.verdict, style="bold"))
    for text in found.unpaired:
        console.print(Text(text, style="red"))
    print_limit(found.limit, found.past_limit, console)


def _table(pair: Pair, limit: float | None, width: int) -> Table:
    wide = width >= _WIDE
    table = FittingTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("", overflow="fold")
    for heading in ("before", "after", *(("difference", "ratio") if wide else ()), "change"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    for one in pair.changes:
        past = one.past(limit)
        style = f"bold {_STYLES[one.verdict]}".strip() if past else _STYLES[one.verdict]
        ratio = f"{one.after / one.before:.2f}" if one.before else "-"
        table.add_row(
            Text(one.name),
            format_number(one.before, one.unit),
            format_number(one.after, one.unit),
            *((_signed(one), ratio) if wide else ()),
            Text(f"{100 * one.share:+.1f} %" if isfinite(one.share) else "from 0", style=style),
            Text(one.verdict + (" !" if past else ""), style=style),
        )
    return table


def _signed(one: Change) -> str:
    text = format_number(abs(one.after - one.before), one.unit)
    return f"{'+' if one.after > one.before else '-'}{text}"


def changes_tables(found: Comparison) -> list[DataTable]:
    """A table of changes for every pair of launches."""
    headings = (Column("name"), Column("before", True), Column("after", True), Column("change", True))
    return [
        DataTable(
            f"{pair.before} and {pair.after}: {len(pair.changes)} of {pair.compared} numbers changed",
            (*headings, Column("verdict")),
            tuple(map(_cells, pair.changes)),
        )
        for pair in found.pairs
    ]


def _cells(one: Change) -> tuple[Cell, ...]:
    known = isfinite(one.share)
    tone: Tone = "bad" if one.verdict == WORSE else "good" if one.verdict == BETTER else ""
    return (
        words(one.name),
        number(one.before, format_number(one.before, one.unit)),
        number(one.after, format_number(one.after, one.unit)),
        number(one.share, f"{100 * one.share:+.1f} %", tone) if known else words("from 0", tone),
        words(one.verdict, tone),
    )


def comparison_json(found: Comparison) -> str:
    """Return a comparison as JSON text; a change from 0 has no ratio."""
    pairs = [
        {
            **asdict(pair),
            "changes": [
                {
                    **asdict(change),
                    "difference": change.after - change.before,
                    "ratio": change.after / change.before if change.before else None,
                }
                for change in pair.changes
            ],
        }
        for pair in found.pairs
    ]
    record = {
        "pairs": pairs,
        "unpaired": list(found.unpaired),
        "threshold": found.limit,
        "past_threshold": found.past_limit,
    }
    return json.dumps(record, indent=1)
