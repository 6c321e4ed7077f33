"""Loops over Python's ranges: unrolled ones whose rounds lanes share unevenly, rolled up again.

A range counts down how many of its numbers are left. Each round of the loop takes one, if there is one:

    more = left > 0;  left += more ? -1 : 0;  next += more ? step : 0;  go on if more

NVVM unrolls that by four behind a loop of the rounds that are left over. Where lanes stride along a row from
their thread's index on, some do another round there than others, and in the unrolled loop nothing is known of
how far their addresses lie apart. The first loop does all rounds here, of which there are max(left, 0) + 1:
that is what the compiler counts, as it is spelled `left + max(~left, -1) + 2`, so nothing is left to be
tested. That the second loop's round is so many of the first one's is seen by numbering what both compute.

What a range leaves behind is mostly read by nobody. Then `next` moves on by `step` whatever `more` is, since
lanes of which it does not hold leave: it keeps a form that is the same in all lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .. import isa
from ..ptx import tree
from .blocks import Block, Branch, Exit, Jump, computed_from, index_registers, predecessors_of
from .decode import Step, make_step
from .loop_ways import find_ways
from .renaming import with_names
from .unrolled_ranges import Unrolled

if TYPE_CHECKING:
    from . import Program


def roll_ranges(program: Program, bound: Callable[[Program], Program]) -> Program:
    """The program with such loops rolled up, and without choices that only lanes which leave would notice.

    `bound` finds the steps' bounds: where a range has one number of rounds, lanes share them evenly.
    """
    if program.fair:  # lanes that take turns stand anywhere in their loop
        return program
    found = list(_find(program))
    bounded = bound(program) if found else program
    blocks = list(program.blocks)
    for loops, more, left in found:
        if not _is_even(bounded, loops, left):
            _roll(blocks, loops, more)
    if tuple(blocks) != program.blocks:
        program = program.rewritten(tuple(blocks))
    chosen = tuple(_settled(program, block) for block in program.blocks)
    return program if chosen == program.blocks else program.rewritten(chosen)


def _find(program: Program) -> Iterator[tuple[Unrolled, str, str]]:
    """The unrolled loops, each with the predicate that there is another round, and what counts those left."""
    before = predecessors_of(program.blocks)
    steps = [step for block in program.blocks for step in block.all_steps]
    uneven = computed_from(steps, index_registers(steps))
    for index in range(len(program.blocks)):
        ways = find_ways(program.blocks, before, index)
        if ways is None:
            continue
        for last in (False, True):
            loops = Unrolled(program, ways, last)
            if (counted := loops.counted()) is not None and counted[1] in uneven:
                yield loops, *counted


def _is_even(program: Program, loops: Unrolled, left: str) -> bool:
    """Whether what is left as a loop begins is one number."""
    inside = {loops.single, loops.unrolled}
    bounds = {
        step.bounds.get(left)
        for index, block in enumerate(program.blocks)
        for step in block.steps
        if index not in inside and left in step.writes
    }
    return all(one is not None and one[0] == one[1] for one in bounds) and len(bounds) == 1


def _roll(blocks: list[Block], loops: Unrolled, more: str) -> None:
    """Let the loop of single rounds go on while there are `more`, and nobody go to the unrolled one."""
    ways, single = loops.ways, loops.single
    entered = ways.between if loops.last else ways.first if ways.before_first is None else ways.before_first
    blocks[ways.start] = replace(blocks[ways.start], end=Jump(entered))
    if loops.last:
        entered = ways.second if ways.before_second is None else ways.before_second
        blocks[ways.between] = replace(blocks[ways.between], end=Jump(entered))
        left = (ways.before_first, ways.first)
    else:
        left = (ways.between, ways.before_second, ways.second)
    end = blocks[single].end
    assert isinstance(end, Branch)
    step = with_names(end.step, {end.register: more}, {})
    end = replace(end, step=step, register=more)
    end = replace(end, other=ways.end) if end.taken == single else replace(end, taken=ways.end)
    blocks[single] = replace(blocks[single], end=end)
    for index in left:
        if index is not None:
            blocks[index] = Block((), Exit())


# ------------------------------------------------------------------------------------ what nobody notices
def _settled(program: Program, block: Block) -> Block:
    """A block without choices by what its branch decides by, if nobody reads what they lead to on one way."""
    end = block.end
    if not isinstance(end, Branch) or end.taken == end.other:
        return block
    steps = list(block.steps)
    for position, step in enumerate(steps):
        item = step.instruction
        if item.opcode != "selp" or item.guard is not None:
            continue
        test = _test(steps[:position], item.operands[3])
        if test is None or test != _test(steps, tree.Register(end.register)):
            continue
        reached = computed_from(steps[position + 1 :], step.writes)
        seen = any(
            not reached.isdisjoint(later.reads) and not later.match.row.computes
            for later in steps[position + 1 :]
        )
        for holds in (True, False):
            away = end.taken if holds == end.negated else end.other  # where lanes go of which the other is so
            if not seen and end.register not in reached and reached.isdisjoint(program.live[away]):
                steps[position] = _copy(step, item.operands[1 if holds else 2])
                break
    return replace(block, steps=tuple(steps))


def _test(steps: Sequence[Step], operand: tree.Operand) -> tuple[object, ...] | None:
    """How a predicate is computed, from what its operands hold there; None if that is not known."""
    if not isinstance(operand, tree.Register):
        return None
    writer = next((k for k in range(len(steps) - 1, -1, -1) if operand.name in steps[k].writes), None)
    if writer is None:
        return None
    step = steps[writer]
    if step.instruction.opcode != "setp" or step.instruction.guard is not None or len(step.writes) != 1:
        return None
    versions = [sum(name in one.writes for one in steps[:writer]) for name in sorted(step.reads)]
    return step.instruction.modifiers, step.instruction.operands[1:], *versions


def _copy(step: Step, source: tree.Operand) -> Step:
    """A step that gives what another one writes an operand of that."""
    item = step.instruction
    match = isa.match(tree.Instruction("mov", item.modifiers, (item.operands[0], source)))
    assert match is not None, "what can be chosen can be moved"
    return make_step(step.number, match)
