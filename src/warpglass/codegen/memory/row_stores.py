"""Loops in which each lane stores along its own row: what they store is kept, and put down by 64 bytes.

Lanes that go along rows of a matrix store to as many places as there are lanes in each round. So the columns
that they store are kept side by side until there are 64 bytes of each row, which are then stored row by row.
What is kept is stored before anyone may look at it: where the loop is left, where a lane faults, and in front
of a load from the same array, which two parameters may point to.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...program import Block, Program, Step
from ...program.blocks import loops_of
from ...program.pointers import Base, bases_of
from ..infer import Inference
from ..machine.target import masks_bytes
from ..shape import BlockShape
from .paces import Paces
from .tiles import ROW, STORED, are_apart, bytes_of_element, groups_of, keeps_memory

# Memory in which no rows are; bytes of the columns that elements are kept in.
_OWN, _UNITS = ("const", "local", "param", "shared"), (4, 8)


@dataclass(frozen=True, slots=True)
class RowStores:
    """Steps that store along rows, and the blocks of the loops in which they do.

    What they store is kept in columns of `unit` bytes; `narrow` says that some elements are parts of one.
    `loads` are steps in these loops that may see what is kept.
    """

    unit: int = 0
    narrow: bool = False
    steps: frozenset[int] = frozenset()
    blocks: frozenset[int] = frozenset()
    loads: frozenset[int] = frozenset()


def find_row_stores(
    program: Program,
    shape: BlockShape,
    inference: Inference,
    lane_loops: Collection[int],
    few_lanes: Collection[int],
) -> RowStores:
    """The stores of innermost loops whose lanes stay together, to one row of each lane in a loop."""
    loops = loops_of(program.blocks)
    pointers = bases_of(program)
    unit, narrow = 0, False
    found, inside, loads = set[int](), set[int](), set[int]()
    for header, body in loops.items():
        blocks = [program.blocks[index] for index in sorted(body)]
        inner = not any(other in body for other in loops if other != header)
        served = header in program.fair or header in lane_loops or header in few_lanes
        parted = any(inference.divergent[index] for index in body)
        if (
            shape.width % (ROW // min(_UNITS))
            or served
            or parted
            or not inner
            or not all(keeps_memory(one, STORED) for one in blocks)
        ):
            continue
        steps = [step for block in blocks for step in block.steps]
        size, stored = _row_of(blocks, steps, inference)
        own = max(size, min(_UNITS))
        seen = [step for step in steps if _accesses(step, write=False)]
        bases = frozenset[Base]().union(*(pointers[step] for step in stored))
        if stored and unit in (0, own) and all(are_apart(bases, pointers[step.number]) for step in seen):
            unit, narrow = own, narrow or size < own
            found |= stored
            inside |= body
            loads.update(step.number for step in seen)
    return RowStores(unit, narrow, frozenset(found), frozenset(inside), frozenset(loads))


def _row_of(blocks: Sequence[Block], steps: Sequence[Step], inference: Inference) -> tuple[int, set[int]]:
    """A loop's stores if they go on along one row without gaps, and the size of their elements."""
    paces = Paces(steps)
    stores = {step.number for step in steps if _accesses(step, write=True)}
    for block in blocks:
        for members in groups_of(block, inference.kinds, ROW - 1, write=True):
            first, _ = members[0]
            access, register = first.match.load_or_store, first.address_register
            size = bytes_of_element(first)
            assert access is not None
            assert register is not None
            places = sorted(offset for _, offset in members)
            whole = all(b - a == access.size for a, b in pairwise(places))
            on = paces.of(register) == access.size * len(members)
            served = size in _UNITS or (size < min(_UNITS) and masks_bytes())
            if served and whole and on and {step.number for step, _ in members} == stores:
                return size, stores
    return 0, set()


def _accesses(step: Step, *, write: bool) -> bool:
    """Whether a step loads or stores where rows may be."""
    found = step.match.load_or_store
    return found is not None and found.writes == write and found.space not in _OWN
