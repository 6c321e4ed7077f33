"""What the course notes publish: tables of times and efficiencies, figures, errata, misconceptions.

Belongs here: the records and their reading. A set of notes is a file beside this one; its numbers are as the
notes print them, in seconds, percent and elements. Who sets them beside ours is report/notes.py.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..reading import build

_FILES = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedRow:
    """One line of a table: what ran, and what it took there; None for what a table does not say."""

    rung: str
    seconds: float
    size: int | None = None  # elements, where it is not the table's
    host_seconds: float | None = None  # the host's time for the same
    gld_efficiency: float | None = None
    gst_efficiency: float | None = None
    gib_per_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedTable:
    """A table of times on a GPU by its short name; `bytes_per_element` are those of its bandwidths."""

    title: str
    gpu: str
    dtype: str
    rows: tuple[NotedRow, ...]
    size: int | None = None
    bytes_per_element: int | None = None

    def size_of(self, row: NotedRow) -> int:
        """Elements of a row."""
        size = row.size or self.size
        assert size is not None, "a table or its rows say their size"
        return size


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What the notes say of something, and what is right."""

    of: str
    says: str
    right: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CourseNotes:
    """One set of notes: what they are about, the ladder that has their kernels, what they publish."""

    about: str
    ladder: str
    table: tuple[NotedTable, ...] = ()
    figure: tuple[Statement, ...] = ()
    erratum: tuple[Statement, ...] = ()
    misconception: tuple[Statement, ...] = ()


@cache
def course_notes() -> Mapping[str, CourseNotes]:
    """All sets of notes, by the number that they have: "000" to "004"."""
    return {path.stem: _read(path) for path in sorted(_FILES.glob("*.toml"))}


def _read(path: Path) -> CourseNotes:
    data: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    found: CourseNotes = build(CourseNotes, data, path.name)
    return found


def noted_gpus(ladder: str) -> tuple[str, ...]:
    """The GPUs on which the notes timed a ladder's kernels, by their short names."""
    notes = (one for one in course_notes().values() if one.ladder == ladder)
    return tuple(dict.fromkeys(table.gpu for one in notes for table in one.table))
