"""Streaming stores: steps that store nothing twice, where threads do not look at each other's results.

A thread executes such a step once, or in a loop that moves on to another address each time. What it stores to
a large array is not needed soon, so it may go past the caches (codegen/memory/streaming.py). Processors keep
no order among such stores: kernels with accesses or fences that order others have none.
"""

from __future__ import annotations

from ..isa.ordering import ordering_of
from ..ptx import tree
from .blocks import Barrier, Block, loops_of
from .decode import Step


def find_streaming(blocks: tuple[Block, ...]) -> frozenset[int]:
    """The numbers of these steps."""
    orderings = (ordering_of(step.match) for block in blocks for step in block.steps)
    if any(ordering.strong or ordering.fence for ordering in orderings):
        return frozenset()
    loops = loops_of(blocks)
    found: list[Step] = []
    for index, block in enumerate(blocks):
        around = [body for body in loops.values() if index in body]
        if not around:
            found += block.steps
        elif len(around) == 1:
            found += _moving([blocks[one] for one in around[0]], block)
    return frozenset(step.number for step in found)


def _moving(body: list[Block], block: Block) -> list[Step]:
    """The steps of a block whose address changes in the loop, if its threads do not wait for each other."""
    if any(isinstance(one.end, Barrier) for one in body):
        return []
    written = {name for one in body for step in one.steps for name in step.writes}
    return [step for step in block.steps if not written.isdisjoint(_bases(step))]


def _bases(step: Step) -> set[str]:
    """The registers that an instruction's addresses are in."""
    addresses = [one for one in step.instruction.operands if isinstance(one, tree.Address)]
    return {one.base.name for one in addresses if isinstance(one.base, tree.Register)}
