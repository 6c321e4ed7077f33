"""Two loops of one block each, one behind the other, as compilers leave them of a loop that they unroll.

One does the rounds that are left over, the other one several at a time. Belongs here: the ways that lead into
each of them and past it. What both compute is compared elsewhere (unrolled_ranges.py, codegen/lane_loops/).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .blocks import Block, Branch, Jump


@dataclass(frozen=True, slots=True)
class Ways:
    """Two loops of one block each: the block that leads past the first one or, by `before_first`, into it.

    Behind it, `between` does the same for the second; either may lead there at once.
    """

    start: int
    before_first: int | None
    first: int
    between: int
    before_second: int | None
    second: int
    end: int


def find_ways(blocks: Sequence[Block], before: Sequence[Sequence[int]], first: int) -> Ways | None:
    """The ways that lead from a loop to another one, or past both, if there are no others."""
    between = _exit(blocks, first)
    entry = None if between is None else _entry(blocks, before, first)
    if between is None or entry is None:
        return None
    start, before_first = entry
    if set(before[between]) != {start, first} or set(blocks[start].successors) != {
        first if before_first is None else before_first,
        between,
    }:
        return None
    for target in blocks[between].successors:
        end = blocks[target].end
        second = end.target if isinstance(end, Jump) and end.back is None else target
        behind = _exit(blocks, second)
        if behind is None or _entry(blocks, before, second) != (
            between,
            None if second == target else target,
        ):
            continue
        if set(blocks[between].successors) == {target, behind}:
            return Ways(
                start, before_first, first, between, None if second == target else target, second, behind
            )
    return None


def _exit(blocks: Sequence[Block], index: int) -> int | None:
    """Where a block that is a loop by itself is left to; None if it is none."""
    end = blocks[index].end
    if not isinstance(end, Branch) or index not in blocks[index].successors or end.taken == end.other:
        return None
    return end.other if end.taken == index else end.taken


def _entry(
    blocks: Sequence[Block], before: Sequence[Sequence[int]], header: int
) -> tuple[int, int | None] | None:
    """The block that decides whether a loop is entered, and one behind that which only leads there."""
    sources = [index for index in before[header] if index != header]
    if len(sources) != 1:
        return None
    (source,) = sources
    if isinstance(blocks[source].end, Branch):
        return source, None
    (*others,) = before[source]
    if (
        len(others) == 1
        and isinstance(blocks[source].end, Jump)
        and isinstance(blocks[others[0]].end, Branch)
    ):
        return others[0], source
    return None
