"""Source lines of a finding: the guilty ones marked, with a line around them, what lies between left out."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.text import Text

from ..host.source_lines import lines_of
from ..records.check import Place

_AROUND = 1  # lines shown before and after a guilty one
_MARK, _STYLE = ">", "bold red"


def source_lines(places: Sequence[Place]) -> Iterator[Text]:
    """The lines of these places by file, nothing for files that are not there."""
    for file in dict.fromkeys(place.file for place in places):
        text = lines_of(file)
        guilty = {place.line for place in places if place.file == file and 0 < place.line <= len(text)}
        if not guilty:
            continue
        yield Text(f"    {short(file)}", style="dim")
        shown = sorted({near for line in guilty for near in _near(line, len(text))})
        before = shown[0]
        for line in shown:
            if line > before + 1:
                yield Text("           ...", style="dim")
            before = line
            mark = _MARK if line in guilty else " "
            style = _STYLE if line in guilty else "dim"
            yield Text(f"    {mark} {line:>4} | {text[line - 1].expandtabs(4)}".rstrip(), style=style)


def short(text: str) -> str:
    """A text with file names relative to the working directory where they lie in it."""
    return text.replace(f"{Path.cwd()}{os.sep}", "")


def _near(line: int, last: int) -> range:
    return range(max(1, line - _AROUND), min(last, line + _AROUND) + 1)
