"""Divisions by constants, told from what compilers write for them: a multiplication and a shift; remainders.

Of the upper half of a product nothing simple is known, even where the numerator follows the lanes; of a
quotient much is: rows of a matrix whose width is a constant, say. So code generation is given the division.
`multiplier * divisor` is a little more than a power of two; that this is little enough for every numerator
is the condition by which compilers choose the multiplier (Granlund and Montgomery, "Division by Invariant
Integers using Multiplication", PLDI 1994). What a quotient leaves of its numerator is a remainder, of which
bounds are known. No probe sees what comes of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..ptx import tree
from .blocks import Block
from .decode import Step, steps_instead

if TYPE_CHECKING:
    from . import Program

_WIDTHS = (32, 64)
_Division = tuple[tree.Operand, tree.Operand, str]  # what is divided, by what, and how: s32, u64 ...
_ZERO = tree.Integer(0)
# Of what quotients and remainders are made.
_FOLLOWED = ("mul", "add", "shr", "div")


def find_quotients(program: Program) -> Program:
    """The program with divisions for quotients that multiplications give, and remainders for what is left."""
    registers = dict(program.registers)
    blocks = tuple(_Definitions(block, registers).with_quotients() for block in program.blocks)
    if all(new is old for new, old in zip(blocks, program.blocks, strict=True)):
        return program
    return program.rewritten(blocks, registers)


class _Definitions:
    """A block's instructions by the registers that they write, as long as their operands stand."""

    def __init__(self, block: Block, registers: dict[str, str]):
        self._block = block
        self._registers = registers
        self._made: dict[str, tree.Instruction] = {}
        self._readers: dict[str, list[str]] = {}  # results by the registers that they are made of

    def with_quotients(self) -> Block:
        steps: list[Step] = []
        changed = False
        for step in self._block.steps:
            found = self._instead(step.instruction)
            changed |= found is not None
            new = [step] if found is None else steps_instead(step, found)
            steps += new
            for one in new:
                self._note(one)
        return replace(self._block, steps=tuple(steps)) if changed else self._block

    def _note(self, step: Step) -> None:
        for name in step.writes:
            self._made.pop(name, None)
            for result in self._readers.pop(name, ()):
                self._made.pop(result, None)
        item = step.instruction
        if item.opcode in _FOLLOWED and item.guard is None and not step.reads.intersection(step.writes):
            (result,) = step.writes[:1] or ("",)
            self._made[result] = item
            for name in step.reads:
                self._readers.setdefault(name, []).append(result)

    def _instead(self, item: tree.Instruction) -> Sequence[tree.Instruction] | None:
        """The division or remainder that an instruction ends, if it does."""
        if item.guard is not None:
            return None
        match item.opcode:
            case "add":
                found = self._signed(item)
            case "sub":
                return self._remainder(item)
            case "shr" | "cvt":
                found = self._unsigned(item)
            case _:
                return None
        return None if found is None else [_divided(item, "div", found)]

    def _remainder(self, item: tree.Instruction) -> Sequence[tree.Instruction] | None:
        """`a - a / b * b`, which leaves everything if b is 0: that is looked at, unless it is a constant."""
        if len(item.modifiers) != 1:
            return None
        target, numerator, product = item.operands
        factors = self._of(product, "mul", "lo", item.modifiers[-1])
        if factors is None or not isinstance(target, tree.Register):
            return None
        for quotient, divisor in (factors, factors[::-1]):
            division = self._made.get(quotient.name) if isinstance(quotient, tree.Register) else None
            if (
                division is None
                or division.opcode != "div"
                or division.operands[1:] != (numerator, divisor)
                or division.modifiers[0][1:] != item.modifiers[-1][1:]
            ):
                continue
            found = numerator, divisor, division.modifiers[0]
            if isinstance(divisor, tree.Integer):
                return [_divided(item, "rem", found)] if divisor.value else None
            rest, empty = (tree.Register(f"{target.name}.{len(self._registers) + k}") for k in range(2))
            self._registers |= {rest.name: self._registers[target.name], empty.name: "pred"}
            type_ = f"b{found[2][1:]}"
            return [
                replace(_divided(item, "rem", found), operands=(rest, numerator, divisor)),
                replace(item, opcode="setp", modifiers=("eq", found[2]), operands=(empty, divisor, _ZERO)),
                replace(item, opcode="selp", modifiers=(type_,), operands=(target, numerator, rest, empty)),
            ]
        return None

    # ------------------------------------------------------------------------------------ what is divided
    def _unsigned(self, item: tree.Instruction) -> _Division | None:
        """`a * multiplier >> width + more`, by the upper half of the product or by all of it."""
        if (item.opcode, item.modifiers) == ("cvt", ("u32", "u64")):
            width = 32
            shifted = self._of(item.operands[1], "shr", "u64")
            product = shifted and self._of(shifted[0], "mul", "wide", "u32")
            more = -width
        else:
            width = next((one for one in _WIDTHS if item.modifiers == (f"u{one}",)), 0)
            shifted = item.operands[1:] if width and item.opcode == "shr" else None
            product = shifted and self._of(shifted[0], "mul", "hi", f"u{width}")
            more = 0
        if not shifted or not product or not isinstance(shifted[1], tree.Integer):
            return None
        numerator, multiplier = product
        if not isinstance(multiplier, tree.Integer):
            return None
        power = width + shifted[1].value + more
        divisor = _divisor(multiplier.value % (1 << width), power, width, 1 << width)
        return None if divisor is None else (numerator, tree.Integer(divisor), f"u{width}")

    def _signed(self, item: tree.Instruction) -> _Division | None:
        """The upper half, perhaps with the numerator added, shifted; one more if it is negative."""
        width = next((one for one in _WIDTHS if item.modifiers == (f"s{one}",)), 0)
        if not width:
            return None
        one, two = item.operands[1:]
        for shifted, sign in ((one, two), (two, one)):
            found = self._of(sign, "shr", f"u{width}")
            if found is None or found[1] != tree.Integer(width - 1):
                continue
            upper, more = found[0], 0
            if shifted != upper:
                moved = self._of(shifted, "shr", f"s{width}")
                if moved is None or moved[0] != upper or not isinstance(moved[1], tree.Integer):
                    continue
                more = moved[1].value
            division = self._of_upper(upper, more, width)
            if division is not None:
                return division
        return None

    def _of_upper(self, upper: tree.Operand, more: int, width: int) -> _Division | None:
        added = self._of(upper, "add", f"s{width}")
        pairs = [(upper, None)] if added is None else [added, added[::-1]]
        for product, numerator in pairs:
            factors = self._of(product, "mul", "hi", f"s{width}")
            if factors is None or not isinstance(factors[1], tree.Integer):
                continue
            if numerator is not None and numerator != factors[0]:
                continue
            # With the numerator added, the multiplier is more than signed bits say.
            multiplier = _signed(factors[1].value, width) + (0 if numerator is None else 1 << width)
            divisor = _divisor(multiplier, width + more, width, 1 << width - 1, signed=True)
            if divisor is not None:
                return factors[0], tree.Integer(divisor), f"s{width}"
        return None

    def _of(self, operand: tree.Operand, opcode: str, *modifiers: str) -> tuple[tree.Operand, ...] | None:
        """The sources of the instruction of this form that a register is the result of."""
        item = self._made.get(operand.name) if isinstance(operand, tree.Register) else None
        if item is None or (item.opcode, item.modifiers) != (opcode, modifiers):
            return None
        return item.operands[1:]


def _divided(item: tree.Instruction, opcode: str, division: _Division) -> tree.Instruction:
    numerator, divisor, type_ = division
    return replace(item, opcode=opcode, modifiers=(type_,), operands=(item.operands[0], numerator, divisor))


def _signed(number: int, width: int) -> int:
    half = 1 << width - 1
    return (number + half) % (2 * half) - half


def _divisor(multiplier: int, power: int, width: int, most: int, *, signed: bool = False) -> int | None:
    """What numerators up to `most` are divided by if multiplied and shifted by `power` bits; None: nothing.

    The product exceeds the quotient by less than the divisor's inverse; of numerators with a sign, which are
    rounded down and then corrected, by more than nothing.
    """
    if multiplier <= 0 or not width <= power < 2 * width:
        return None
    divisor = -(-(1 << power) // multiplier)
    excess = multiplier * divisor - (1 << power)
    inside = excess >= signed and excess * most <= 1 << power
    return divisor if 1 < divisor < 1 << width - 1 and inside else None
