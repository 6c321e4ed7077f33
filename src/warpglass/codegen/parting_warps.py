"""Loops in which lanes part, for several warps together: each round waits for the one before it.

A walk of a tree or a search in a table is a chain of loads, and a warp has one under way for each lane. Two
or four warps that go through it as one have as many chains that do not wait for each other, so a round of all
takes little longer than one of a warp. That is worth more than the rounds in which some lanes only wait for
those of other warps. Belongs here: for which kernels that holds.

Threads only load until they have come to what they store, and they load nothing of that. So nobody sees that
the warps went together, and the thread to blame for a fault is found anyway (engine/cpu/second_look.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from ..isa.table import MemoryAccess
from ..program import Barrier, Program, Step
from ..program.blocks import loops_of
from ..program.pointers import MEMORY, Base, bases_of
from .infer import Inference
from .machine.target import gathers_quickly

# Instructions on vectors that such a loop may have: values of more lanes take more registers.
_LONGEST = 32
# Instructions of a kernel that is fused so: with masks of more lanes longer ones take seconds to compile.
_MOST_STEPS = 300


def waits_apart(program: Program, inference: Inference) -> bool:
    """Whether several warps that part in a kernel's loops are faster together, and nobody can see it."""
    if not gathers_quickly() or not _stores_last(program) or not stores_apart(program):
        return False
    if sum(len(block.steps) for block in program.blocks) > _MOST_STEPS:
        return False
    loops = loops_of(program.blocks)
    inner = [body for body in loops.values() if sum(header in body for header in loops) == 1]
    waiting = [body for body in inner if _waits(program, inference, body)]
    return bool(waiting) and all(_length(program, inference, body) <= _LONGEST for body in waiting)


def _stores_last(program: Program) -> bool:
    """Whether threads load first, and then store: outside of loops, and without barriers."""
    accesses = [(index, access) for index, _, access in _accesses(program)]
    often = frozenset[int]().union(*loops_of(program.blocks).values())
    writes = [access.writes for _, access in accesses]
    again = any(access.writes and index in often for index, access in accesses)
    return shares_nothing(program) and not again and writes == sorted(writes)


def shares_nothing(program: Program) -> bool:
    """Whether threads neither wait at barriers nor access shared memory."""
    waits = any(isinstance(block.end, Barrier) for block in program.blocks)
    accesses = (step.match.access for block in program.blocks for step in block.steps)
    return not waits and not any(access is not None and access.space == "shared" for access in accesses)


def stores_apart(program: Program) -> bool:
    """Whether threads load from other arrays than they store to."""
    bases = bases_of(program)
    loaded, stored = set[Base](), set[Base]()
    for _, step, access in _accesses(program):
        (stored if access.writes else loaded).update(bases[step.number])
    return MEMORY not in loaded | stored and loaded.isdisjoint(stored)


def _accesses(program: Program) -> Iterator[tuple[int, Step, MemoryAccess]]:
    """The loads and stores, but for those of parameters, with the blocks that they are in."""
    for index, block in enumerate(program.blocks):
        for step in block.steps:
            access = step.match.load_or_store
            if access is not None and access.space != "param":
                yield index, step, access


def _waits(program: Program, inference: Inference, body: set[int]) -> bool:
    """Whether lanes leave a loop by what something slow has told each, there or at a branch inside."""
    blocks = [program.blocks[index] for index in body]
    parting = [block for block in blocks if _apart(inference, block.splits)]
    if all(body.issuperset(block.successors) for block in parting):
        return False
    sought = {block.splits for block in parting if block.splits is not None}
    steps = [step for block in blocks for step in block.steps]
    known = set[str]()
    while sought:
        known |= sought
        found = [step for step in steps if not sought.isdisjoint(step.writes)]
        if any(_is_slow(step, inference) for step in found):
            return True
        sought = {name for step in found for name in step.reads} - known
    return False


def _is_slow(step: Step, inference: Inference) -> bool:
    """Whether a step is a load from each lane's own place, or a division."""
    if step.match.load_or_store is not None:
        return _apart(inference, step.address_register)
    return step.match.row.operation == "division" and any(_apart(inference, name) for name in step.writes)


def _apart(inference: Inference, name: str | None) -> bool:
    """Whether lanes have values of a register that follow no form."""
    return name is not None and inference.offsets(name) is None


def _length(program: Program, inference: Inference, body: set[int]) -> int:
    """The instructions on vectors in a loop."""
    steps = (step for index in body for step in program.blocks[index].steps)
    return sum(any(_apart(inference, name) for name in step.writes) for step in steps)
