"""Branches that only choose values, made selections: both sides are computed, and each lane takes its own.

`if (y < k * x) at = i - 1; else if (y > m * x) at = i - w; else ...` costs masks and jumps for a handful of
operations, and what is chosen comes from other blocks, so that nothing is known of it. In one block, code
generation sees what each lane may have chosen (codegen/lanes/choices.py). No probe sees what comes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import isa
from ..ptx import tree
from .blocks import Block, Branch, Exit, Jump, WarpBarrier, predecessors_of
from .decode import Step, make_step
from .renaming import with_names

if TYPE_CHECKING:
    from . import Program

# What is as quickly computed as left out, in single precision or integers.
_QUICK = frozenset(
    "abs add and bfe cvt cvta fma lop3 mad max min mov mul neg not or selp setp shl shr sub xor".split()
)
_SLOW_TYPES = frozenset(("f64", "f16", "f16x2", "bf16", "bf16x2"))
_BITS = {"16": "b16", "32": "b32", "64": "b64"}
_MOST = 32  # steps of both sides


def select_values(program: Program) -> Program:
    """The program with selections in place of branches around a few operations."""
    if program.fair:  # lanes that take turns stand anywhere
        return program
    made = _Selections(program)
    # Inner branches first: their blocks follow.
    for index in range(len(program.blocks) - 1, -1, -1):
        while made.follow(index) or made.select(index):
            pass
    if not made.left:
        return program
    return program.rewritten(tuple(made.blocks), made.registers)


class _Selections:
    def __init__(self, program: Program):
        self.blocks = list(program.blocks)
        self.registers = dict(program.registers)
        self.left: set[int] = set()  # blocks that nothing leads to any more
        self._live = program.live
        self._before = [set(one) for one in predecessors_of(self.blocks)]

    def follow(self, index: int) -> bool:
        """Let a block go on with the next one, if only it leads there; whether it does.

        Lanes run the lowest-numbered block first, so none may be left between them.
        """
        block = self.blocks[index]
        if index in self.left or not isinstance(block.end, Jump) or block.end.back is not None:
            return False
        target = block.end.target
        if self._before[target] != {index} or not self.left.issuperset(range(index + 1, target)):
            return False
        behind = self.blocks[target]
        if target <= index or isinstance(behind.end, WarpBarrier):
            return False
        self.blocks[index] = Block((*block.steps, *behind.steps), behind.end)
        for after in behind.successors:
            self._before[after].add(index)
        self._leave(target)
        return True

    def select(self, index: int) -> bool:
        """Make the branch that ends a block a selection, if it is a choice of values; whether it was."""
        block = self.blocks[index]
        if not isinstance(block.end, Branch) or block.end.taken == block.end.other:
            return False
        sides = [self._side(index, target) for target in (block.end.taken, block.end.other)]
        meeting = self._meeting(block.end, sides)
        if meeting is None:
            return False
        steps = [step for side in sides if side is not None for step in self.blocks[side].steps]
        chosen = {name for step in steps for name in step.writes} & self._live[meeting]
        if len(steps) > _MOST or not all(_chosen_type(self.registers[name]) for name in chosen):
            return False
        self._join(index, block.end, sides, sorted(chosen), meeting)
        return True

    def _side(self, index: int, target: int) -> int | None:
        """The block on one side of a branch, if it does nothing else than compute and lead on."""
        block = self.blocks[target]
        alone = self._before[target] == {index} and isinstance(block.end, Jump) and block.end.back is None
        return target if alone and target != index and all(map(is_quick, block.steps)) else None

    def _meeting(self, end: Branch, sides: Sequence[int | None]) -> int | None:
        """Where both sides of a branch lead, of which one may have nothing to do; None if they part.

        So they do if a side comes behind that place: lanes that are there run first, as at a loop's header.
        """
        ways = {
            target if side is None else self.blocks[side].successors[0]
            for target, side in zip((end.taken, end.other), sides, strict=True)
        }
        meeting = ways.pop()
        return meeting if not ways and all(side is None or side < meeting for side in sides) else None

    def _join(
        self, index: int, end: Branch, sides: Sequence[int | None], chosen: Sequence[str], meeting: int
    ) -> None:
        """Compute both sides in the block in front of them, choose, and go on where they meet."""
        steps = list(self.blocks[index].steps)
        number = end.step.number
        names: list[dict[str, str]] = []
        for side in sides:
            names.append({})
            if side is not None:
                steps += self._apart(self.blocks[side].steps, names[-1])
                self._leave(side)
        holds, fails = reversed(names) if end.negated else names
        for name in chosen:
            type_ = _chosen_type(self.registers[name])
            assert type_ is not None, "only what can be chosen is"
            operands = (name, holds.get(name, name), fails.get(name, name), end.register)
            match = isa.match(tree.Instruction("selp", (type_,), tuple(map(tree.Register, operands))))
            assert match is not None, "registers of these types can be chosen from"
            steps.append(make_step(number, match))
        self.blocks[index] = Block(tuple(steps), Jump(meeting))
        self._before[meeting].add(index)

    def _apart(self, steps: Sequence[Step], names: dict[str, str]) -> list[Step]:
        """A side's steps with registers of their own for what they write, which `names` is told."""
        found: list[Step] = []
        for step in steps:
            own = {name: f"{name}.{len(self.registers) + k}" for k, name in enumerate(step.writes)}
            self.registers.update({own[name]: self.registers[name] for name in step.writes})
            found.append(with_names(step, names, own))
            names.update(own)
        return found

    def _leave(self, index: int) -> None:
        """Empty a block that nothing leads to any more."""
        self.left.add(index)
        for target in self.blocks[index].successors:
            self._before[target].discard(index)
        self.blocks[index] = Block((), Exit())


def is_quick(step: Step) -> bool:
    """Whether a step does nothing but compute, as quickly as it is skipped, whichever lanes act."""
    item = step.instruction
    return (
        item.opcode in _QUICK
        and step.match.row.computes
        and item.guard is None
        and len(step.writes) == len(set(step.writes))
        and _SLOW_TYPES.isdisjoint(item.modifiers)
        and not any(isinstance(operand, tree.Special) for operand in item.operands)
    )


def _chosen_type(type_: str) -> str | None:
    """The type of a selection of registers of a type; None if there is none, as of predicates."""
    return type_ if type_ in ("f32", "f64") else _BITS.get(type_.strip("bsuf"))
