"""The saved check: what `check` found in one launch, as plain data and versioned JSON.

Belongs here: the record, and writing it. No detecting, no words for people: report/ makes those from these
records.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ..host.source_lines import lines_of
from .display import Displayed
from .kinds import KINDS as _KINDS
from .listing import SourceFile
from .sarif import sarif
from .schedules import ALL_SCHEDULES, schedule_of, weakest

SCHEMA = 1
KINDS = tuple(_KINDS)
Dim3 = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the kernel's source."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Insertion:
    """A line to be added: `text`, as one of its own, in front of what begins at a place or behind its end."""

    text: str
    place: Place
    behind: bool = False


@dataclass(frozen=True, slots=True)
class Instance:
    """The same defect at other lines or in another array."""

    source: Place | None
    other_source: Place | None
    array: str | None
    index: int | None
    count: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One defect: `kind` is one of KINDS, `severity` "error" or "warning".

    `source`, `block` and `thread` are where it was found, `warp` and `lane` the thread's place in the block
    and in its warp; `other_...` are the second access or the second place, if there is one. What only the
    kernel as a whole is to blame for has the kernel's first line. `epoch` says how many barriers of the block
    the thread had passed, None where that is not known. `index` is the element of `array`, in C order.
    `count` says how often the same was met. `hint` says what to add where, `fix` the same as data where lines
    are all that is to be added. `instances` are further pairs of lines and arrays that have the same cause,
    and whose counts are in `count`. `holds` says for which orders of
    threads the finding holds, and `seed` which random order showed it, None for the order by number.
    """

    kind: str
    severity: str
    message: str
    source: Place | None = None
    other_source: Place | None = None
    block: Dim3 | None = None
    thread: Dim3 | None = None
    other_block: Dim3 | None = None
    other_thread: Dim3 | None = None
    warp: int | None = None
    lane: int | None = None
    epoch: int | None = None
    other_warp: int | None = None
    other_lane: int | None = None
    other_epoch: int | None = None
    array: str | None = None
    index: int | None = None
    count: int = 1
    hint: str = ""
    holds: str = ALL_SCHEDULES
    seed: int | None = None
    fix: tuple[Insertion, ...] = ()
    instances: tuple[Instance, ...] = ()

    @property
    def causes(self) -> frozenset[tuple[object, ...]]:
        """What findings of one cause share one of: kind, array and lines, the instances' as well."""
        own = self.array, self.source, self.other_source
        further = ((one.array, one.source, one.other_source) for one in self.instances)
        return frozenset((self.kind, array, frozenset(lines)) for array, *lines in (own, *further))

    @property
    def places(self) -> tuple[tuple[Place | None, Place | None], ...]:
        """The lines of the finding and of its instances."""
        further = ((one.source, one.other_source) for one in self.instances)
        return (self.source, self.other_source), *further

    @property
    def arrays(self) -> tuple[str | None, ...]:
        """The arrays of the finding and of its instances."""
        return tuple(dict.fromkeys((self.array, *(one.array for one in self.instances))))


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A finding that is not to be reported, the entry that says so (FILE, number) and its reason."""

    finding: Finding
    file: str
    entry: int
    reason: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Check(Displayed):
    """What the detectors found in one launch, or in several of one kernel from one place in a program.

    `file` is the kernel's, "" where nothing says it. `schedule` says in which orders the launch was run, the
    random ones of `seeds` included, and `holds` for which orders the verdict holds. `suppressed` are findings
    that are not to be reported. `site` is the FILE:LINE of the launch in a program that was checked as a
    whole, `launches` how many were made there. `sources` are the lines around the findings' places.
    """

    kernel: str
    language: str
    device: str
    grid: Dim3
    block: Dim3
    shared: int
    findings: tuple[Finding, ...]
    schedule: str
    file: str = ""
    holds: str = ALL_SCHEDULES
    seeds: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    site: str = ""
    launches: int = 1
    version: str = ""
    sources: tuple[SourceFile, ...] = ()
    schema: int = field(default=SCHEMA)

    def __repr__(self) -> str:
        """One line: how many findings, and of which kinds."""
        kinds = Counter(finding.kind for finding in self.findings)
        found = ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "nothing found"
        return f"<Check of {self.kernel}: {found}>"

    def to_json(self) -> str:
        """Return the check as JSON text."""
        return _json(asdict(self))

    def to_sarif(self) -> str:
        """Return the check as SARIF 2.1.0 text; files are named relative to the working directory."""
        return sarif([self])

    def save(self, path: str | Path) -> None:
        """Write the check as JSON, making the folder if need be."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.to_json(), encoding="utf-8")


@dataclass(frozen=True, slots=True)
class ProgramCheck(Displayed):
    """What the detectors found in the launches of a whole program, one check for each place and kernel.

    `status` is the program's own exit status, `error` what it ended with, if that was one of our errors.
    """

    program: str
    arguments: tuple[str, ...]
    status: int
    error: str
    checks: tuple[Check, ...]
    notes: tuple[str, ...] = ()
    version: str = ""
    schema: int = field(default=SCHEMA)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, launch by launch."""
        return tuple(finding for check in self.checks for finding in check.findings)

    def to_json(self) -> str:
        """Return the checks as JSON text."""
        return _json(asdict(self))

    def to_sarif(self) -> str:
        """Return the checks as SARIF 2.1.0 text; files are named relative to the working directory."""
        return sarif(self.checks)


@dataclass(frozen=True, slots=True)
class SelfTestRow:
    """What became of one planted bug: `found` are the kinds reported of its kernel, `line` where.

    `alarms` are the kinds reported of the kernel without it.
    """

    kind: str
    file: str
    expected_line: int
    found: tuple[str, ...]
    line: int | None
    alarms: tuple[str, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether the bug is found at its line, as what it is, and nothing else is reported."""
        return self.found == (self.kind,) and self.line == self.expected_line and not self.alarms


@dataclass(frozen=True, slots=True)
class SelfTest:
    """The checker's positive control: a row for each kind."""

    rows: tuple[SelfTestRow, ...]
    device: str
    version: str = ""
    schema: int = field(default=SCHEMA)

    @property
    def passed(self) -> bool:
        """Whether all rows have."""
        return all(row.passed for row in self.rows)

    def to_json(self) -> str:
        """Return the rows as JSON text, with whether each has passed."""
        rows = [{**asdict(row), "passed": row.passed} for row in self.rows]
        return _json({**asdict(self), "rows": rows, "passed": self.passed})


def sources_around(findings: Sequence[Finding], around: int = 2) -> tuple[SourceFile, ...]:
    """The lines around the places of some findings; nothing for files that are not there."""
    places = {place for one in findings for pair in one.places for place in pair if place is not None}
    found: list[SourceFile] = []
    for file in sorted({place.file for place in places}):
        lines = lines_of(file)
        for line in sorted({place.line for place in places if place.file == file}):
            first = max(1, line - around)
            if first <= len(lines):
                found.append(SourceFile(file, lines[first - 1 : line + around], first))
    return tuple(found)


def find_cause(findings: Sequence[Finding], finding: Finding) -> int | None:
    """The number of the first of some findings that shares a cause with another, None if none does."""
    return next((k for k, one in enumerate(findings) if not one.causes.isdisjoint(finding.causes)), None)


def joined(checks: Sequence[Check]) -> Check:
    """One check for several launches of one kernel from one place: the first, with what later ones add.

    The same finding of several launches is one, counted together; a race of equal values in one launch that
    is one of different values in another is the latter.
    """
    found: list[Finding] = []
    for finding in (finding for check in checks for finding in check.findings):
        number = find_cause(found, finding)
        if number is None:
            found.append(finding)
        else:
            before = found[number]
            kept = finding if finding.severity < before.severity else before  # "error" < "warning"
            found[number] = replace(kept, count=before.count + finding.count)
    holds = weakest(check.holds for check in checks)
    seeds = max((check.seeds for check in checks), key=len)
    return replace(
        checks[0],
        findings=tuple(found),
        schedule=schedule_of(seeds, holds),
        holds=holds,
        seeds=seeds,
        notes=tuple(dict.fromkeys(note for check in checks for note in check.notes)),
        launches=sum(check.launches for check in checks),
        sources=tuple(dict.fromkeys(source for check in checks for source in check.sources)),
    )


def _json(data: dict[str, Any]) -> str:
    return json.dumps(data, indent=1, allow_nan=False) + "\n"
