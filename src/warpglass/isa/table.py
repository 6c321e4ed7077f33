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

What later stages ask of an instruction beside its meaning is a fact on its row, declared with it: `access`
what it does to memory, `operation` what it does to its operands. Nobody compares opcodes or meanings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any, Literal

from ..ptx import tree
from .manual import section_url
from .notation import OperandForm, Pattern, parse_notation
from .spelling import spaces_of
from .types import BITS, LLVM_TYPE

Meaning = Callable[..., Any]
# Why a combination of modifiers is none, given their values; None if it is one.
Exclusion = Callable[[Mapping[str, str]], str | None]


# The condition code register: no operand names it, rows declare that they read or write it. Its name is none
# that PTX could give a register.
CARRY = "CC.CF"
PHASE = "CLUSTER.PHASE"  # of the cluster's barrier, when the thread arrived at it
IMPLICIT: Mapping[str, str] = {CARRY: "pred", PHASE: "u32"}  # registers of this kind, with their types

_COMPUTING = frozenset(("integer", "fp16", "fp32", "fp64", "conversion", "misc"))  # units, one of moves

TypedOperand = tuple[OperandForm, tree.Operand, str]

AccessKind = Literal[
    "load",  # of each thread's own elements: ld, ldu
    "store",
    "atomic",  # a read and a write that nothing comes between, whose result is the old value
    "reduction",  # the same without a result
    "copy",  # from global to shared memory
    "parameter",  # a load of the kernel's parameters, which are no memory to the engine
    "matrix load",  # of rows of 8x8 matrices that are shared out among the lanes: ldmatrix
    "matrix store",
    "fragment load",  # of wmma's matrices, as a warp
    "fragment store",
    "barrier object",  # any operation on an mbarrier
    "spill",  # of a register around a call
    "texture",  # a load of texels by coordinates
    "surface load",
    "surface store",
    "surface reduction",
]
Operation = Literal[
    "move",  # the result is the operand a
    "selection",  # the result is a or b
    "join",  # the result is put together of parts
    "sum",  # of integers
    "division",  # of integers, or its remainder: dozens of operations
    "interpolation",  # in tables, which fill registers
    "generic to specific",  # an address within a state space made of a generic one
    "shuffle",  # the result is another lane's a
    "lane reduction",  # the result is made of the a of all lanes of the mask
    "cluster arrival",  # at the barrier of the block's cluster
    "cluster wait",  # whether that has opened
]


@dataclass(frozen=True, slots=True)
class MemoryAccess:
    """What one thread accesses: a kind, a state space ("generic" if none is written) and how many bytes."""

    kind: AccessKind
    space: str
    size: int

    @property
    def writes(self) -> bool:
        """Whether memory may be changed."""
        return self.kind not in ("load", "parameter")


@dataclass(frozen=True, slots=True)
class Row:
    """One form of one instruction."""

    pattern: Pattern
    unit: str  # the class that Nsight Compute counts it in: integer, fp32, fp64, control, memory, ...
    meaning: Meaning | None = None
    control: str | None = None  # "branch", "exit", "barrier", "trap"
    access: AccessKind | None = None
    operation: Operation | None = None
    flops: int = 0  # floating-point operations per thread
    implicit: tuple[TypedOperand, ...] = ()  # registers used without being named, behind the operands
    bitwise: bool = False  # works on the patterns of numbers: the host's arithmetic does not matter
    waits: bool = False  # threads wait for each other by looking at its result
    collect: Meaning | None = None  # a barrier's result, computed when its warp goes on
    excludes: Exclusion | None = None  # what notation cannot say: that one choice rules out another

    @property
    def computes(self) -> bool:
        """Whether it makes registers of registers and does nothing else."""
        return self.unit in _COMPUTING and not self.steers and self.control is None

    @property
    def steers(self) -> bool:
        """Whether it has a `control` word and no meaning of its own: it uses no registers."""
        return self.meaning is None

    @property
    def url(self) -> str:
        """The address of its section of the PTX manual; what the program adds by itself belongs to calls."""
        words = [self.pattern.opcode, *(one.choices[0] for one in self.pattern.modifiers if not one.optional)]
        if words[0].startswith("_"):
            words = ["call"]
        elif self.implicit and self.implicit[0][0].name == CARRY:
            words = [words[0], *(["cc"] if self.implicit[0][0].destination and words[0][-1] != "c" else [])]
        return section_url(words, self.unit)

    @property
    def is_atomic(self) -> bool:
        """Whether it is an atomic operation on memory."""
        return self.access in ("atomic", "reduction")


class Match:
    """An instruction with its row; modifiers are attributes (`m.type`), None if absent."""

    __slots__ = ("_access", "_alike", "_forms", "instruction", "row", "values")

    def __init__(
        self,
        row: Row,
        instruction: tree.Instruction,
        values: dict[str, str],
        alike: tuple[TypedOperand, ...] | None = None,
    ):
        """`alike` are the forms of an instruction that differs in its operands' names and numbers alone."""
        self.row = row
        self.instruction = instruction
        self.values = values
        self._alike = alike
        self._forms: tuple[TypedOperand, ...] | None = None
        self._access: MemoryAccess | None = None

    def like(self, instruction: tree.Instruction) -> Match:
        """The match of an instruction that differs in registers, numbers and names of its operands alone."""
        return Match(self.row, instruction, self.values, self.forms())

    def __getattr__(self, name: str) -> str | None:
        return self.values.get(name)

    @property
    def has_pair(self) -> bool:
        """Whether the first destination is written `p|q`."""
        return bool(self.instruction.operands) and isinstance(self.instruction.operands[0], tree.Pair)

    @property
    def member_mask(self) -> tree.Operand | None:
        """The operand, if there is one, that names the lanes that execute the instruction together."""
        return self.operand("mask")

    def operand(self, name: str) -> tree.Operand | None:
        """The operand that the notation calls by a name, if there is one."""
        forms = zip(self.row.pattern.operands, self.instruction.operands, strict=False)
        return next((operand for form, operand in forms if form.name == name), None)

    @property
    def state_space(self) -> str:
        """The state space that an access names, without a sub-qualifier; generic if it names none."""
        return next(iter(spaces_of(self.instruction.modifiers)), "generic")

    @property
    def access(self) -> MemoryAccess | None:
        """What each thread accesses by itself; None for accesses of whole warps, barrier objects, others."""
        kind = self.row.access
        if self._access is None and kind is not None and kind in _SIZES:
            self._access = MemoryAccess(kind, self.state_space, _SIZES[kind](self))
        return self._access

    @property
    def load_or_store(self) -> MemoryAccess | None:
        """The same of an ordinary load or store alone."""
        return self.access if self.row.access in ("load", "store") else None

    def compute(self, lanes: Any, sources: Iterable[Any]) -> Any:
        """The results that the row's meaning gives for source operands."""
        assert self.row.meaning is not None, "control rows compute nothing"
        return self.row.meaning(lanes, self, *sources)

    def forms(self) -> tuple[TypedOperand, ...]:
        """Each operand with its place in the notation and its PTX type; implicit registers come last."""
        if self._forms is None:
            pattern, operands = self.row.pattern, self.instruction.operands
            if self._alike is not None:
                named = [
                    (form, operand, type_)
                    for (form, _, type_), operand in zip(self._alike, operands, strict=False)
                ]
            else:
                named = [
                    (form, operand, pattern.type_of(form, self.values, operand))
                    for form, operand in zip(pattern.operands, operands, strict=False)
                ]
            self._forms = (*named, *self.row.implicit)
        return self._forms


def _element_bytes(m: Match) -> int:
    return BITS[LLVM_TYPE[m.values["type"]]] // 8 * int((m.vec or "v1")[1:])


def _copied_bytes(m: Match) -> int:
    """A copy's notation fixes how many bytes it writes."""
    return next(form.literal for form in m.row.pattern.operands if form.literal is not None)


# The bytes of each thread's access, by its kind.
_SIZES: Mapping[AccessKind, Callable[[Match], int]] = {
    **dict.fromkeys(("load", "store", "atomic", "reduction", "parameter"), _element_bytes),
    "copy": _copied_bytes,
}

ROWS: dict[str, list[Row]] = {}
_FACTS = frozenset(field.name for field in fields(Row)) - {"pattern", "implicit"}


def row(notation: str, **declared: Any) -> Callable[[Meaning], Meaning]:
    """Add a row to the table; the decorated function is its meaning, the rest as for add_row."""

    def declare(meaning: Meaning) -> Meaning:
        add_row(notation, meaning=meaning, **declared)
        return meaning

    return declare


def add_row(
    notation: str, *, unit: str, reads: str | None = None, writes: str | None = None, **declared: Any
) -> None:
    """Add a row without decorating: for control rows and meanings shared by several rows.

    `declared` are the row's facts, fields of Row by name, and the alternatives of each named modifier, a
    string. `reads` and `writes` name implicit registers: one more source or result of the meaning.
    """
    facts = {name: value for name, value in declared.items() if name in _FACTS}
    pattern = parse_notation(notation, {name: declared[name] for name in declared.keys() - facts.keys()})
    if taken := [one.name for one in pattern.modifiers if one.name in _FACTS]:
        raise ValueError(f"{taken[0]} is a fact of rows, and no name for a modifier of {notation}")
    implicit = tuple(
        (OperandForm(name, IMPLICIT[name], destination=destination), tree.Register(name), IMPLICIT[name])
        for name, destination in ((reads, False), (writes, True))
        if name is not None
    )
    ROWS.setdefault(pattern.opcode, []).append(Row(pattern, unit, implicit=implicit, **facts))


def match(instruction: tree.Instruction) -> Match | None:
    """The row for an instruction, or None if the table has no such form."""
    return next((found for found, reason in _candidates(instruction) if reason is None), None)


@lru_cache(maxsize=1 << 10)
def has_literals(opcode: str) -> bool:
    """Whether a number decides which row of an opcode an instruction has."""
    return any(form.literal is not None for row in ROWS.get(opcode, ()) for form in row.pattern.operands)


def exclusion(instruction: tree.Instruction) -> str | None:
    """Why modifiers that the table has do not go together; None if that is not the matter."""
    return next((reason for _, reason in _candidates(instruction) if reason is not None), None)


def _candidates(instruction: tree.Instruction) -> Iterator[tuple[Match, str | None]]:
    """The rows whose notation an instruction has, and what they exclude of it.

    Those with its modifiers in another order come last; the match then has them in the notation's.
    """
    for candidate, values in _rows_with(instruction.opcode, instruction.modifiers):
        if (found := _fit(candidate, values, instruction)) is not None:
            yield found
    for candidate, values, words in _rows_respelled(instruction.opcode, instruction.modifiers):
        if (found := _fit(candidate, values, replace(instruction, modifiers=words))) is not None:
            yield found


def _fit(
    candidate: Row, values: dict[str, str], instruction: tree.Instruction
) -> tuple[Match, str | None] | None:
    """The match of a row whose modifiers an instruction has, with what it excludes; None if operands do not
    fit."""
    if candidate.pattern.has_parts:
        taken = candidate.pattern.take_apart(instruction.operands)
        if taken is None:
            return None
        instruction, values = replace(instruction, operands=taken[0]), {**values, **taken[1]}
    if not candidate.pattern.fits_operands(instruction.operands, values):
        return None
    return Match(candidate, instruction, values), candidate.excludes(values) if candidate.excludes else None


@lru_cache(maxsize=1 << 12)
def _rows_with(opcode: str, modifiers: tuple[str, ...]) -> tuple[tuple[Row, dict[str, str]], ...]:
    """The rows of an opcode that have all of the modifiers, with their values."""
    found = [(row, row.pattern.match_modifiers(modifiers)) for row in ROWS.get(opcode, ())]
    return tuple((row, values) for row, values in found if values is not None)


@lru_cache(maxsize=1 << 12)
def _rows_respelled(
    opcode: str, modifiers: tuple[str, ...]
) -> tuple[tuple[Row, dict[str, str], tuple[str, ...]], ...]:
    """The rows of an opcode that have all of the modifiers in another order, with their values in the
    notation's."""
    found: list[tuple[Row, dict[str, str], tuple[str, ...]]] = []
    for candidate in ROWS.get(opcode, ()):
        words = candidate.pattern.respell(modifiers)
        values = candidate.pattern.match_modifiers(words) if words not in (None, modifiers) else None
        if words is not None and values is not None:
            found.append((candidate, values, words))
    return tuple(found)


def known_forms(instruction: tree.Instruction) -> str:
    """For messages: the rows of an instruction's opcode that have most of its modifiers, four at most, with
    the operations and types that they are for and the manual's section of the first; those that have its
    first modifiers come first."""
    rows = ROWS.get(instruction.opcode)
    if rows is None:
        return "no form of it is known"
    fits = [tuple(_has(row, word) for word in instruction.modifiers) for row in rows]
    best = [(fit, row) for fit, row in zip(fits, rows, strict=True) if sum(fit) == max(map(sum, fits))]
    best.sort(key=lambda one: one[0], reverse=True)
    texts = list(dict.fromkeys(_describe(row) for _, row in best))[:_ENOUGH]
    return f"known forms: {'; '.join(texts)}; see {best[0][1].url}"


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
