"""A program made plainer before kinds are found: of its instructions and registers more can be said."""

from __future__ import annotations

from ...program import Program, sink, split_registers, split_tests
from ..infer import infer_kinds
from ..operands import Symbols
from ..registers import Kind
from ..shape import BlockShape, Promises
from .analysis import COMPUTING, bound_by_paths

# What a register costs, in that of a scalar one: roughly the instructions that an operation on it takes.
_VECTOR_COST, _GUARD_COST = 4, 2


def specialise(program: Program, shape: BlockShape, promises: Promises, symbols: Symbols) -> Program:
    """The same program for launches that keep promises; probes see another.

    Paths are followed where all integers are promised, which decides most loops; those launches repeat, so it
    delays none.
    """
    program = split_tests(program)
    if promises.exact:
        program = bound_by_paths(sink(program), shape, promises, symbols)
    return split_registers(program)


def cost_of_forms(program: Program, shape: BlockShape, promises: Promises, symbols: Symbols) -> int:
    """What a program's registers cost in the forms that they have, to compare what launches might promise."""
    plainer = specialise(program, shape, promises, symbols)
    kinds = infer_kinds(plainer, shape, promises, symbols).kinds
    computed = {
        name
        for block in plainer.blocks
        for step in block.steps
        for name in step.writes
        if step.match.row.unit in COMPUTING
    }
    return sum(_cost(kind, name in computed) for name, kind in kinds.items())


def _cost(kind: Kind, computed: bool) -> int:
    if kind.offsets is None:
        return _VECTOR_COST
    free = computed and kind.constant is not None  # no instruction, where there would have been one
    return (not free) + _GUARD_COST * kind.guarded
