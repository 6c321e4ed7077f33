"""The passes of a block sort on a terminal, as the course notes print them.

Belongs here: words and layout. Numbers of one digit stand without a gap, a block's numbers together.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from ..ladders.passes import Pass
from .tables import Column, DataTable, number, words


def print_trace(passes: Sequence[Pass], console: Console) -> None:
    """Print each pass: the numbers before, with its name and number of blocks, and the numbers after."""
    gap = _gap(passes)
    width = max(len(_line(parts, gap)) for one in passes for parts in (one.before, one.after))
    for place, one in enumerate(passes):
        _print(console, "" if place % 2 else "-" * width)
        blocks = "1 block" if one.blocks == 1 else f"{one.blocks} blocks"
        _print(console, f"{_line(one.before, gap):{width}} ------ ({one.name}) {blocks}")
        _print(console, _line(one.after, gap))
    _print(console, "-" * width)


def passes_table(passes: Sequence[Pass]) -> DataTable:
    """A row for each pass: its blocks, and the numbers before and after it, each block's together."""
    gap = _gap(passes)
    rows = tuple(
        (
            *(words(one.name), number(one.blocks, str(one.blocks))),
            *(words(_line(parts, gap)) for parts in (one.before, one.after)),
        )
        for one in passes
    )
    return DataTable(
        "Passes", (Column("pass"), Column("blocks", True), Column("before"), Column("after")), rows
    )


def _gap(passes: Sequence[Pass]) -> str:
    """What stands between a block's numbers: nothing where each has one digit."""
    return "" if all(len(_text(value)) == 1 for part in passes[0].before for value in part) else ","


def _line(parts: Sequence[Sequence[float]], gap: str) -> str:
    return " ".join(gap.join(_text(value) for value in part) for part in parts)


def _text(value: float) -> str:
    return f"{value:g}"


def _print(console: Console, text: str) -> None:
    console.print(Text(text), soft_wrap=True)
