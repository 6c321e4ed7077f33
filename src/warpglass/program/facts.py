"""What a launch needs to know of a kernel beside its machine code: little enough to be kept on disk.

Finding it takes parsing the PTX and building the program, longer than all else before a kernel's first
instruction when its machine code is known already. Code generation, observers and errors go to the program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..isa import Row
from ..ptx import tree
from . import Program
from .fairness import find_block_waits
from .layout import LocalLayout, SharedLayout
from .pointers import Base, bases_of
from .privatisation import Privatisable, find_privatisable
from .variables import ModuleVariable


@dataclass(frozen=True, slots=True)
class Deferrable:
    """The bases of addresses: those of sums that may be left for a block's end, and of all other accesses."""

    sums: frozenset[Base]
    others: frozenset[Base]


@dataclass(frozen=True, slots=True)
class Facts:
    """One kernel, as a launch sees it; fields of Program's names are the program's."""

    parameters: tuple[tree.Variable, ...]
    directives: tuple[tuple[str, tuple[int, ...]], ...]
    shared: SharedLayout
    local: LocalLayout
    variables: tuple[ModuleVariable, ...]
    addressed: bool
    functions: Mapping[str, int]
    services: frozenset[str]
    clustered: bool  # whether it waits for, or may name, other blocks of its cluster
    waits_for_blocks: bool  # whether a loop may wait for threads of other blocks
    most_steps: int | None  # of a warp, those that take time; None if it may loop, or wait for the host
    privatisable: Privatisable
    deferrable: Deferrable
    in_turns: bool  # whether all atomic operations but those on shared memory wait for the block's turn


def find_facts(function: tree.Function, program: Program) -> Facts:
    """The facts of an entry, from its declaration and its program."""
    names = frozenset(variable.name for variable in program.variables)
    return Facts(
        parameters=function.parameters,
        directives=function.directives,
        shared=program.shared,
        local=program.local,
        variables=program.variables,
        addressed=program.addressed,
        functions=program.functions,
        services=program.services,
        clustered=program.clustered,
        waits_for_blocks=not program.clustered
        and bool(find_block_waits(program.blocks, program.registers, program.live)),
        most_steps=_most_steps(program),
        privatisable=find_privatisable(program.blocks, program.registers, names),
        deferrable=_find_deferred(program),
        in_turns=all(
            step.number in program.ordered
            for block in program.blocks
            for step in block.all_steps
            if step.match.row.is_atomic and step.match.state_space != "shared"
        ),
    )


def _find_deferred(program: Program) -> Deferrable:
    if not program.deferrable:
        return Deferrable(frozenset(), frozenset())
    sums: set[Base] = set()
    others: set[Base] = set()
    for number, bases in bases_of(program).items():
        (sums if number in program.deferrable else others).update(bases)
    return Deferrable(frozenset(sums), frozenset(others))


def _most_steps(program: Program) -> int | None:
    blocks = program.blocks  # numbered in their order
    loops = any(target <= index for index, block in enumerate(blocks) for target in block.successors)
    if loops or program.services:
        return None
    return sum(not _is_free(step.match.row) for block in blocks for step in block.all_steps)


def _is_free(row: Row) -> bool:
    """Whether an instruction takes no time: what it reads is at hand. Python has a dozen for each array."""
    return row.access == "parameter" or row.operation in ("move", "generic to specific")
