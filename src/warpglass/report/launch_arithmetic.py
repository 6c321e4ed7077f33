"""The arithmetic of a launch: how many blocks so many elements need, and which threads have nothing to do.

Belongs here: the numbers and their table. Elements are counted in as many dimensions as the block has; one
is a thread's, or, with `each`, so many are, in the first dimension.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import ceil, prod

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..errors import ArgumentError
from .tables import Cell, Column, DataTable, number, words

_WARP = 32


@dataclass(frozen=True, slots=True)
class LaunchArithmetic:
    """A launch that covers some elements; `waves` is None where the kernel's occupancy is not known."""

    elements: tuple[int, ...]
    block: tuple[int, ...]
    each: int
    grid: tuple[int, ...]
    threads: int
    idle_threads: int
    warps: int
    empty_lanes: int
    whole_idle_warps: int | None
    gpu: str
    blocks_at_once: int
    waves: float


def launch_arithmetic(
    elements: Sequence[int], block: Sequence[int], each: int, gpu: str, at_once: int
) -> LaunchArithmetic:
    """The grid of blocks that covers the elements, `at_once` blocks of which the GPU holds; ArgumentError."""
    if len(elements) != len(block):
        raise ArgumentError(
            f"{len(elements)} dimensions of elements, {len(block)} of the block: give as many of each"
        )
    if min(*elements, *block, each) < 1:
        raise ArgumentError("elements, block and elements a thread must be 1 or more")
    spans = (block[0] * each, *block[1:])
    grid = tuple(-(-count // span) for count, span in zip(elements, spans, strict=True))
    blocks, size = prod(grid), prod(block)
    busy = prod((-(-elements[0] // each), *elements[1:]))
    warps = -(-size // _WARP)
    return LaunchArithmetic(
        elements=tuple(elements),
        block=tuple(block),
        each=each,
        grid=grid,
        threads=blocks * size,
        idle_threads=blocks * size - busy,
        warps=blocks * warps,
        empty_lanes=blocks * (warps * _WARP - size),
        whole_idle_warps=(blocks * size - busy) // _WARP if len(block) == 1 else None,
        gpu=gpu,
        blocks_at_once=at_once,
        waves=blocks / at_once if at_once else 0.0,
    )


def arithmetic_table(found: LaunchArithmetic) -> DataTable:
    """The numbers with how they come about."""
    elements, block, grid = ("x".join(map(str, part)) for part in (found.elements, found.block, found.grid))
    ways = [
        f"ceil({count} / {span})"
        for count, span in zip(found.elements, (found.block[0] * found.each, *found.block[1:]), strict=True)
    ]
    unfilled = "the block is no multiple of 32" if found.empty_lanes else ""
    blocks, size = prod(found.grid), prod(found.block)
    guarded = "the guard sends them home" if found.idle_threads else ""
    at_once = f"{found.gpu} holds {found.blocks_at_once:,} such blocks at once"
    rows = (
        ("grid", number(blocks, f"{grid} = {blocks:,} blocks"), " x ".join(ways)),
        ("threads", _count(found.threads), f"{blocks:,} blocks of {size}"),
        ("idle threads", _count(found.idle_threads), guarded),
        ("warps", _count(found.warps), f"{ceil(size / _WARP)} a block"),
        ("empty lanes", _count(found.empty_lanes), unfilled),
        ("waves", number(found.waves, f"{found.waves:.4g}"), at_once),
    )
    return DataTable(
        f"{elements} elements in blocks of {block} threads",
        (Column("what"), Column("number", True), Column("how")),
        tuple((words(name), value, words(way)) for name, value, way in rows),
    )


def _count(value: int) -> Cell:
    return number(value, f"{value:,}")


def print_arithmetic(found: LaunchArithmetic, console: Console) -> None:
    """Print the numbers with how they come about."""
    shown = arithmetic_table(found)
    console.print(Text(shown.title, style="bold"))
    table = Table.grid(padding=(0, 2), pad_edge=True)
    for name, value, way in shown.rows:
        table.add_row(name.text, value.text, Text("" if way.text == "-" else way.text, style="dim"))
    console.print(table)
    last = found.waves - ceil(found.waves) + 1
    if found.waves > 1 and last < 1:
        console.print(Text(f"The last wave is {100 * last:.3g} % full."))


def arithmetic_json(found: LaunchArithmetic) -> str:
    """Return the numbers as JSON text."""
    return json.dumps(asdict(found), indent=1)
