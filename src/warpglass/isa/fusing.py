"""Which instructions ptxas makes fused multiply-adds of, and how (program/contraction.py finds them).

PTX leaves it to the assembler whether a `mul` and an `add` without a rounding modifier are rounded once or
twice. What is here was found by assembling with ptxas 13.0 and reading the machine code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..ptx import tree
from .table import Match, match
from .types import convert_float

# Patterns of 1 in each type; a pair of halves is 1 if both are.
_ONE = {
    "f32": 0x3F800000,
    "f64": 0x3FF0000000000000,
    "f16": 0x3C00,
    "bf16": 0x3F80,
    "f16x2": 0x3C003C00,
    "bf16x2": 0x3F803F80,
}
_SIGN = {"f32": 1 << 31, "f64": 1 << 63, "f16": 1 << 15, "bf16": 1 << 15}
_SIGN |= {"f16x2": 0x80008000, "bf16x2": 0x80008000}

_PARTS = {"mul": "product", "add": "sum", "sub": "difference", "neg": "negation"}
_MODIFIERS = {"sum": {"ftz", "sat"}, "difference": {"ftz", "sat"}}

# Instructions that become a branch around difficult cases, by how they begin: always, or for some types.
_BRANCHING = {("rsqrt", "approx", "f64"), ("fence", "sc"), ("fence", "acq_rel"), ("membar",)}
_BRANCHING_FOR = {
    ("div",): "u16 s16 s32 u64 s64",
    ("rem",): "u16 s16 s32 u64 s64",
    **{(opcode, mode): "f32 f64" for opcode in ("div", "rcp", "sqrt") for mode in ("rn", "rz", "rm", "rp")},
}
# Where a predicate becomes a branch around an instruction; others are executed under it.
_ACTING = ("memory", "control", "inter_thread_communication", "tensor")


@dataclass(frozen=True, slots=True)
class Part:
    """What an instruction can be in a contraction: product, sum, difference, negation or copy.

    `type` is that of the numbers (empty for a copy), `flushed` whether subnormal ones are zero to it.
    """

    role: str
    type: str = ""
    flushed: bool = False

    @property
    def adds(self) -> bool:
        """Whether it can take a product as one of its terms."""
        return self.role in ("sum", "difference")

    def passes(self, product: Part) -> bool:
        """Whether a product that goes through it stays one but for its sign."""
        if self.role == "negation":  # that of a pair of bf16 is one of bits
            fits = self.type == product.type and self.flushed <= product.flushed
            return fits and self.type != "bf16x2"
        return self.role == "copy"

    def takes(self, product: Part) -> bool:
        """Whether a product can be one of its terms."""
        return self.adds and (self.type, self.flushed) == (product.type, product.flushed)


def part(m: Match) -> Part | None:
    """The part of an instruction, None if it has none: another operation, or one that says how to round."""
    opcode, modifiers, operands = m.instruction.opcode, m.instruction.modifiers, m.instruction.operands
    if not operands or not isinstance(operands[0], tree.Register):
        return None
    if m.row.operation == "move":
        return Part("copy")
    role = _PARTS.get(opcode)
    if role is None or modifiers[-1] not in _ONE:
        return None
    if not set(modifiers[:-1]) <= _MODIFIERS.get(role, {"ftz"}):
        return None
    return Part(role, modifiers[-1], "ftz" in modifiers)


def is_unit(type_: str, operand: tree.Operand) -> bool:
    """Whether a literal is 1 or -1: ptxas multiplies by it without a multiplication."""
    pattern = _pattern(type_, operand)
    return pattern in (_ONE[type_], _ONE[type_] | _SIGN[type_])


def is_literal(operand: tree.Operand) -> bool:
    """Whether an operand is a number."""
    return isinstance(operand, tree.Integer | tree.Float)


def _pattern(type_: str, operand: tree.Operand) -> int | None:
    match operand:
        case tree.Integer(value):
            return value
        case tree.Float(pattern, width):
            return convert_float(pattern, width, 64 if type_ == "f64" else 32)
        case _:
            return None


def is_constant_load(m: Match) -> bool:
    """Whether an instruction reads a fixed place of constant memory, where a kernel's parameters are too.

    Machine instructions name such a place as an operand, without a register.
    """
    address = m.operand("a")
    constant = m.row.access == "parameter" or (m.row.access == "load" and m.state_space == "const")
    return constant and isinstance(address, tree.Address) and isinstance(address.base, tree.Symbol)


def divides_blocks(m: Match) -> bool:
    """Whether an instruction becomes several basic blocks of machine code, none of which ends the kernel."""
    item = m.instruction
    if item.guard is not None and m.row.unit in _ACTING:
        return True
    words = (item.opcode, *item.modifiers)
    if any(words[: len(always)] == always for always in _BRANCHING):
        return True
    return any(
        words[: len(head)] == head and words[-1] in types.split() for head, types in _BRANCHING_FOR.items()
    )


def fuse(
    total: Match, factors: tuple[tree.Operand, tree.Operand], addend: tree.Operand, signs: tuple[bool, bool]
) -> Match:
    """A sum or difference with one product in it as a fused multiply-add.

    `signs` say whether the product and the addend are negated, which machine instructions do to operands.
    """
    item = total.instruction
    made = replace(
        item,
        opcode="fma",
        modifiers=("rn", *item.modifiers),
        operands=(item.operands[0], *factors, addend),
    )
    type_ = item.modifiers[-1]
    found, negation = match(made), match(tree.Instruction("neg", (type_,), item.operands[:2]))
    assert found is not None, "there is a fused form of every sum"
    assert negation is not None, "every type can be negated"
    if not any(signs):
        return found
    return Match(replace(found.row, meaning=_signed(found, negation, *signs)), made, found.values)


def _signed(fused: Match, negation: Match, product: bool, addend: bool) -> Callable[..., Any]:
    meaning, negate = fused.row.meaning, negation.row.meaning
    assert meaning is not None, "arithmetic has a meaning"
    assert negate is not None, "arithmetic has a meaning"

    def signed(lanes: Any, m: Match, a: Any, b: Any, c: Any) -> Any:
        a = negate(lanes, negation, a) if product else a
        c = negate(lanes, negation, c) if addend else c
        return meaning(lanes, m, a, b, c)

    return signed
