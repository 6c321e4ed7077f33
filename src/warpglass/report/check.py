"""A check on a terminal: each finding with its source lines, its threads and what would be right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import fill

from rich.console import Console
from rich.text import Text

from ..records.check import Check, Dim3, Finding, Place, ProgramCheck, Suppressed
from ..records.schedules import ALL_SCHEDULES, schedule_of_all
from .check_source import short, source_lines
from .figures import format_launch

_STYLES = {"error": "bold red", "warning": "bold yellow"}
_WIDEST = 100


def print_check(check: Check, console: Console, notes: Sequence[str] = ()) -> None:
    """Print every finding of a launch and how many there are, then `notes`."""
    _print_launch(check, console)
    console.print()
    _print_count([check], console)
    _print_notes([f"Schedule: {check.schedule}", *check.notes, *notes], console)


def print_program(program: ProgramCheck, console: Console) -> None:
    """Print the findings of a program launch by launch, how many there are and how the program ended."""
    for number, check in enumerate(program.checks):
        if number:
            console.print()
        _print_launch(check, console)
        if not check.findings:
            console.print(Text("  Nothing found.", style="green"))
    console.print()
    launches = sum(check.launches for check in program.checks)
    if program.checks:
        places = f" at {_many(len(program.checks), 'place')}" if launches > 1 else ""
        _say(f"{short(program.program)}: {_many(launches, 'launch', 'launches')} checked{places}.", console)
        _print_count(program.checks, console)
    else:
        _say(f"{short(program.program)} launched no kernel: nothing was checked.", console, "bold")
    if program.error:
        _say(f"The program ended with this error: {program.error}", console, "bold")
    elif program.status:
        _say(f"The program ended with exit status {program.status}.", console, "bold")
    launched = [(check.kernel, check.seeds, check.holds) for check in program.checks]
    schedule = [f"Schedule: {schedule_of_all(launched)}"] if launched else []
    notes = dict.fromkeys(note for check in program.checks for note in check.notes)
    _print_notes([*schedule, *notes, *program.notes], console)


def _print_launch(check: Check, console: Console) -> None:
    launch = format_launch(check.kernel, check.grid, check.block, check.shared)
    console.print(Text(launch, style="bold"))
    if check.site:
        first = f" (the first of {check.launches} launches there)" if check.launches > 1 else ""
        _say(f"Launched at {short(check.site)}{first}", console, "dim")
    else:
        _say(f"Device: {check.device}", console, "dim")
    for finding in check.findings:
        console.print()
        _print_finding(finding, console)
    if check.suppressed:
        console.print()
    for one in check.suppressed:
        _say(_suppressed(one), console, "dim", indent="  ")


def _print_count(checks: Sequence[Check], console: Console) -> None:
    findings = [finding for check in checks for finding in check.findings]
    errors = sum(finding.severity == "error" for finding in findings)
    hidden = sum(len(check.suppressed) for check in checks)
    also = f" {hidden} suppressed." if hidden else ""
    if findings:
        counted = f"{_many(errors, 'error')}, {_many(len(findings) - errors, 'warning')}."
        console.print(Text(counted + also, style="bold"))
    else:
        console.print(Text(f"Nothing found.{also}", style="bold green"))


def _print_finding(finding: Finding, console: Console) -> None:
    what = f" of {finding.array}[{finding.index}]" if finding.index is not None and finding.array else ""
    head = Text(f"{finding.severity}: {finding.kind}{what}", style=_STYLES.get(finding.severity, "bold"))
    if finding.count > 1:
        head.append(f"  (and {finding.count - 1} more of the same)", style="dim")
    console.print(head)
    _say(short(finding.message), console, indent="  ")
    places = (finding.source, finding.other_source)
    for line in source_lines([place for place in places if place is not None]):
        console.print(line, soft_wrap=True)
    for line in _threads(finding):
        _say(line, console, indent="  ")
    if finding.instances:
        _say(_instances(finding), console, indent="  ")
    if finding.hint:
        _say(f"hint: {short(finding.hint)}", console, indent="  ", further="        ")
    if finding.seed is not None:
        seed = f"seed {finding.seed} only: --seed {finding.seed} repeats it"
        _say(f"shown by the random order of {seed}", console, indent="  ")
    if finding.holds != ALL_SCHEDULES:
        _say(f"holds for {finding.holds}", console, "dim", indent="  ")


_LISTED = 8


def _instances(finding: Finding) -> str:
    """The other lines and arrays of the same cause."""
    told: dict[str, None] = {}
    for one in finding.instances:
        lines = sorted({place.line for place in (one.source, one.other_source) if place is not None})
        places = " and ".join(map(str, lines))
        of = f" of {one.array}" if one.array and one.array != finding.array else ""
        told[f"line{'s' if len(lines) > 1 else ''} {places}{of}"] = None
    words = list(told)
    more = f"; {len(words) - _LISTED} more" if len(words) > _LISTED else ""
    return f"of the same cause: {'; '.join(words[:_LISTED])}{more}"


def _threads(finding: Finding) -> Iterator[str]:
    """The threads of a finding, with warp, lane and how many barriers they have passed."""
    own = _thread(finding.source, finding.block, finding.thread, finding.warp, finding.lane, finding.epoch)
    other = _thread(
        finding.other_source,
        finding.other_block,
        finding.other_thread,
        finding.other_warp,
        finding.other_lane,
        finding.other_epoch,
    )
    yield from (line for line in (own, other) if line)


def _thread(
    place: Place | None,
    block: Dim3 | None,
    thread: Dim3 | None,
    warp: int | None,
    lane: int | None,
    epoch: int | None,
) -> str:
    if block is None or thread is None:
        return ""
    where = f"line {place.line}: " if place is not None else ""
    words = [f"{where}block {block} thread {thread}"]
    words += [f"warp {warp} lane {lane}"] if warp is not None else []
    words += [passed_text(epoch)] if epoch is not None else []
    return ", ".join(words)


def passed_text(epoch: int) -> str:
    """How many barriers of its block a thread had passed."""
    return f"after {_many(epoch, 'barrier')}" if epoch else "before the first barrier"


def _suppressed(one: Suppressed) -> str:
    place = one.finding.source
    where = f" at {short(str(place))}" if place is not None else ""
    reason = f": {one.reason}" if one.reason else ""
    return f"suppressed: {one.finding.kind}{where} ({short(one.file)}, entry {one.entry}){reason}"


def _print_notes(notes: Sequence[str], console: Console) -> None:
    for note in notes:
        _say(f"{short(note)}.", console, "dim")


def _say(text: str, console: Console, style: str = "", indent: str = "", further: str | None = None) -> None:
    width = min(console.width, _WIDEST)
    wrapped = fill(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent if further is None else further,
        break_on_hyphens=False,
        break_long_words=False,
    )
    console.print(Text(wrapped, style=style), soft_wrap=True)


def _many(count: int, what: str, several: str = "") -> str:
    return f"{count} {what if count == 1 else several or what + 's'}"
