"""Advice on a terminal: what `warpglass explain` prints."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

from rich.console import Console
from rich.text import Text

from ...host.source_lines import lines_of
from ...records.profile import Profile
from ..check_source import short as short_path
from ..figures import format_seconds
from ..kernel_time import interval
from ..record_tables import launch_of
from ..tables import Column, DataTable, number, words
from .advice import Advice, modelled_cost
from .limits import WHAT_IS_LEFT

_WIDEST = 100


def print_advice(profile: Profile, found: Sequence[Advice], console: Console) -> None:
    """Print the lessons of a launch, each with its number, its line, what it costs and what to try."""
    console.print(Text(launch_of(profile), style="bold"))
    console.print(Text(_heading(profile), style="dim"))
    if not found:
        console.print()
        console.print(Text("Nothing stands out: lanes, sectors, banks and blocks are well used.", "green"))
        _say(what_is_left(profile), console)
    for place, one in enumerate(found, 1):
        console.print()
        console.print(Text(f"{place}. {one.name[0].upper()}{one.name[1:]}", style="bold"))
        said = f"{one.number[0].upper()}{one.number[1:]}; {one.costs}. {modelled_cost(one, profile)}"
        _say(said.rstrip(), console)
        if one.line:
            lines = lines_of(one.file)
            text = lines[one.line - 1].strip() if one.line <= len(lines) else ""
            console.print(
                Text(f"   {short_path(one.file)}:{one.line}: ", "cyan").append(text, "default"),
                soft_wrap=True,
            )
        _say(f"Try: {one.remedy}.", console)


def what_is_left(profile: Profile) -> str:
    """The way on for a kernel that wastes nothing."""
    limiter = profile.modelled.limiter if profile.modelled is not None else ""
    if limiter not in WHAT_IS_LEFT:
        return "`warpglass roofline` says what binds the kernel."
    return f"Try, against {limiter}: {WHAT_IS_LEFT[limiter]}."


def advice_table(profile: Profile, found: Sequence[Advice]) -> DataTable:
    """The lessons of a launch with their numbers, lines and costs; costs are at most so much."""
    columns = (
        *(Column("place", True), Column("lesson"), Column("number"), Column("line"), Column("means")),
        *(Column("share of the work", True), Column("of modelled time", True), Column("try")),
    )
    rows = tuple(
        (
            *(number(place, str(place)), words(one.name), words(one.number)),
            *(words(f"{short_path(one.file)}:{one.line}" if one.line else None), words(one.costs)),
            number(one.loss, f"{100 * one.loss:.1f} %"),
            number(one.seconds, format_seconds(one.seconds)),
            words(one.remedy),
        )
        for place, one in enumerate(found, 1)
    )
    return DataTable(f"{launch_of(profile)}: what matters most", columns, rows)


def _heading(profile: Profile) -> str:
    """What was counted, and the modelled time if there is one."""
    counted = f"Counted by the engine for {profile.model}"
    if profile.modelled is None or profile.modelled.seconds is None:
        return f"{counted}; no time of a GPU is involved."
    one = profile.modelled
    return (
        f"{counted}; modelled time {format_seconds(one.seconds)} ({interval(one)}), limited by {one.limiter}."
    )


def _say(text: str, console: Console) -> None:
    width = min(console.width, _WIDEST)
    filled = fill(text, width, initial_indent="   ", subsequent_indent="   ", break_on_hyphens=False)
    console.print(Text(filled), soft_wrap=True)
