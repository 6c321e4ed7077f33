"""Findings a line each: as compilers print them, which editors jump to, and as GitHub's workflow commands.

The commands are those of GitHub's documentation, "Workflow commands for GitHub Actions": `%`, line ends and,
in properties, `:` and `,` are escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..records.check import Check, Finding, Place
from .check_source import short
from .record_tables import findings_table, launch_of
from .tables import markdown_text

_MOST = 10  # annotations of one kind that GitHub shows for a step
_NEWLINES = {"%": "%25", "\r": "%0D", "\n": "%0A"}


def compiler_lines(checks: Sequence[Check]) -> Iterator[str]:
    """`k.cu:12: error: shared-race: ...` for each finding, and a `note:` for its other place."""
    for check in checks:
        for one in check.findings:
            hint = f"; {one.hint}" if one.hint else ""
            told = _one_line(f"{one.kind}: {one.message}{hint}")
            yield f"{_where(one.source, check)}: {one.severity}: {short(told)}"
            if one.other_source is not None and one.other_source != one.source:
                yield f"{short(str(one.other_source))}: note: the other place"


def github_commands(checks: Sequence[Check]) -> Iterator[str]:
    """`::error file=k.cu,line=12,title=shared-race::...` for each finding, errors first."""
    found = [(check, one) for check in checks for one in check.findings]
    for check, one in sorted(found, key=lambda pair: pair[1].severity):
        properties = {"title": f"{one.kind} in {check.kernel}"}
        if one.source is not None:
            properties = {"file": short(one.source.file), "line": str(one.source.line), **properties}
        said = ",".join(f"{name}={_escaped(text, inside=True)}" for name, text in properties.items())
        yield f"::{one.severity} {said}::{_escaped(short(_told(one)), inside=False)}"


def github_summary(checks: Sequence[Check]) -> str:
    """The findings as Markdown, for the summary of a step."""
    count = sum(len(check.findings) for check in checks)
    launches = "".join(f"- `{launch_of(check).replace('`', '')}`\n" for check in checks[:_MOST])
    table = f"\n{markdown_text([findings_table(checks)])}" if count else ""
    return f"### warpglass check: {count} finding{'' if count == 1 else 's'}\n\n{launches}{table}"


def _told(one: Finding) -> str:
    return f"{one.message}\n{one.hint}" if one.hint else one.message


def _where(place: Place | None, check: Check) -> str:
    return short(str(place)) if place is not None else short(check.file) or check.kernel


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _escaped(text: str, *, inside: bool) -> str:
    escapes = {**_NEWLINES, **({":": "%3A", ",": "%2C"} if inside else {})}
    return "".join(escapes.get(character, character) for character in text)
