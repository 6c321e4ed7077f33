"""Short blocks with stores on one side of a branch, which few lanes need not branch around.

`if (levels[w] < 0) levels[w] = level + 1` depends on what was just loaded, so the processor cannot foresee
it, and what comes behind a branch that was foreseen wrongly waits for the load. In code for few lanes such a
block runs in the one before it, under a mask: lanes that do not act load and store where nobody looks.
Registers that it writes for what comes behind keep what they held for those.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...program import Block, Branch, Jump, Program, Step
from ...program.blocks import predecessors_of
from ...program.selections import is_quick
from ..infer import Inference

_MOST, _ACCESSES = 12, 4  # steps of such a block, and loads and stores among them
_KEPT = frozenset(("b32", "b64", "f32"))  # types of registers that it may write for what comes behind
_SPACES = frozenset(("global", "shared", "generic"))


@dataclass(frozen=True, slots=True)
class Guarded:
    """A block that some lanes of the block before it run, and where all of them go on."""

    side: int
    taken: bool  # whether the branch is taken by those that run it
    meeting: int
    kept: tuple[str, ...]  # registers that other lanes keep


def find_guarded(program: Program, found: Inference, blocks: Iterable[int]) -> Mapping[int, Guarded]:
    """Those among some blocks of a program, by the blocks before them."""
    if program.fair:  # lanes that take turns stand anywhere
        return {}
    before = predecessors_of(program.blocks)
    guarded = {index: _side_of(program, found, before, index) for index in blocks}
    return {index: one for index, one in guarded.items() if one is not None}


def _side_of(program: Program, found: Inference, before: list[list[int]], index: int) -> Guarded | None:
    end = program.blocks[index].end
    if not isinstance(end, Branch) or found.offsets(end.register) is not None:
        return None
    for side, meeting in ((end.taken, end.other), (end.other, end.taken)):
        # Lanes that wait between them would run first, as would those that go around the side backwards.
        waits = any(index < one < meeting for one in found.pending.sets[index])
        if index < side < meeting and before[side] == [index] and not waits:
            block = program.blocks[side]
            if isinstance(block.end, Jump) and block.end.target == meeting and _may_be_guarded(block):
                written = {name for step in block.steps for name in step.writes} & program.live[meeting]
                if all(program.registers[name] in _KEPT for name in written):
                    return Guarded(side, side == end.taken, meeting, tuple(sorted(written)))
    return None


def _may_be_guarded(block: Block) -> bool:
    """Whether a block stores, and does nothing that takes long."""
    assert isinstance(block.end, Jump)
    steps = block.steps
    accesses = [step for step in steps if _accesses(step)]
    return (
        block.end.back is None
        and len(steps) <= _MOST
        and len(accesses) <= _ACCESSES
        and not all(step.writes for step in accesses)
        and all(is_quick(step) or step in accesses for step in steps)
    )


def _accesses(step: Step) -> bool:
    access = step.match.load_or_store
    return (
        access is not None
        and step.match.state_space in _SPACES
        and step.instruction.guard is None
        and not step.match.row.waits
    )
