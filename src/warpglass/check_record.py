"""The saved check: what `check` found in one launch, as plain data and versioned JSON.

Belongs here: the record, and writing it. No detecting, no words for people: report/ makes those from these
records.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

SCHEMA = 1
KINDS = (
    "shared-race",
    "warp-race",
    "global-race",
    "barrier-divergence",
    "sync-mask",
    "out-of-bounds",
    "misaligned",
    "read-only-write",
    "use-after-free",
    "uninitialised-read",
    "unwritten-output",
    "unread-input",
    "trap",
    "deadlock",
    "timeout",
)
Dim3 = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the kernel's source."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class Finding:
    """One defect: `kind` is one of KINDS, `severity` "error" or "warning".

    `source`, `block` and `thread` are where it was found; `other_...` are the second access or the second
    place, if there is one. `index` is the element of `array`, in C order. `count` says how often the same was
    met. `hint` says what to add where.
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
    array: str | None = None
    index: int | None = None
    count: int = 1
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """What the detectors found in one launch.

    `schedule` says in which order warps ran and for which orders the verdict holds.
    """

    kernel: str
    language: str
    device: str
    grid: Dim3
    block: Dim3
    shared: int
    findings: tuple[Finding, ...]
    schedule: str
    notes: tuple[str, ...] = ()
    version: str = ""
    schema: int = field(default=SCHEMA)

    def to_json(self) -> str:
        """Return the check as JSON text."""
        return json.dumps(asdict(self), indent=1, allow_nan=False) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the check, making the folder if need be."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.to_json(), encoding="utf-8")
