"""What a ladder has to say of a bench below its tables: sections of text and tables, from the record alone.

Belongs here: the records. The words and figures are those of a ladder's own view, which its problem
names; report/bench.py prints them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..records.bench import Record


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of cells; columns are right-justified but for the last `texts`."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    texts: int


@dataclass(frozen=True, slots=True)
class Section:
    """A heading, and what stands below it: lines, "" for an empty one, and tables."""

    title: str
    parts: tuple[str | TextTable, ...]


View = Callable[[Record], Sequence[Section]]


def no_view(record: Record) -> tuple[Section, ...]:
    """The view of a ladder that has nothing to say."""
    return ()
