"""Checks in SARIF 2.1.0, which code hosts and editors read (docs.oasis-open.org/sarif/sarif/v2.1.0).

Belongs here: putting records into the terms of that format. Files are named relative to the folder in which
the check is written, so run it in the root of the repository. A finding's fingerprint leaves line numbers
out: it stays what it was when lines above it come and go.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from .kinds import KINDS, Kind

if TYPE_CHECKING:
    from .check import Check, Finding, Place, Suppressed

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_BASE = "%SRCROOT%"  # by which code hosts know the root of the repository
_RULES = list(KINDS)
_END = (";\n", "\n")  # of an added line, in C++ and in Python
# What is told of a finding beside its place and words.
_DETAILS = (
    "array index block thread warp lane epoch other_block other_thread other_warp other_lane other_epoch "
    "count holds seed"
).split()


@dataclass(frozen=True, slots=True)
class _Told:
    """One cause: its first finding, where launches showed it, how often, and the entry that suppresses it."""

    check: Check
    finding: Finding
    sites: tuple[str, ...]
    count: int
    suppressed: Suppressed | None = None

    def also(self, other: _Told) -> _Told:
        """With what another launch shows of the same; an error tells more than a warning."""
        first = other if other.finding.severity < self.finding.severity else self
        sites = tuple(dict.fromkeys((*self.sites, *other.sites)))
        return replace(first, sites=sites, count=self.count + other.count)


def sarif(checks: Sequence[Check]) -> str:
    """Return checks as SARIF text: one run, with a result for each cause, suppressed ones included."""
    seen: Counter[str] = Counter()
    results = [_result(one, seen) for one in _causes(checks)]
    driver = {
        "name": "warpglass",
        "fullName": "warpglass check",
        "version": checks[0].version if checks else "",
        "rules": [_rule(kind) for kind in KINDS.values()],
    }
    launches = [
        {
            "kernel": check.kernel,
            "grid": check.grid,
            "block": check.block,
            "site": check.site,
            "launches": check.launches,
            "schedule": check.schedule,
        }
        for check in checks
    ]
    run = {
        "tool": {"driver": driver},
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {_BASE: {"description": {"text": "The folder that the check ran in."}}},
        "results": results,
        "properties": {"launches": launches},
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _causes(checks: Sequence[Check]) -> list[_Told]:
    """The findings of all launches, one for each kind and pair of lines."""
    found: dict[tuple[object, ...], _Told] = {}
    told = [_Told(check, one, (check.site,), max(1, one.count)) for check in checks for one in check.findings]
    told += [
        _Told(check, one.finding, (check.site,), max(1, one.finding.count), one)
        for check in checks
        for one in check.suppressed
    ]
    for one in told:
        places = frozenset(place for place in (one.finding.source, one.finding.other_source) if place)
        known = places and all(Path(place.file).is_file() for place in places)
        whose = (
            () if known else (one.check.kernel, one.finding.array)
        )  # texts without a file have equal names
        key = one.finding.kind, places, whose, one.suppressed is not None
        found[key] = found[key].also(one) if key in found else one
    return list(found.values())


def _rule(kind: Kind) -> dict[str, Any]:
    return {
        "id": kind.name,
        "shortDescription": {"text": kind.meaning},
        "fullDescription": {"text": f"{kind.meaning} {kind.remedy}"},
        "help": {"text": kind.remedy, "markdown": f"**{kind.meaning}**\n\n{kind.remedy}"},
        "defaultConfiguration": {"level": kind.severity},
        "properties": {"tags": ["cuda", "correctness"], "precision": "very-high"},
    }


def _result(told: _Told, seen: Counter[str]) -> dict[str, Any]:
    check, finding, suppressed = told.check, told.finding, told.suppressed
    message = finding.message + (f". To mend it: {finding.hint}" if finding.hint else "")
    known = {name: value for name, value in asdict(finding).items() if value is not None}
    result: dict[str, Any] = {
        "ruleId": finding.kind,
        "ruleIndex": _RULES.index(finding.kind),
        "level": finding.severity,
        "message": {"text": message.replace(f"{Path.cwd()}{os.sep}", "")},
        "locations": [_location(check, finding.source)],
        "partialFingerprints": {"warpglass/v1": _fingerprint(check, finding, seen)},
        "occurrenceCount": told.count,
        "properties": {name: known[name] for name in _DETAILS if name in known},
    }
    related = _related(told)
    if related:
        result["relatedLocations"] = related
    if finding.fix:
        result["fixes"] = [_fix(finding)]
    if suppressed is not None:
        where = f"{_relative(suppressed.file)}, entry {suppressed.entry}"
        reason = f"{suppressed.reason} ({where})" if suppressed.reason else where
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": reason}]
    else:
        result["suppressions"] = []
    return result


def _fix(finding: Finding) -> dict[str, Any]:
    """The lines that mend a finding, as insertions that an editor can make."""
    files = dict.fromkeys(one.place.file for one in finding.fix)
    changes: list[dict[str, Any]] = []
    for file in files:
        own = sorted(
            {(one.place.line, one.behind, one.text) for one in finding.fix if one.place.file == file}
        )
        replacements = [
            {
                "deletedRegion": {"startLine": at, "startColumn": 1, "endLine": at, "endColumn": 1},
                "insertedContent": {"text": f"{_indent_of(file, line)}{text}{_END[file.endswith('.py')]}"},
            }
            for line, behind, text in own
            for at in [line + behind]
        ]
        changes.append({"artifactLocation": _artifact(file), "replacements": replacements})
    return {"description": {"text": finding.hint or "add the missing lines"}, "artifactChanges": changes}


def _location(check: Check, place: Place | None) -> dict[str, Any]:
    kernel = {"name": check.kernel, "fullyQualifiedName": check.kernel, "kind": "function"}
    found: dict[str, Any] = {"logicalLocations": [kernel]}
    if place is not None:
        found["physicalLocation"] = _physical(place.file, place.line)
    return found


def _physical(file: str, line: int) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": max(1, line)}
    text = _line_of(file, line)
    if text:
        region["snippet"] = {"text": text}
    return {"artifactLocation": _artifact(file), "region": region}


def _artifact(file: str) -> dict[str, str]:
    path = _relative(file)
    if Path(path).is_absolute():
        return {"uri": Path(path).as_uri()}
    return {"uri": quote(path), "uriBaseId": _BASE}


def _related(told: _Told) -> list[dict[str, Any]]:
    """The second place of a finding, and where its launches are."""
    found: list[tuple[dict[str, Any], str]] = []
    finding, other = told.finding, told.finding.other_source
    if other is not None:
        thread = f": block {finding.other_block} thread {finding.other_thread}"
        text = f"the other place{thread if finding.other_thread else ''}"
        found.append((_physical(other.file, other.line), text))
    for site in told.sites:
        file, _, line = site.rpartition(":")
        if line.isdecimal():
            found.append((_physical(file, int(line)), "the launch"))
    return [
        {"id": number, "physicalLocation": place, "message": {"text": text}}
        for number, (place, text) in enumerate(found, 1)
    ]


def _fingerprint(check: Check, finding: Finding, seen: Counter[str]) -> str:
    """What names a finding whatever its line numbers: kind, kernel, array, files and texts of its lines."""
    places = [place for place in (finding.source, finding.other_source) if place is not None]
    told = sorted((_relative(one.file), " ".join(_line_of(one.file, one.line).split())) for one in places)
    text = json.dumps([finding.kind, check.kernel, finding.array, told])
    seen[text] += 1
    return f"{hashlib.sha256(text.encode()).hexdigest()[:32]}:{seen[text]}"


def _relative(file: str) -> str:
    """A file's name from here, with forward slashes; as it is where it lies elsewhere or is no file."""
    path = Path(file)
    if not path.is_absolute():
        return path.as_posix()
    here = Path.cwd()
    inside = path.is_relative_to(here)
    return path.relative_to(here).as_posix() if inside else Path(os.path.normpath(path)).as_posix()


def _line_of(file: str, line: int) -> str:
    """The text of a line, "" where there is none."""
    return _text_of(file, line).strip()


def _indent_of(file: str, line: int) -> str:
    text = _text_of(file, line)
    return text[: len(text) - len(text.lstrip())]


def _text_of(file: str, line: int) -> str:
    try:
        lines = Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, ValueError):
        return ""
    return lines[line - 1] if 0 < line <= len(lines) else ""
