"""What machine code tells about how often it was executed: the lines that its instructions were made from.

Belongs here: choosing, for each PTX line, the operation that tells most, and where it stands. Instructions
that ptxas cannot move across branches (accesses, barriers, exchanges, branches) were executed as often as
their PTX line; floating-point ones usually so; others are moved freely. Of integers of 64 bits one line is
several instructions, which look like copies, as are some products of tensor cores: the block with the fewest
is taken to have one. These are the grades of evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .decode import Instruction
from .graph import MachineBlock
from .operations import FLOPS, TENSOR
from .translate import Translation

GRADES = FIXED, COMPUTED, MOVABLE, WIDE = range(4)

_COMPUTE = (FLOPS.keys() | TENSOR) - {"HFMA2"}  # which also makes constants
# Operations that say nothing about where their line is executed.
_PLACED_ANYWHERE = ("MOV", "UMOV", "LDC", "ULDC", "LDCU", "CS2R", "S2R", "S2UR", "NOP", "BSSY", "BSYNC")


@dataclass(frozen=True, slots=True)
class Copies:
    """Where a line's most telling operation stands: how many times in each block.

    `complete` tells whether a copy is executed whenever the line is: of a branch, unrolling drops some.
    """

    line: int
    grade: int
    blocks: Mapping[int, int]
    complete: bool


def find_copies(translation: Translation) -> Iterator[Copies]:
    """Yield the copies of each line that some instruction tells about."""
    by_line: dict[int, list[tuple[int, str, int]]] = {}
    for number, block in enumerate(translation.graph.blocks):
        for item in block.instructions if not block.rare else ():
            grade = _grade(item, block, translation)
            if grade is not None:
                by_line.setdefault(item.line, []).append((grade, item.name, number))
    for line, found in by_line.items():
        if any(name in _COMPUTE for _, name, _ in found):  # a division or root, which has one MUFU
            found = [(COMPUTED if name == "MUFU" else grade, name, number) for grade, name, number in found]
        best = min(grade for grade, _, _ in found)
        total = Counter(name for grade, name, _ in found if grade == best)
        telling = min(total, key=lambda name: total[name])
        places = Counter(number for grade, name, number in found if (grade, name) == (best, telling))
        several = best == MOVABLE and line in translation.wide and max(places.values()) > 1
        if several or telling in TENSOR:
            once = min(places.values())
            places = Counter({number: count // once for number, count in places.items()})
        best = WIDE if several else best
        yield Copies(line, best, places, telling not in ("BRA", "EXIT"))


def find_spins(translation: Translation) -> Mapping[int, int]:
    """Return the blocks that try an atomic operation until it succeeds, with its line."""
    return {
        number: block.end.line
        for number, block in enumerate(translation.graph.blocks)
        if number in block.successors and block.end.line not in translation.splits
    }


def _grade(item: Instruction, block: MachineBlock, translation: Translation) -> int | None:
    """How much an instruction tells about its block; None if nothing."""
    control = item.operation.control
    if item is block.end and item.conditional and control in ("branch", "exit"):
        return FIXED if item.line in translation.splits else None
    if item.guard is not None or item.name in _PLACED_ANYWHERE or control in ("branch", "exit", "call"):
        return None
    if item.line in translation.calls:  # moves of parameters, wherever they belong
        return None
    if item.access or control == "barrier" or item.operation.kind == "inter_thread_communication":
        return FIXED
    return COMPUTED if item.name in _COMPUTE else MOVABLE
