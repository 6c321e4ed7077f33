"""Where the blocks of a cooperative grid wait for each other: loops that poll the counter in its workspace.

The workspace lies where only `%envreg` registers lead, so accesses through registers that are computed from
them are the barrier's own, and a loop whose decisions depend on nothing else waits for other blocks.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..ptx import tree
from .blocks import Block, computed_from, loops_of
from .decode import Step


def find_grid_waits(blocks: tuple[Block, ...]) -> frozenset[int]:
    """The headers of loops that wait for the grid's barrier and do nothing else."""
    workspace = workspace_registers(step for block in blocks for step in block.steps)
    if not workspace:
        return frozenset()
    loops = loops_of(blocks)
    found: set[int] = set()
    for header, body in loops.items():
        polls = [step for index in body for step in blocks[index].steps if step.match.row.waits]
        if polls and all(reaches(step, workspace) for step in polls):
            found.add(header)
    return frozenset(found)


def reaches(step: Step, addresses: frozenset[str]) -> bool:
    """Whether a step accesses memory through one of the registers."""
    bases = [operand.base for operand in step.instruction.operands if isinstance(operand, tree.Address)]
    return any(isinstance(base, tree.Register) and base.name in addresses for base in bases)


def workspace_registers(steps: Iterable[Step]) -> frozenset[str]:
    """The registers that are computed from where a cooperative grid's workspace is."""
    listed = list(steps)
    named = (step for step in listed if any(map(_is_workspace, step.instruction.operands)))
    return frozenset(computed_from(listed, {name for step in named for name in step.writes}))


def _is_workspace(operand: tree.Operand) -> bool:
    return isinstance(operand, tree.Special) and operand.name.startswith("%envreg")
