"""Privatisation: atomic operations whose sums each thread of the host may keep apart until the end.

An integer operation whose result nobody uses leaves the same whatever the order, and if nothing else in the
kernel accesses the array, no thread can tell when it happens. So each thread of the host may keep the sums of
its own blocks (engine/cpu/privatisation.py). Belongs here: which accesses are such, and what all others may
reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..isa.atomic import commutes, has_instruction
from .blocks import Block
from .pointers import Base, find_bases
from .turns import find_read


@dataclass(frozen=True, slots=True)
class Privatisable:
    """Operations that may be privatised: PTX's names of it and of its type, with the bases of its address.

    `others` are the bases of all other accesses, `atomics` those of the atomic operations among them that are
    plain loads and stores in a launch on one thread.
    """

    operations: tuple[tuple[str, str, frozenset[Base]], ...]
    others: frozenset[Base]
    atomics: frozenset[Base]

    @property
    def anything(self) -> bool:
        """Whether there are atomic operations at all."""
        return bool(self.operations or self.others or self.atomics)


def find_privatisable(
    blocks: tuple[Block, ...], types: Mapping[str, str], variables: frozenset[str]
) -> Privatisable:
    """Sort a kernel's accesses; `types` are the registers', `variables` the module's variables' names."""
    steps = {step.number: step for block in blocks for step in block.all_steps}
    if not any(step.match.row.is_atomic for step in steps.values()):
        return Privatisable((), frozenset(), frozenset())  # whoever shares an array, nothing is kept apart
    read = find_read(blocks)
    found: list[tuple[str, str, frozenset[Base]]] = []
    others: set[Base] = set()
    atomics: set[Base] = set()
    for number, bases in find_bases(blocks, types, variables).items():
        step = steps[number]
        operation, type_ = step.match.op, step.match.type
        if operation and type_ and commutes(step.match) and read.isdisjoint(step.writes):
            found.append((operation, type_, bases))
            continue
        others |= bases
        if has_instruction(step.match):
            atomics |= bases
    return Privatisable(tuple(found), frozenset(others), frozenset(atomics))
