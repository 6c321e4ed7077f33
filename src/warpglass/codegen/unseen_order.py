"""Unseen order: in which kernels no thread can tell in which order warps run, or which lanes run together.

Threads could tell by instructions of warps (shuffles, votes), registers that number lanes, waiting for each
other and what atomic operations return. Atomic operations of one kind that commute and whose results nobody
reads, on arrays that nothing else accesses meanwhile, leave the same in any order. A program whose threads
race on memory otherwise may see its races end otherwise. Belongs here: which kernels these are; whether it
pays to make use of it is asked elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..isa.atomic import commutes
from ..isa.table import Match
from ..program import Barrier, Branch, Exit, Jump, Program, Step
from ..program.blocks import computed_from
from ..program.pointers import MEMORY, OWN, Base, bases_of
from ..program.turns import find_read
from ..ptx import tree
from .control.barriers import names_barriers

# What is the same for all threads of a block, or theirs alone.
_SPECIALS = ("tid", "ntid", "ctaid", "nctaid")
# What a step does to an array: loads from it, stores to it, or changes it by an atomic operation on a type.
_How = str | tuple[str | None, str | None]


def is_unseen(program: Program) -> bool:
    """Whether no thread can tell which others run with it, but by shared memory that it reads early."""
    if program.fair or program.ordered or program.services or program.local.size or names_barriers(program):
        return False
    read = find_read(program.blocks)
    return all(
        isinstance(block.end, Barrier | Branch | Exit | Jump)
        and all(_ordinary(step, read) for step in block.all_steps)
        for block in program.blocks
    ) and _changes_apart(program)


def _ordinary(step: Step, read: set[str]) -> bool:
    row = step.match.row
    if row.control is not None:
        return row.control in ("barrier", "branch", "exit")
    specials = [one.name for one in step.instruction.operands if isinstance(one, tree.Special)]
    if any(name.removeprefix("%").partition(".")[0] not in _SPECIALS for name in specials):
        return False
    if row.is_atomic:
        return commutes(step.match) and read.isdisjoint(step.writes)
    return row.computes or (row.access in ("load", "store", "parameter") and not row.waits)


def _changes_apart(program: Program) -> bool:
    """Whether atomic operations on global memory have arrays for themselves, one kind for each of them."""
    outside = [step for step in _accesses(program) if step.match.state_space not in ("param", "shared")]
    changes = [step for step in outside if step.match.row.is_atomic]
    if not changes:
        return True
    bases = bases_of(program)
    kinds: dict[Base, _How] = {}
    for step in changes:
        how = _how(step.match)
        if any(kinds.setdefault(base, how) != how for base in bases[step.number]):
            return False
    others = frozenset(base for step in outside if step not in changes for base in bases[step.number])
    return kinds.keys().isdisjoint(others | {MEMORY, OWN}) and MEMORY not in others


def reads_early(program: Program) -> bool:
    """Whether an array in shared memory may be read after it was written, with no barrier between.

    What one warp then misses of another's is for the user to see: it shows a forgotten barrier.
    """
    arrays = _arrays(program)
    # What was written since the last barrier, and how, where a block begins.
    written = [frozenset[tuple[str, _How]]()] * len(program.blocks)
    work = list(range(len(program.blocks)))
    while work:
        index = work.pop()
        block, state = program.blocks[index], written[index]
        for step in block.steps:
            access = step.match.access
            if access is None or access.space != "shared":
                continue
            how, here = _how(step.match), arrays[step.number]
            if any(name in here and before != how for name, before in state):
                return True
            state = state | {(name, how) for name in here} if access.writes else state
        state = frozenset() if isinstance(block.end, Barrier) else state
        for target in block.successors:
            if not state <= written[target]:
                written[target] |= state
                work.append(target)
    return False


def _how(match: Match) -> _How:
    if match.row.is_atomic:
        return match.op, match.type
    return match.row.access or ""


def _accesses(program: Program) -> Iterator[Step]:
    return (step for block in program.blocks for step in block.all_steps if step.match.access is not None)


def _arrays(program: Program) -> dict[int, frozenset[str]]:
    """The variables in shared memory that each access may reach, by the number of its step."""
    steps = [step for block in program.blocks for step in block.steps]
    every = frozenset(program.shared.offsets)
    sources = {name: {r for step in steps if _names(step, name) for r in step.writes} for name in every}
    reached = {name: computed_from(steps, registers) for name, registers in sources.items()}
    found: dict[int, frozenset[str]] = {}
    for step in _accesses(program):
        base = step.address.base
        own = (
            frozenset(name for name in every if step.address_register in reached[name])
            if isinstance(base, tree.Register)
            else every.intersection((base.name,) if isinstance(base, tree.Symbol) else ())
        )
        found[step.number] = own or every
    return found


def _names(step: Step, variable: str) -> bool:
    """Whether a step computes with the address of a variable."""
    bases = (one.base if isinstance(one, tree.Displaced) else one for one in step.instruction.operands)
    return tree.Symbol(variable) in bases
