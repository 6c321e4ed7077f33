"""The instruction table: rows in the manual's notation, each with its meaning, found by `match`.

A row is declared by decorating its meaning, in the file of its section of the manual (integer.py, ...):

    @row("add.type  d, a, b", type=INTEGERS, unit="integer")
    def add(lanes, m, a, b):
        return lanes.add(a, b)

`lanes` is the vocabulary of lanes.py, `m` the Match (`m.type`, `m.rnd`, ... are the modifiers' values, None
where left out), the rest the source operands as lane values. The result is the destination's value, a tuple
for several destinations or a vector, None for none. Instructions that use the condition code register say so
(`reads=CARRY`, `writes=CARRY`): it is a per-thread register like any other, the last source and the last
destination. Control rows have no meaning of their own: `control` says
what they do to the flow of a warp, and program/ and codegen/ act on that word. An operand called `mask` names
the lanes that execute an instruction together: they wait for each other in front of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..ptx import tree
from .notation import OperandForm, Pattern, parse_notation

Meaning = Callable[..., Any]
# Why a combination of modifiers is none, given their values; None if it is one.
Exclusion = Callable[[Mapping[str, str]], str | None]


# The condition code register: no operand names it, rows declare that they read or write it. Its name is none
# that PTX could give a register.
CARRY = "CC.CF"
IMPLICIT: Mapping[str, str] = {CARRY: "pred"}  # registers of this kind, with their types

_COMPUTING = frozenset(("integer", "fp16", "fp32", "fp64", "conversion", "misc"))  # units, one of moves

Place = tuple[OperandForm, tree.Operand, str]


@dataclass(frozen=True, slots=True)
class Row:
    """One form of one instruction."""

    pattern: Pattern
    unit: str  # the class that Nsight Compute counts it in: integer, fp32, fp64, control, memory, ...
    meaning: Meaning | None
    control: str | None = None  # "branch", "exit", "barrier", "trap"
    flops: int = 0  # floating-point operations per thread
    implicit: tuple[Place, ...] = ()  # registers used without being named, behind the operands
    waits: bool = False  # threads wait for each other by looking at its result
    collect: Meaning | None = None  # a barrier's result, computed when its warp goes on
    excludes: Exclusion | None = None  # what notation cannot say: that one choice rules out another

    @property
    def computes(self) -> bool:
        """Whether it makes registers of registers and does nothing else."""
        return self.unit in _COMPUTING and self.meaning is not None and self.control is None


class Match:
    """An instruction with its row; modifiers are attributes (`m.type`), None if absent."""

    __slots__ = ("_forms", "instruction", "row", "values")

    def __init__(self, row: Row, instruction: tree.Instruction, values: dict[str, str]):
        self.row = row
        self.instruction = instruction
        self.values = values
        self._forms: tuple[Place, ...] | None = None

    def __getattr__(self, name: str) -> str | None:
        return self.values.get(name)

    @property
    def has_pair(self) -> bool:
        """Whether the first destination is written `p|q`."""
        return bool(self.instruction.operands) and isinstance(self.instruction.operands[0], tree.Pair)

    @property
    def member_mask(self) -> tree.Operand | None:
        """The operand, if there is one, that names the lanes that execute the instruction together."""
        for form, operand in zip(self.row.pattern.operands, self.instruction.operands, strict=False):
            if form.name == "mask":
                return operand
        return None

    def forms(self) -> tuple[Place, ...]:
        """Each operand with its place in the notation and its PTX type; implicit registers come last."""
        if self._forms is None:
            pattern = self.row.pattern
            named = [
                (form, operand, pattern.type_of(form, self.values, operand))
                for form, operand in zip(pattern.operands, self.instruction.operands, strict=False)
            ]
            self._forms = (*named, *self.row.implicit)
        return self._forms


ROWS: dict[str, list[Row]] = {}


def row(
    notation: str,
    *,
    unit: str,
    control: str | None = None,
    flops: int = 0,
    reads: str | None = None,
    writes: str | None = None,
    waits: bool = False,
    collect: Meaning | None = None,
    excludes: Exclusion | None = None,
    **choices: str,
) -> Callable[[Meaning], Meaning]:
    """Add a row to the table; the decorated function is its meaning."""

    def declare(meaning: Meaning) -> Meaning:
        add_row(
            notation,
            unit=unit,
            meaning=meaning,
            control=control,
            flops=flops,
            reads=reads,
            writes=writes,
            waits=waits,
            collect=collect,
            excludes=excludes,
            **choices,
        )
        return meaning

    return declare


def add_row(
    notation: str,
    *,
    unit: str,
    meaning: Meaning | None = None,
    control: str | None = None,
    flops: int = 0,
    reads: str | None = None,
    writes: str | None = None,
    waits: bool = False,
    collect: Meaning | None = None,
    excludes: Exclusion | None = None,
    **choices: str,
) -> None:
    """Add a row without decorating: for control rows and meanings shared by several rows.

    `reads` and `writes` name implicit registers: one more source or result of the meaning.
    """
    pattern = parse_notation(notation, choices)
    implicit = tuple(
        (OperandForm(name, IMPLICIT[name], destination=destination), tree.Register(name), IMPLICIT[name])
        for name, destination in ((reads, False), (writes, True))
        if name is not None
    )
    ROWS.setdefault(pattern.opcode, []).append(
        Row(pattern, unit, meaning, control, flops, implicit, waits, collect, excludes)
    )


def match(instruction: tree.Instruction) -> Match | None:
    """The row for an instruction, or None if the table has no such form."""
    return next((found for found, reason in _candidates(instruction) if reason is None), None)


def exclusion(instruction: tree.Instruction) -> str | None:
    """Why modifiers that the table has do not go together; None if that is not the matter."""
    return next((reason for _, reason in _candidates(instruction) if reason is not None), None)


def _candidates(instruction: tree.Instruction) -> Iterator[tuple[Match, str | None]]:
    """The rows whose notation an instruction has, and what they exclude of it."""
    for candidate, values in _rows_with(instruction.opcode, instruction.modifiers):
        if candidate.pattern.fits_operands(instruction.operands, values):
            reason = candidate.excludes(values) if candidate.excludes else None
            yield Match(candidate, instruction, values), reason


@lru_cache(maxsize=1 << 12)
def _rows_with(opcode: str, modifiers: tuple[str, ...]) -> tuple[tuple[Row, dict[str, str]], ...]:
    """The rows of an opcode that have all of the modifiers, with their values."""
    found = [(row, row.pattern.match_modifiers(modifiers)) for row in ROWS.get(opcode, ())]
    return tuple((row, values) for row, values in found if values is not None)


def known_forms(instruction: tree.Instruction) -> tuple[str, ...]:
    """For messages: the rows of an instruction's opcode that have most of its modifiers, four at most, with
    the operations and types that they are for; those that have its first modifiers come first."""
    rows = ROWS.get(instruction.opcode, [])
    fits = [tuple(_has(row, word) for word in instruction.modifiers) for row in rows]
    best = [(fit, row) for fit, row in zip(fits, rows, strict=True) if sum(fit) == max(map(sum, fits))]
    best.sort(key=lambda one: one[0], reverse=True)
    return tuple(dict.fromkeys(_describe(row) for _, row in best))[:_ENOUGH]


_ENOUGH = 4


def _has(row: Row, word: str) -> bool:
    return any(word in place.choices for place in row.pattern.modifiers)


def _describe(row: Row) -> str:
    choices = [
        f"{place.name}: {' '.join(place.choices)}"
        for place in row.pattern.modifiers
        if place.name in ("op", "type") and len(place.choices) > 1
    ]
    return f"{row.pattern.text} ({'; '.join(choices)})" if choices else row.pattern.text
