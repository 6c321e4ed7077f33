"""A kernel's texts on a terminal: under each source line the PTX and the machine code made of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from rich.console import Console
from rich.text import Text

from ..records.listing import Listing, MachineLine, PtxLine
from .check_source import short as short_path

_WIDE = 100  # columns from which PTX and machine code stand side by side


def print_listing(listing: Listing, console: Console) -> None:
    """Print the source with what was made of each line; below it what comes from no line."""
    console.print(Text(f"{listing.kernel} for {listing.target}", style="bold"))
    if listing.note:
        console.print(Text(f"No machine code: {listing.note}", style="yellow"))
    machine: dict[int, list[MachineLine]] = {}
    for item in listing.machine:
        machine.setdefault(item.ptx, []).append(item)
    made: dict[tuple[str, int], list[PtxLine]] = {}
    for line in listing.ptx:
        made.setdefault((line.file, line.line), []).append(line)
    for source in listing.sources:
        console.print()
        console.print(Text(short_path(source.file), style="bold"))
        for number, text in enumerate(source.lines, source.first):
            console.print(Text(f"{number:>5} ", "dim").append(text.expandtabs(4), "bold"), soft_wrap=True)
            _print_made(made.pop((source.file, number), []), machine, console)
    rest = [line for lines in made.values() for line in lines]
    if rest:
        console.print()
        console.print(Text("From no line of these files", style="bold"))
        _print_made(sorted(rest, key=lambda line: line.number), machine, console)


def _print_made(lines: list[PtxLine], machine: dict[int, list[MachineLine]], console: Console) -> None:
    for left, right in _pairs(lines, machine):
        if console.width >= _WIDE:
            half = (console.width - 8) // 2
            text = Text(f"        {left:<{half}} ", "cyan").append(right, "green")
            console.print(text, soft_wrap=True)
            continue
        if left:
            console.print(Text(f"        {left}", "cyan"), soft_wrap=True)
        if right:
            console.print(Text(f"            {right}", "green"), soft_wrap=True)


def _pairs(lines: list[PtxLine], machine: dict[int, list[MachineLine]]) -> Iterator[tuple[str, str]]:
    """PTX with the machine instructions made of it beside, each on a line."""
    for line in lines:
        code = [f"{item.offset:04x} {item.text}" for item in machine.pop(line.number, [])]
        yield " ".join(line.text.split()), code[0] if code else ""
        yield from (("", item) for item in code[1:])


def listing_json(listing: Listing) -> str:
    """Return a listing as JSON text."""
    return json.dumps(asdict(listing), indent=1)
