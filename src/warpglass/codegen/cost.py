"""What a version of a kernel would cost, before it is made: whether more promises are worth another one."""

from __future__ import annotations

from .path_bounds.analysis import COMPUTING
from .values.value import Value
from .version import Version

# What a register costs, in that of a scalar one: roughly the instructions that an operation on it takes.
_VECTOR_COST, _GUARD_COST = 4, 2


def cost_of_forms(version: Version) -> int:
    """What a version's registers cost in the forms that they have, to compare what launches might promise."""
    computed = {
        name
        for block in version.program.blocks
        for step in block.steps
        for name in step.writes
        if step.match.row.unit in COMPUTING
    }
    return sum(_cost(kind, name in computed) for name, kind in version.inference.kinds.items())


def _cost(kind: Value, computed: bool) -> int:
    if kind.offsets is None:
        return _VECTOR_COST
    free = computed and kind.constant is not None  # no instruction, where there would have been one
    return (not free) + _GUARD_COST * (kind.ok is not None)
