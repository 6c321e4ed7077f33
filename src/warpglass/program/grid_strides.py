"""Accesses in loops that stride by the grid: `for (int i = ...; i < n; i += gridDim.x * blockDim.x)`.

What a thread accesses at one turn, its neighbours in the grid access beside it, and it comes back to none of
it. A loop strides so if it moves a register on, from turn to turn, by what the grid's size has decided.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..ptx import tree
from .blocks import Block, loops_of
from .decode import Step

Readers = Mapping[str, Sequence[Step]]


def find_grid_strides(blocks: tuple[Block, ...], live: Sequence[frozenset[str]]) -> frozenset[int]:
    """The numbers of the steps whose address strides by the grid in the innermost loop around them."""
    every = [step for block in blocks for step in block.steps]
    sizes = [name for step in every if _reads_size(step) for name in step.writes]
    if not sizes:
        return frozenset()
    sized = _decided(_readers(every), sizes).union(sizes)
    loops = loops_of(blocks)
    found: set[int] = set()
    inside: set[int] = set()  # the blocks of loops that have been looked at
    for header, body in sorted(loops.items(), key=lambda loop: len(loop[1])):
        steps = [step for index in body for step in blocks[index].steps]
        strides = _strides(steps, live[header], sized)
        for index in body - inside:
            accesses = (step for step in blocks[index].steps if step.match.load_or_store is not None)
            found |= {step.number for step in accesses if step.address_register in strides}
        inside |= body
    return frozenset(found)


def _reads_size(step: Step) -> bool:
    operands = step.instruction.operands
    return any(isinstance(one, tree.Special) and one.name.startswith("%nctaid") for one in operands)


def _strides(steps: Sequence[Step], kept: frozenset[str], sized: set[str]) -> set[str]:
    """The registers of a loop decided by those that it moves on; `kept` are the registers that turns keep."""
    readers = _readers(steps)
    written = {name for step in steps for name in step.writes}
    amounts = sized - written
    strides: set[str] = set()
    for name in _decided(readers, amounts) & kept & written:
        decided = _decided(readers, (name,))
        if name in decided:
            strides |= decided
    return strides


def _readers(steps: Iterable[Step]) -> Readers:
    readers: dict[str, list[Step]] = {}
    for step in steps:
        for name in step.reads:
            readers.setdefault(name, []).append(step)
    return readers


def _decided(readers: Readers, names: Iterable[str]) -> set[str]:
    """The registers that some decide, by one step or several."""
    found: set[str] = set()
    work = list(names)
    while work:
        for step in readers.get(work.pop(), ()):
            fresh = set(step.writes) - found
            found |= fresh
            work += fresh
    return found
