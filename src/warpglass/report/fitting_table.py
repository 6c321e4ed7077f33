"""Tables for terminals of any width: numbers are never cut, so a table without room for them is not one.

Belongs here: the choice between columns and, where those do not fit, a block of lines for each row.
"""

from __future__ import annotations

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Column, Table
from rich.text import Text

_LEAST_TEXT = 6  # characters that a column of words can be folded to


class FittingTable(Table):
    """A table whose rows become blocks of lines, HEADING VALUE each, where its columns do not fit."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        between = self.padding[1] + self.padding[3]
        least = sum(map(_least, self.columns)) + between * (len(self.columns) - 1)
        if least <= options.max_width:
            yield from super().__rich_console__(console, options)
            return
        yield from self._blocks()

    def _blocks(self) -> RenderResult:
        """Each row's first text, with the rest below it; a first column of words has its heading once."""
        headings = [_plain(column.header).replace("-\n", "").replace("\n", " ") for column in self.columns]
        texts = [list(map(_plain, column.cells)) for column in self.columns]
        numbered = bool(self.columns) and self.columns[0].justify == "right"
        if headings[0].strip() and not numbered:
            yield Text(headings[0], style="bold")
        for row in zip(*texts, strict=True):
            first, *rest = (" ".join(text.split()) for text in row)
            if first or any(rest):
                yield Text(f"{headings[0]} {first}".strip() if numbered else first)
                for line in _lines(headings[1:], rest):
                    yield Text(f"  {line}")


def _lines(headings: list[str], texts: list[str]) -> list[str]:
    """A line for each text that says something, without a heading for it on the line before."""
    lines: list[str] = []
    for heading, text in zip(headings, texts, strict=True):
        if text in ("", "-"):
            continue
        if heading or not lines:
            lines.append(f"{heading} {text}".strip())
        else:
            lines[-1] += f"  {text}"
    return lines


def _least(column: Column) -> int:
    """The least width of a column: of its longest number, or what words can be folded to."""
    texts = [_plain(cell) for cell in column.cells]
    parts = [part for text in texts for part in (text.splitlines() if column.no_wrap else text.split())]
    least = max(map(cell_len, parts), default=0)
    if column.justify == "right":
        heading = max(map(cell_len, _plain(column.header).split()), default=0)
        least = max(least, min(heading, _LEAST_TEXT) if column.overflow == "fold" else heading)
    elif not column.no_wrap or column.ratio:  # what takes the room that is left may be cut
        least = min(_LEAST_TEXT, least)
    return max(least, column.min_width or 0)


def _plain(cell: RenderableType) -> str:
    return cell.plain if isinstance(cell, Text) else Text.from_markup(str(cell)).plain
