"""Lines of source files."""

from __future__ import annotations

import linecache

from ....records.check import Place


def line_of(place: Place) -> str:
    """The text of a line, "" where there is none."""
    linecache.checkcache(place.file)
    return linecache.getline(place.file, place.line)


def text_of(file: str) -> str:
    """The text of a file, "" where there is none."""
    linecache.checkcache(file)
    return "".join(linecache.getlines(file))


def between(one: Place, other: Place) -> str:
    """The text of two lines that are one or follow each other, "" of others."""
    if one.file != other.file or abs(one.line - other.line) > 1:
        return ""
    first, last = sorted((one.line, other.line))
    return "".join(line_of(Place(one.file, line)) for line in range(first, last + 1))
