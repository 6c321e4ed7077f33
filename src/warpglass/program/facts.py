"""What a launch needs to know of a kernel beside its machine code: little enough to be kept on disk.

Finding it takes parsing the PTX and building the program, longer than all else before a kernel's first
instruction when its machine code is known already. Code generation, observers and errors go to the program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..isa.convert import cvta_to, mov
from ..isa.memory import ld_param
from ..ptx import tree
from . import Program
from .layout import LocalLayout, SharedLayout
from .privatisation import Privatisable, find_privatisable
from .variables import ModuleVariable


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
    most_steps: int | None  # of a warp, those that take time; None if it may loop, or wait for the host
    privatisable: Privatisable


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
        most_steps=_most_steps(program),
        privatisable=find_privatisable(program.blocks, program.registers, names),
    )


def _most_steps(program: Program) -> int | None:
    blocks = program.blocks  # numbered in their order
    loops = any(target <= index for index, block in enumerate(blocks) for target in block.successors)
    if loops or program.services:
        return None
    return sum(step.match.row.meaning not in _FREE for block in blocks for step in block.all_steps)


# Instructions that take no time: what they read is at hand. Python's kernels have a dozen for each array.
_FREE = (cvta_to, ld_param, mov)
