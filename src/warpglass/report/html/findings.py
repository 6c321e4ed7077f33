"""What a page says of checks: every finding with both lines, both threads and the hint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...records.check import Check, Dim3, Finding, Place, ProgramCheck
from ...records.schedules import schedule_of_all
from ..check import passed_text
from ..check_source import short as short_path
from ..record_tables import findings_table, launch_of


def marks_of(checks: Sequence[Check]) -> Mapping[tuple[str, int], Sequence[str]]:
    """The findings by file and line, in words, for the listings of the same page."""
    found: dict[tuple[str, int], list[str]] = {}
    for check in checks:
        for finding in check.findings:
            for place in {finding.source, finding.other_source} - {None}:
                assert place is not None
                found.setdefault((place.file, place.line), []).append(finding.kind)
    return {place: sorted(set(kinds)) for place, kinds in found.items()}


def check_part(check: Check) -> dict[str, Any]:
    """What check.html is told of one launch."""
    return {
        "facts": [
            ("Device", check.device),
            ("Schedule", check.schedule),
            *(("Note", n) for n in check.notes),
        ],
        "checks": [_check(check)],
        "table": findings_table([check]),
    }


def program_part(program: ProgramCheck) -> dict[str, Any]:
    """What check.html is told of a program."""
    schedule = schedule_of_all([(one.kernel, one.seeds, one.holds) for one in program.checks])
    return {
        "facts": [
            ("Program", " ".join((short_path(program.program), *program.arguments))),
            ("Exit status", str(program.status)),
            *([("Ended with", program.error)] if program.error else []),
            *([("Schedule", schedule)] if program.checks else []),
            *(("Note", text) for text in program.notes),
        ],
        "checks": [_check(one) for one in program.checks],
        "table": findings_table(program.checks),
    }


def _check(check: Check) -> dict[str, Any]:
    return {
        "launch": launch_of(check),
        "site": short_path(check.site),
        "launches": check.launches,
        "findings": [_finding(one, check) for one in check.findings],
        "suppressed": [
            f"{one.finding.kind} ({short_path(one.file)}, entry {one.entry}) {one.reason}"
            for one in check.suppressed
        ],
    }


def _finding(one: Finding, check: Check) -> dict[str, Any]:
    array = f" of {one.array}[{one.index}]" if one.array and one.index is not None else ""
    places = (one.source, one.other_source)
    own = _thread(one.source, one.block, one.thread, (one.warp, one.lane, one.epoch))
    other = _thread(
        one.other_source, one.other_block, one.other_thread, (one.other_warp, one.other_lane, one.other_epoch)
    )
    return {
        "severity": one.severity,
        "heading": f"{one.kind}{array}",
        "more": one.count - 1,
        "message": short_path(one.message),
        "excerpts": _excerpts([place for place in places if place is not None], check),
        "threads": [row for row in (own, other) if row],
        "hint": short_path(one.hint),
        "seed": one.seed,
    }


def _excerpts(places: Sequence[Place], check: Check) -> list[dict[str, Any]]:
    """The lines around some places, as the record has them."""
    found: list[dict[str, Any]] = []
    for file in dict.fromkeys(place.file for place in places):
        guilty = {place.line for place in places if place.file == file}
        lines = {
            source.first + place: text
            for source in check.sources
            if source.file == file
            for place, text in enumerate(source.lines)
        }
        near = sorted(line for line in lines if any(abs(line - one) <= 2 for one in guilty))
        rows = [{"line": line, "text": lines[line], "guilty": line in guilty} for line in near]
        found.append({"file": short_path(file), "rows": rows, "lines": sorted(guilty)})
    return found


def _thread(
    place: Place | None,
    block: Dim3 | None,
    thread: Dim3 | None,
    inner: tuple[int | None, int | None, int | None],
) -> tuple[str, ...]:
    if block is None or thread is None:
        return ()
    warp, lane, epoch = inner
    return (
        short_path(str(place)) if place is not None else "-",
        str(tuple(block)),
        str(tuple(thread)),
        "-" if warp is None else f"{warp}, {lane}",
        "-" if epoch is None else passed_text(epoch),
    )
