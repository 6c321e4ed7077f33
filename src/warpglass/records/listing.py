"""A kernel's texts, line by line: source, PTX and machine code, each line with what it was made from.

Belongs here: the record. lab/listing.py makes it, report/ shows it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that the kernel comes from: its name and its lines, the first being `first`."""

    file: str
    lines: tuple[str, ...]
    first: int = 1


@dataclass(frozen=True, slots=True)
class PtxLine:
    """A line of PTX, its number in the whole text, and the author's line that it comes from ("", 0: none)."""

    number: int
    text: str
    file: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class MachineLine:
    """A machine instruction: its offset in bytes, its text, and the number of its PTX line (0: none)."""

    offset: int
    text: str
    ptx: int = 0


@dataclass(frozen=True, slots=True)
class Listing:
    """The texts of one kernel; `machine` is empty, and `note` says why, where there is no machine code."""

    kernel: str
    target: str
    sources: tuple[SourceFile, ...]
    ptx: tuple[PtxLine, ...]
    machine: tuple[MachineLine, ...] = ()
    note: str = ""
