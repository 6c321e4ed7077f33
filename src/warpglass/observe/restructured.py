"""What ptxas restructured in a kernel, as far as it matters to what a launch counts: labels and notes.

Belongs here: comparing the tallies of a launch with the translation of its kernel. Accesses that ptxas
merged, dropped or gathered are counted as the machine makes them; where that is not known, this says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..program import Branch, Program
from ..ptx import tree
from ..sass.accesses import Access
from ..sass.translate import Translation
from .counting import Tally


def scattered_lines(program: Program, translation: Translation, tallies: Sequence[Tally]) -> frozenset[int]:
    """PTX lines of accesses in loops whose threads did different numbers of trips and may be apart.

    That is so where ptxas unrolled the loop, and where it has several exits: threads in different copies, or
    that left elsewhere, make accesses of their own, which at the level of PTX are one.
    """
    parted = {tally.step.instruction.line for tally in tallies if tally.divergent}
    found: set[int] = set()
    for loop in translation.loops:
        exits = parted & set(_exits(program, loop.lines))
        lines = translation.accesses.keys() & loop.lines if exits else set[int]()
        found |= {line for line in lines if len(exits) > 1 or _copies(translation, line) > 1}
    return frozenset(found)


def _exits(program: Program, lines: frozenset[int]) -> Iterator[int]:
    """The lines of branches that leave a loop of these lines."""
    for block in program.blocks:
        if isinstance(block.end, Branch) and block.end.step.instruction.line in lines:
            steps = [next(iter(program.blocks[target].all_steps), None) for target in block.successors]
            if any(step is not None and step.instruction.line not in lines for step in steps):
                yield block.end.step.instruction.line


def gathered_lines(translation: Translation) -> frozenset[int]:
    """PTX lines of atomic operations that one thread of a warp does for all: there is a vote with them."""
    votes = {item.line for item in translation.code if item.name in ("VOTE", "VOTEU")}
    return frozenset(
        line
        for line, access in translation.accesses.items()
        if access.access in ("atomic", "reduction") and line in votes
    )


def _copies(translation: Translation, line: int) -> int:
    return sum(item.access != "" for item in translation.instructions(line))


def describe(program: Program, translation: Translation, tallies: Sequence[Tally]) -> Iterator[str]:
    """Say in words what ptxas changed, by the author's lines."""
    places = {tally.step.instruction.line: _place(tally.step.instruction.source) for tally in tallies}
    ran = {tally.step.instruction.line for tally in tallies if tally.issued}

    def where(lines: set[int]) -> str:
        named = sorted({places[line] for line in lines & places.keys()})
        shown = ", ".join(named[:4]) + (", ..." if len(named) > 4 else "")
        return f" ({shown})" if shown else ""

    def of(test: str) -> set[int]:
        return {line for line, access in translation.accesses.items() if _is(access, test) and line in ran}

    if lines := of("merged"):
        yield f"ptxas merged neighbouring accesses into wider ones{where(lines)}: they are counted so"
    if lines := of("removed"):
        yield f"ptxas keeps in registers what is accessed{where(lines)}: no memory is accessed there"
    if lines := set(gathered_lines(translation) & ran):
        yield f"ptxas lets one thread do an atomic operation for its warp{where(lines)}: it is counted so"
    if lines := set(scattered_lines(program, translation, tallies) & ran):
        yield (
            f"threads leave a loop after different numbers of trips{where(lines)}, and how ptxas lays it out "
            f"decides which of them access memory together: requests and sectors are those of the PTX"
        )


def _is(access: Access, test: str) -> bool:
    return access.merged and not access.removed if test == "merged" else access.removed


def _place(source: tree.SourceLocation | None) -> str:
    while source is not None and source.inlined_at is not None:
        source = source.inlined_at
    return f"line {source.line}" if source is not None and source.line else "PTX"
