"""A profile on a terminal: numbers by subject, how certain each is, and what stands out.

Belongs here: the view of `warpglass profile`. The listing by line is profile_lines.py's, comma-separated
values are profile_csv.py's, the words about bad numbers profile_remarks.py's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import isnan, nan
from textwrap import fill

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..devices import get
from ..records.profile import Profile
from .bench import TIME_HEADINGS
from .figures import format_launch, format_seconds
from .fitting_table import FittingTable
from .kernel_time import modelled_sentence
from .metrics import Definition
from .profile_csv import number_of, summary_rows
from .profile_lines import print_lines, short
from .profile_remarks import Remark, remarks

_TEXT_WIDTH = 130  # columns from which there is room for what a number means
_LABEL_STYLES = {"exact": "green", "ptx-level": "yellow", "modelled": "yellow", "measured": "cyan"}
_ENGINE_TIME = "counting included; says nothing about a GPU's"


def print_profile(
    profile: Profile,
    chosen: Sequence[Definition],
    console: Console,
    *,
    launches: int = 1,
    all_zeros: bool = False,
    lines: bool = False,
) -> None:
    """Print one launch: what it was, the chosen numbers, what stands out and, if asked for, every line.

    It stands for `launches` like it. Numbers that are 0 are left out unless `all_zeros`.
    """
    _print_header(profile, launches, console)
    ordered = sorted(chosen, key=lambda one: one.subject.place)
    silent: list[str] = []
    for subject, group in groupby(ordered, key=lambda one: one.subject):
        members = list(group)
        if not all_zeros:
            members = [one for one in members if one.name in profile.labels and number_of(profile, one)]
        if members:
            console.print()
            console.print(_table(profile, subject, members, console.width))
        else:
            silent.append(subject.lower())
    if silent:
        console.print()
        _say(f"Nothing counted: {', '.join(silent)}.", console)
    if not all_zeros:
        _print_occupancy(profile, console)
        _print_remarks(list(remarks(profile)), console)
    if lines:
        print_lines(profile, console)


def _print_header(profile: Profile, launches: int, console: Console) -> None:
    console.print(Text(launch_text(profile), style="bold"))
    if profile.site:
        first = f" (the first of {launches} launches there)" if launches > 1 else ""
        _say(f"Launched at {profile.site}{first}", console)
    target = f"{profile.target}, {profile.assembler}" if profile.assembler else profile.target
    _say(f"Counted for {get(profile.model).name} ({target})", console)
    _say(f"Device: {profile.device}", console)
    note = f" ({_ENGINE_TIME})" if profile.time_label == "engine" else ""
    heading = TIME_HEADINGS[profile.time_label]
    _say(f"{heading[0].upper()}{heading[1:]}: {format_seconds(profile.seconds)}{note}", console)
    if profile.modelled is not None:
        _say(modelled_sentence(profile.modelled), console)
    for text in profile.notes:
        _say(f"Note: {text}", console)


def launch_text(profile: Profile) -> str:
    """A launch as in CUDA: kernel<<<grid, block, shared>>>."""
    return format_launch(profile.kernel, profile.grid, profile.block, profile.shared)


def _table(profile: Profile, subject: str, members: Sequence[Definition], width: int) -> Table:
    side_by_side = any(one.name in profile.counted for one in members)
    table = FittingTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column(subject, overflow="fold", min_width=38)
    table.add_column("measured" if side_by_side else "", justify="right", no_wrap=True, min_width=14)
    if side_by_side:
        table.add_column("engine", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True, min_width=9)
    room = width >= _TEXT_WIDTH
    if room:
        table.add_column("", style="dim")
    for one in members:
        label = profile.labels.get(one.name, "")
        cells = [Text(f"  {one.name}"), Text(format_number(number_of(profile, one), one.unit))]
        if side_by_side and label == "measured":
            cells.append(Text(format_number(profile.counted.get(one.name, nan), one.unit)))
        elif side_by_side:
            cells.insert(1, Text("-"))
        cells.append(Text(label, style=_LABEL_STYLES.get(label, "")))
        table.add_row(*cells, *([Text(one.text)] if room else []))
    return table


def format_number(value: float, unit: str) -> str:
    """Return a count with thousands separated, a share in percent, a ratio with two decimals."""
    if isnan(value):
        return "n/a"
    if unit == "%":
        return f"{value:.2f} %"
    return f"{value:,.0f}" if value == int(value) else f"{value:,.2f}"


def _print_occupancy(profile: Profile, console: Console) -> None:
    fit = profile.occupancy
    if not fit:
        return
    demand = fit["demand"]
    blocks = f"{fit['blocks']} block{'' if fit['blocks'] == 1 else 's'}"
    registers = f"{demand['registers']} registers a thread" if demand["registers"] else "registers unknown"
    shared = demand["static_shared"] + demand["dynamic_shared"]
    console.print()
    _say(
        f"Occupancy {100 * fit['share']:.4g} %: {blocks} = {fit['warps']} warps on a multiprocessor at once, "
        f"limited by {' and '.join(fit['limiting'])} ({registers}, {shared} bytes of shared memory a block).",
        console,
    )


def _print_remarks(found: Sequence[Remark], console: Console) -> None:
    if not found:
        return
    console.print()
    console.print(Text("What stands out", style="bold"))
    for remark in found:
        worst = f" Most at {remark.worst}." if remark.worst else ""
        text = fill(
            f"{remark.heading}: {remark.text}{worst}",
            min(console.width, 100),
            initial_indent="! ",
            subsequent_indent="  ",
            break_on_hyphens=False,
            break_long_words=False,
        )
        line = Text(text)
        line.stylize("bold red", 0, 2 + len(remark.heading) + 1)
        console.print(line, soft_wrap=True)


def print_sites(profiles: Sequence[Profile], console: Console) -> None:
    """Print one row per launch site, kernel and shape: how often, how long, how well memory was used."""
    table = FittingTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("launched at", overflow="fold")
    table.add_column("kernel", overflow="fold")
    for heading in ("calls", "inst", "gld %", "gst %", "conflicts", "time"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in _site_rows(profiles):
        table.add_row(*map(Text, row))
    console.print(table)


def by_site(profiles: Sequence[Profile]) -> list[list[Profile]]:
    """Launches of one kernel and shape from one place, in the order of their first."""
    groups: dict[tuple[object, ...], list[Profile]] = {}
    for one in profiles:
        groups.setdefault((one.site, one.kernel, one.grid, one.block, one.shared), []).append(one)
    return list(groups.values())


def _site_rows(profiles: Sequence[Profile]) -> Iterator[tuple[str, ...]]:
    for group in by_site(profiles):
        first = group[0]
        totals = [
            short(sum(one.metrics[name] for one in group))
            for name in ("inst_executed", "shared_bank_conflicts")
        ]
        shares = [_average(group, name) for name in ("gld", "gst")]
        seconds = format_seconds(sum(one.seconds for one in group))
        site = first.site.rpartition("/")[2]
        yield (site, launch_text(first), str(len(group)), totals[0], *shares, totals[1], seconds)


def _average(group: Sequence[Profile], kind: str) -> str:
    """The efficiency of all launches together; "-" where nothing moved."""
    moved = 32 * sum(one.metrics[f"{kind}_transactions"] for one in group)
    return (
        f"{100 * sum(one.metrics[f'{kind}_requested_bytes'] for one in group) / moved:.1f}" if moved else "-"
    )


def print_summary(profiles: Sequence[Profile], console: Console) -> None:
    """Print calls and times by kernel, as nvprof's summary does; it says whose times they are."""
    heading = TIME_HEADINGS[profiles[0].time_label] if profiles else "time"
    table = FittingTable(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("share", heading, "calls", "avg", "min", "max"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("kernel", overflow="fold")
    for kernel, share, own, calls, mean, least, most in summary_rows(profiles):
        times = [format_seconds(seconds) for seconds in (own, mean, least, most)]
        table.add_row(f"{100 * share:.2f} %", times[0], str(calls), *times[1:], Text(kernel))
    console.print(table)
    if any(one.time_label == "engine" for one in profiles):
        console.print()
        _say("Times of the engine on this CPU say nothing about a GPU's.", console)


def _say(text: str, console: Console) -> None:
    console.print(Text(text))
