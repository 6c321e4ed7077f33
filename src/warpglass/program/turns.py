"""Steps in which blocks must take turns for results that do not depend on timing.

Blocks run on several threads at once, so the order in which atomic operations of different blocks reach an
element is anyone's. Most do not mind: a sum of integers is the same in any order. Where it matters, as for
sums of floating-point numbers, for tickets, or for a maximum and a minimum of one element, a block waits
until all blocks before it have ended. So such operations happen in the order of the blocks, however many
threads there are (codegen/control/turns.py). Operations of two kinds are on one element if one register and
offset is the address of both; else they are taken to be on different ones. The counter by which cooperative
grids synchronise is not looked at (grid_barriers.py).

A sum that nobody sees before the block ends need not wait: it may be kept until then, with all others of the
block in their order (codegen/memory/deferred.py).
"""

from __future__ import annotations

from collections.abc import Iterable

from ..isa.atomic import commutes, depends_on_order
from ..ptx import tree
from .blocks import Block
from .decode import Step
from .grid_barriers import reaches, workspace_registers

_SUMS = (("add", "f32"), ("add", "f64"))


def find_ordered(blocks: tuple[Block, ...]) -> frozenset[int]:
    """The numbers of the steps before which a block needs its turn."""
    read = find_read(blocks)
    steps = [step for block in blocks for step in block.steps]
    mixed = _find_mixed(steps)
    found = [
        s for s in steps if s.number in mixed or depends_on_order(s.match, used=not read.isdisjoint(s.writes))
    ]
    workspace = workspace_registers(steps) if found else frozenset[str]()
    return frozenset(step.number for step in found if not reaches(step, workspace))


def _find_mixed(steps: Iterable[Step]) -> set[int]:
    """The numbers of the operations that share an address with those of another kind."""
    kinds: dict[tree.Address, dict[int, tuple[str | None, str | None]]] = {}
    for step in steps:
        match = step.match
        if commutes(match) and match.state_space != "shared":
            signs = match.type if match.op in ("min", "max") else None  # to others they are the same
            kinds.setdefault(step.address, {})[step.number] = match.op, signs
    return {number for found in kinds.values() if len(set(found.values())) > 1 for number in found}


def find_deferrable(blocks: tuple[Block, ...]) -> frozenset[int]:
    """The numbers of the steps of floating-point sums, of one type, whose results nobody uses."""
    read = find_read(blocks)
    found = [
        step
        for block in blocks
        for step in block.steps
        if step.match.row.is_atomic
        and step.match.state_space == "global"
        and (step.match.op, step.match.type) in _SUMS
        and step.match.vec is None
        and read.isdisjoint(step.writes)
    ]
    return frozenset(step.number for step in found if step.match.type == found[0].match.type)


def find_read(blocks: tuple[Block, ...]) -> set[str]:
    """The registers that anything reads."""
    read: set[str] = set()
    for block in blocks:
        read.update(block.read_at_end, *(step.reads for step in block.steps))
    return read
