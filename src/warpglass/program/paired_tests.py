"""Tests of two words at once, taken apart: what compilers write for `a >= 0 && b >= 0`.

`or.b32 c, a, b; setp.lt.s32 p, c, 0` tests both signs with one comparison. Of `c` nothing simple is known,
even where `a` and `b` follow the lanes; so code generation is given two comparisons. In the same way
`and.b64 d, c, M` looks for bits in both, in front of a 64-bit division that might be one of 32 bits. No probe
sees what comes of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..ptx import tree
from .blocks import Block
from .decode import Step, steps_instead

if TYPE_CHECKING:
    from . import Program

# How the signs are combined, by the operation on the words and the comparison with zero.
_COMBINED = {
    ("or", "lt"): "or",
    ("or", "ge"): "and",
    ("and", "lt"): "and",
    ("and", "ge"): "or",
    ("xor", "lt"): "xor",
}
_OPERATIONS = frozenset(operation for operation, _ in _COMBINED)


def split_tests(program: Program) -> Program:
    """The program with a test of each word."""
    registers = dict(program.registers)
    blocks = tuple(_split(block, registers) for block in program.blocks)
    if len(registers) == len(program.registers):
        return program
    return program.rewritten(blocks, registers)


def _split(block: Block, registers: dict[str, str]) -> Block:
    made: dict[str, tree.Instruction] = {}  # the operations whose operands and results still stand
    steps: list[Step] = []
    for step in block.steps:
        steps += _signs(step, made, registers) or _bits(step, made, registers) or [step]
        for name in step.writes:
            made.pop(name, None)
            for result in [r for r, one in made.items() if tree.Register(name) in one.operands]:
                del made[result]
        item = step.instruction
        if item.opcode in _OPERATIONS and item.guard is None and not step.reads.intersection(step.writes):
            made[step.writes[0]] = item
    return replace(block, steps=tuple(steps)) if len(steps) > len(block.steps) else block


def _signs(step: Step, made: dict[str, tree.Instruction], registers: dict[str, str]) -> list[Step] | None:
    """The two comparisons that a step stands for; None if it is no test of two signs."""
    item = step.instruction
    if item.opcode != "setp" or len(item.operands) != 3 or item.guard is not None:
        return None
    target, word, other = item.operands
    if not (isinstance(target, tree.Register) and isinstance(word, tree.Register) and other == _ZERO):
        return None
    operation = made.get(word.name)
    if operation is None or not all(isinstance(one, tree.Register) for one in operation.operands):
        return None
    comparison, type_ = item.modifiers[0], item.modifiers[-1]
    combined = _COMBINED.get((operation.opcode, comparison))
    if combined is None or type_ not in ("s32", "s64"):
        return None
    _, one, two = operation.operands
    first = tree.Register(f"{target.name}.{len(registers)}")
    registers[first.name] = "pred"
    items = (
        replace(item, modifiers=(comparison, type_), operands=(first, one, _ZERO)),
        replace(item, modifiers=(comparison, combined, type_), operands=(target, two, _ZERO, first)),
    )
    return steps_instead(step, items)


def _bits(step: Step, made: dict[str, tree.Instruction], registers: dict[str, str]) -> list[Step] | None:
    """The masks of two words that a step stands for, and what combines them."""
    item = step.instruction
    if item.opcode != "and" or item.guard is not None:
        return None
    target, word, mask = item.operands
    operation = made.get(word.name) if isinstance(word, tree.Register) else None
    if operation is None or operation.opcode != "or" or not isinstance(mask, tree.Integer):
        return None
    assert isinstance(target, tree.Register)
    parts: list[tree.Register] = []
    for _ in range(2):
        parts.append(tree.Register(f"{target.name}.{len(registers)}"))
        registers[parts[-1].name] = registers[target.name]
    masked = [
        replace(item, operands=(part, source, mask))
        for part, source in zip(parts, operation.operands[1:], strict=True)
    ]
    return steps_instead(step, [*masked, replace(item, opcode="or", operands=(target, *parts))])


_ZERO = tree.Integer(0)
