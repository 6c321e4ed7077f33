"""What steps alone say of a loop's rounds: how registers move on, and how many rounds there are at most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from ..program import Branch, Program, Step
from ..ptx import tree
from .values.value import Value

# Rounds up to which lanes that part are better off together, and loads of each.
_FEW_ROUNDS, _FEW_LOADS = 4, 4


def pace_of(steps: Sequence[Step], register: str) -> int | None:
    """By how much a loop's rounds move a register on."""
    writers = [step for step in steps if register in step.writes]
    if len(writers) != 1 or writers[0].match.row.operation != "sum" or writers[0].instruction.guard:
        return None
    numbers = [one.value for one in writers[0].instruction.operands if isinstance(one, tree.Integer)]
    return numbers[0] if len(numbers) == 1 and writers[0].reads == {register} else None


def is_short(program: Program, kinds: Mapping[str, Value], body: Set[int]) -> bool:
    """Whether a loop is what an unrolled one leaves over: it counts a small number down to zero.

    To move lanes there, or to let them go one after the other, takes longer than its rounds.
    """
    inside = [step for index in sorted(body) for step in program.blocks[index].steps]
    if sum(step.match.load_or_store is not None for step in inside) > _FEW_LOADS:
        return False
    outside = [
        step for index, block in enumerate(program.blocks) if index not in body for step in block.steps
    ]
    ends = {
        block.end.register
        for block in (program.blocks[index] for index in body)
        if isinstance(block.end, Branch) and not body >= set(block.successors)
    }
    tests = [step for step in inside if not ends.isdisjoint(step.writes)]
    return len(tests) == 1 and any(
        _counts_few(inside, outside, kinds, register) for register in tests[0].reads
    )


def _counts_few(
    inside: Sequence[Step], outside: Sequence[Step], kinds: Mapping[str, Value], register: str
) -> bool:
    pace = pace_of(inside, register)
    sources = [
        kinds.get(name)
        for step in outside
        if register in step.writes
        for name in (step.reads if step.match.row.operation == "move" else (register,))
    ]
    return (
        pace is not None
        and pace < 0
        and len(sources) > 0
        and all(
            kind is not None
            and kind.low is not None
            and kind.high is not None
            and 0 <= kind.low <= kind.high <= -pace * _FEW_ROUNDS
            for kind in sources
        )
    )
