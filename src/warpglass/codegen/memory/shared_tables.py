"""Tables in shared memory: small variables that a loop looks up in and does not change.

The states of an automaton, the classes of letters, a codebook: an index that was itself loaded has no bounds,
but hardly leaves the variable that it is counted from. So registers may hold that, if all lanes' elements are
found to lie in it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ...program import Program, Step
from ...program.blocks import loops_of

# Where a store may not be one to shared memory.
_ELSEWHERE = frozenset(("global", "local", "param", "const"))


@dataclass(frozen=True, slots=True)
class SharedTables:
    """The loads of loops that do not change shared memory, by their steps, and what they may look up in.

    A variable is at an address and as many bytes as there are to the one behind it.
    """

    steps: frozenset[int] = frozenset()
    variables: tuple[tuple[int, int], ...] = ()

    def find(self, step: int, address: int) -> tuple[int, int] | None:
        """The variable that a step looks up in, if it counts from this address."""
        if step not in self.steps:
            return None
        return next((one for one in self.variables if one[0] <= address < sum(one)), None)


def find_shared_tables(program: Program) -> SharedTables:
    """The tables of a program."""
    static = program.shared.static
    starts = sorted({start for start in program.shared.offsets.values() if start < static})
    if not starts:
        return SharedTables()
    loops = sorted(loops_of(program.blocks).values(), key=len)
    innermost: dict[int, Collection[int]] = {}
    for body in loops:
        for index in body:
            innermost.setdefault(index, body)
    writes = {index for index, block in enumerate(program.blocks) if _may_change(block.all_steps)}
    steps = [
        step.number
        for index, body in innermost.items()
        if writes.isdisjoint(body)
        for step in program.blocks[index].steps
        if step.match.load_or_store is not None
    ]
    return SharedTables(frozenset(steps), tuple((a, b - a) for a, b in pairwise([*starts, static])))


def _may_change(steps: Sequence[Step]) -> bool:
    """Whether steps may change shared memory."""
    for step in steps:
        row, access = step.match.row, step.match.load_or_store
        if row.access is None:
            continue
        reads = access is not None and not access.writes
        if not reads and row.access != "parameter" and step.match.state_space not in _ELSEWHERE:
            return True
    return False
