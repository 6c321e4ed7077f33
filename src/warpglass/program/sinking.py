"""Computations moved down to the block that needs them, where more is known of what they are made of.

Compilers compute what does not change in front of a loop, and so in front of tests within it. numba's
`x[r, c - 1]` becomes `c < 1 ? c - 1 + columns : c - 1` there, and the loop tests `c - 1 >= 0` before it uses
that. Behind the test one half is all that can happen (codegen/path_bounds/). LLVM moves back what is the same
in each trip.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ..ptx import tree
from .blocks import Block
from .decode import Step

if TYPE_CHECKING:
    from . import Program

_UNITS = ("integer", "conversion")


def sink(program: Program) -> Program:
    """The program with what tests decide and one block alone reads computed there."""
    chosen = _chosen(program)
    users: dict[str, Counter[int]] = {}  # by register: how many reads of it each block has
    for index, block in enumerate(program.blocks):
        for name in _reads(block):
            users.setdefault(name, Counter())[index] += 1
    sunk: list[list[Step]] = [[] for _ in program.blocks]  # to the start of each block, the last one first
    kept: list[list[Step]] = [[] for _ in program.blocks]  # the last one first
    for index in range(len(program.blocks) - 1, -1, -1):
        for step in reversed(program.blocks[index].steps):
            target = _only_user(step.writes[0], users) if not chosen.isdisjoint(step.writes) else None
            if target is None or target == index:
                kept[index].append(step)
                continue
            sunk[target].append(step)
            for name in step.reads:
                users[name] = users[name] - Counter([index]) + Counter([target])
    if not any(sunk):
        return program
    blocks = tuple(
        replace(block, steps=(*reversed(early), *reversed(own)))
        for block, early, own in zip(program.blocks, sunk, kept, strict=True)
    )
    return program.rewritten(blocks)


def _reads(block: Block) -> Iterator[str]:
    for step in block.all_steps:
        yield from step.reads
    if block.splits is not None:
        yield block.splits


def _chosen(program: Program) -> frozenset[str]:
    """The registers that may be computed elsewhere, and on which a test has a bearing."""
    settled = _settled(program)
    found: set[str] = set()
    for block in program.blocks:
        for step in block.steps:
            names = {*step.reads, *step.writes}
            tested = not found.isdisjoint(names) or any(program.registers[one] == "pred" for one in names)
            if tested and _may_move(step, settled):
                found.update(step.writes)
    return frozenset(found)


def _settled(program: Program) -> frozenset[str]:
    """The registers that one instruction alone writes, before anything reads them.

    Where a block needs such a register, what that was computed from is the same as when it was computed.
    """
    writes = Counter(name for block in program.blocks for step in block.all_steps for name in step.writes)
    guarded = {
        name
        for block in program.blocks
        for step in block.all_steps
        for name in step.writes
        if step.instruction.guard is not None
    }
    return frozenset(name for name, count in writes.items() if count == 1) - guarded - program.live[0]


def _may_move(step: Step, settled: frozenset[str]) -> bool:
    """Whether a step may be done in another block."""
    return settled.issuperset((*step.reads, *step.writes)) and computes_anywhere(step)


def computes_anywhere(step: Step) -> bool:
    """Whether a step computes the same wherever its operands are the same, and at little cost."""
    row = step.match.row
    return (
        row.unit in _UNITS
        and row.computes
        and row.operation != "division"
        and len(step.writes) == 1
        and step.instruction.guard is None
        and not any(isinstance(operand, tree.Special) for operand in step.instruction.operands)
    )


def _only_user(name: str, users: Mapping[str, Counter[int]]) -> int | None:
    """The one block that reads a register, if there is only one."""
    blocks = users.get(name, {})
    return next(iter(blocks)) if len(blocks) == 1 else None
