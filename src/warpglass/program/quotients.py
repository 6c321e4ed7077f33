"""Divisions by constants, told from what compilers write for them: a multiplication and a shift.

Of the upper half of a product nothing simple is known, even where the numerator follows the lanes; of a
quotient much is: rows of a matrix whose width is a constant, say. So code generation is given the division.
`multiplier * divisor` is a little more than a power of two; that this is little enough for every numerator
is the condition by which compilers choose the multiplier (Granlund and Montgomery, "Division by Invariant
Integers using Multiplication", PLDI 1994). No probe sees what comes of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .. import isa
from ..ptx import tree
from .blocks import Block
from .decode import Step, make_step

if TYPE_CHECKING:
    from . import Program

_WORD = 32


def find_quotients(program: Program) -> Program:
    """The program with divisions for quotients that a multiplication gives."""
    blocks = tuple(_Definitions(block).with_quotients() for block in program.blocks)
    if all(new is old for new, old in zip(blocks, program.blocks, strict=True)):
        return program
    return program.rewritten(blocks, dict(program.registers))


class _Definitions:
    """A block's instructions by the registers that they write, as long as their operands stand."""

    def __init__(self, block: Block):
        self._block = block
        self._made: dict[str, tree.Instruction] = {}

    def with_quotients(self) -> Block:
        steps: list[Step] = []
        changed = False
        for step in self._block.steps:
            found = self._quotient(step.instruction)
            changed |= found is not None
            match = step.match if found is None else isa.match(found)
            assert match is not None, "integers of 32 bits are divided"
            steps.append(step if found is None else make_step(step.number, match))
            self._note(step)
        return replace(self._block, steps=tuple(steps)) if changed else self._block

    def _note(self, step: Step) -> None:
        for name in step.writes:
            self._made.pop(name, None)
            for result in [r for r, one in self._made.items() if tree.Register(name) in one.operands]:
                del self._made[result]
        item = step.instruction
        if len(step.writes) == 1 and item.guard is None and not step.reads.intersection(step.writes):
            self._made[step.writes[0]] = item

    def _quotient(self, item: tree.Instruction) -> tree.Instruction | None:
        """The division that an instruction ends, if it does."""
        if item.guard is not None:
            return None
        found = self._signed(item) if item.opcode == "add" else self._unsigned(item)
        if found is None:
            return None
        numerator, divisor, type_ = found
        return replace(
            item,
            opcode="div",
            modifiers=(type_,),
            operands=(item.operands[0], numerator, tree.Integer(divisor)),
        )

    # ------------------------------------------------------------------------------------ what is divided
    def _unsigned(self, item: tree.Instruction) -> tuple[tree.Operand, int, str] | None:
        """`a * multiplier >> 32 + more`, by the upper half of the product or by all of it."""
        if (item.opcode, item.modifiers) == ("cvt", ("u32", "u64")):
            shifted = self._of(item.operands[1], "shr", "u64")
            product = shifted and self._of(shifted[0], "mul", "wide", "u32")
            more = -_WORD
        else:
            shifted = self._shifted(item, "u32")
            product = shifted and self._of(shifted[0], "mul", "hi", "u32")
            more = 0
        if not shifted or not product or not isinstance(shifted[1], tree.Integer):
            return None
        numerator, multiplier = product
        if not isinstance(multiplier, tree.Integer):
            return None
        divisor = _divisor(multiplier.value % (1 << _WORD), shifted[1].value + more, 1 << _WORD)
        return None if divisor is None else (numerator, divisor, "u32")

    def _signed(self, item: tree.Instruction) -> tuple[tree.Operand, int, str] | None:
        """The upper half, perhaps with the numerator added, shifted; one more if it is negative."""
        if item.modifiers != ("s32",):
            return None
        one, two = item.operands[1:]
        for shifted, sign in ((one, two), (two, one)):
            found = self._of(sign, "shr", "u32")
            if found is None or found[1] != tree.Integer(_WORD - 1):
                continue
            upper, by = found[0], 0
            if shifted != upper:
                moved = self._of(shifted, "shr", "s32")
                if moved is None or moved[0] != upper or not isinstance(moved[1], tree.Integer):
                    continue
                by = moved[1].value
            added = self._of(upper, "add", "s32")
            pairs = [(upper, None)] if added is None else [added, added[::-1]]
            for product, numerator in pairs:
                factors = self._of(product, "mul", "hi", "s32")
                if factors is None or not isinstance(factors[1], tree.Integer):
                    continue
                if numerator is not None and numerator != factors[0]:
                    continue
                # With the numerator added, the multiplier is 2**32 more than 32 signed bits say.
                multiplier = _signed(factors[1].value) + (0 if numerator is None else 1 << _WORD)
                divisor = _divisor(multiplier, by, 1 << _WORD - 1, signed=True)
                if divisor is not None:
                    return factors[0], divisor, "s32"
        return None

    def _shifted(self, item: tree.Instruction, type_: str) -> tuple[tree.Operand, ...] | None:
        return item.operands[1:] if (item.opcode, item.modifiers) == ("shr", (type_,)) else None

    def _of(self, operand: tree.Operand, opcode: str, *modifiers: str) -> tuple[tree.Operand, ...] | None:
        """The sources of the instruction of this form that a register is the result of."""
        item = self._made.get(operand.name) if isinstance(operand, tree.Register) else None
        if item is None or (item.opcode, item.modifiers) != (opcode, modifiers):
            return None
        return item.operands[1:]


def _signed(number: int) -> int:
    half = 1 << _WORD - 1
    return (number + half) % (2 * half) - half


def _divisor(multiplier: int, more: int, most: int, *, signed: bool = False) -> int | None:
    """What numerators up to `most` are divided by if multiplied and shifted by 32 + more bits; None: nothing.

    The product exceeds the quotient by less than the divisor's inverse; of numerators with a sign, which are
    rounded down and then corrected, by more than nothing.
    """
    if multiplier <= 0 or not 0 <= more < _WORD:
        return None
    power = 1 << _WORD + more
    divisor = power // multiplier + (1 if power % multiplier else 0)
    excess = multiplier * divisor - power
    return divisor if divisor > 1 and excess >= signed and excess * most <= power else None
