"""Which registers decide something: those that comparisons and loops depend on.

All others, as most addresses, follow from them by arithmetic, which infer.py does.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..isa.types import LLVM_TYPE
from ..program import Block, Program

INTEGERS = ("i1", "i32", "i64")
# Units whose instructions may yield integers of which something is known, from others.
COMPUTING = ("integer", "conversion", "misc")


def backward_edges(blocks: Sequence[Block]) -> list[tuple[int, int]]:
    """The edges that close loops: from which block, and to which head."""
    return [
        (index, target)
        for index, block in enumerate(blocks)
        for target in block.successors
        if target <= index
    ]


def deciding_registers(program: Program) -> set[str]:
    """Predicates, what loops change, and all that these are computed from."""
    integers = {name for name, type_ in program.registers.items() if LLVM_TYPE[type_] in INTEGERS}
    found = {name for name in integers if program.registers[name] == "pred"}
    for source, head in backward_edges(program.blocks):
        changed = {
            name
            for block in program.blocks[head : source + 1]
            for step in block.all_steps
            for name in step.writes
        }
        found |= changed & program.live[head] & integers
    steps = [step for block in program.blocks for step in block.steps if step.match.row.unit in COMPUTING]
    before = -1
    while len(found) > before:
        before = len(found)
        for step in reversed(steps):
            if not found.isdisjoint(step.writes):
                found |= step.reads & integers
    return found
