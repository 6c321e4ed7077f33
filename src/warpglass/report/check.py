"""A check on a terminal: each finding with its source lines, its threads and what would be right."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from textwrap import fill

from rich.console import Console
from rich.text import Text

from ..check_record import Check, Finding, Place

_STYLES = {"error": "bold red", "warning": "bold yellow"}
_WIDEST = 100


def print_check(check: Check, console: Console) -> None:
    """Print every finding and how many there are."""
    grid, block = ("x".join(map(str, extent)) for extent in (check.grid, check.block))
    console.print(Text(f"{check.kernel} <<<{grid}, {block}>>> on {check.device}", style="bold"))
    for finding in check.findings:
        console.print()
        _print_finding(finding, console)
    console.print()
    errors = sum(finding.severity == "error" for finding in check.findings)
    warnings = len(check.findings) - errors
    if check.findings:
        console.print(Text(f"{_many(errors, 'error')}, {_many(warnings, 'warning')}.", style="bold"))
    else:
        console.print(Text("Nothing found.", style="bold green"))
    for note in (f"Schedule: {check.schedule}.", *check.notes):
        console.print(Text(fill(note, min(console.width, _WIDEST)), style="dim"))


def _print_finding(finding: Finding, console: Console) -> None:
    width = min(console.width, _WIDEST)
    style = _STYLES.get(finding.severity, "bold")
    head = Text(f"{finding.severity}: {finding.kind}", style=style)
    if finding.count > 1:
        head.append(f"  ({finding.count} times)", style="dim")
    console.print(head)
    console.print(Text(fill(finding.message, width, initial_indent="  ", subsequent_indent="  ")))
    shown: list[Place] = []
    for place in (finding.source, finding.other_source):
        if place is not None and place not in shown:
            shown.append(place)
            line = _line_of(place)
            if line is not None:
                console.print(Text(f"  {place.line:>6} | {line}", style="cyan"), soft_wrap=True)
    if finding.hint:
        console.print(
            Text(fill(finding.hint, width, initial_indent="  hint: ", subsequent_indent="        "))
        )


def _line_of(place: Place) -> str | None:
    """The text of a line, if the file is there."""
    lines = _lines_of(place.file)
    return lines[place.line - 1].rstrip() if 0 < place.line <= len(lines) else None


@cache
def _lines_of(file: str) -> tuple[str, ...]:
    try:
        return tuple(Path(file).read_text(encoding="utf-8", errors="replace").splitlines())
    except (OSError, ValueError):
        return ()


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
