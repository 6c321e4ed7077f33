"""Every form of every row as one instruction, and the operands on which hardware answers for it.

Unlike forms.py this asks no oracle: a form is a row with a choice of each modifier, so new rows are found as
soon as they are in the table. Of rows with very many combinations (more than `_ALL`, or `_ACCESS` if it is an
access) as many are taken as every two choices need to meet. Not here: the kernel around a form
(answer_kernels.py) and what hardware said (answers.py).
"""

from __future__ import annotations

import itertools
import math
import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from warpglass.isa import Row
from warpglass.isa.notation import Modifier, OperandForm
from warpglass.isa.table import ROWS
from warpglass.isa.types import BITS, LLVM_TYPE

from . import float_harness, inputs

LANES = 256  # operands on which a form computes
SLOTS = 32  # operands on which a form accesses memory, 32 bytes each
SLOT_BYTES = 32
_ALL, _ACCESS = 600, 24
_ESSENTIAL = ("space", "op", "type", "vec")  # what of an access a lone thread sees

# Opcodes that neither operands in registers nor memory of a thread's own show at work: where they are run.
OWN_TESTS = {
    "isa/test_memory.py": "cvta ldu prefetch prefetchu applypriority discard createpolicy",
    "isa/test_warp_reductions.py": "membar fence",
    "program/test_blocks.py": "bra ret exit trap bar",
    "engine/test_barriers.py": "barrier",
    "engine/test_calls_ptx.py": "brx",
    "engine/test_mbarrier.py": "mbarrier",
    "engine/test_async_copy.py": "cp",
    "engine/test_bulk_copy.py": "cp",
    "engine/test_clusters.py": "setmaxnreg griddepcontrol mapa getctarank",
    "source/test_numba_warps.py": "nanosleep",
    "isa/test_matrix.py": "mma ldmatrix stmatrix movmatrix",
    "engine/test_wmma.py": "wmma",
    "textures/test_stored_answers.py": "tex tld4 txq suld sust sured suq",
    "isa/test_video.py": "vadd vsub vabsdiff vmin vmax vshl vshr vset vmad vavrg2 vavrg4 vset2 vset4",
}
ACCESSES = ("ld", "st", "atom", "red")
_COUNTS = {"v2": 2, "v4": 4, "v8": 8}
# Operands that are not any number of their type, by their name in the notation.
IMMEDIATES = {"mask": "-1", "table": "0xCA", "policy": "policy"}
_POOLS = {"base": tuple(range(32)), "carry": (0, 1)}


@dataclass(frozen=True)
class Place:
    """An operand: its name in the notation and its type; `count` registers if it is a vector, else 0."""

    name: str
    type: str
    count: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """A name for every register."""
        return tuple(f"{self.name}{k}" for k in range(self.count)) if self.count else (self.name,)


@dataclass(frozen=True)
class Form:
    """One instruction: `text` is how a case is called, `add.cc.u32 d, a, b`."""

    row: Row
    opcode: str  # with all modifiers
    values: tuple[tuple[str, str], ...]
    operands: tuple[tuple[OperandForm, Place], ...]

    @property
    def text(self) -> str:
        """The instruction with its operands as the notation names them."""
        return f"{self.opcode} {', '.join(self.shown(*one) for one in self.operands)}".strip()

    @staticmethod
    def shown(form: OperandForm, place: Place) -> str:
        """An operand as the notation names it; immediates as they are."""
        name = "{" + ", ".join(place.names) + "}" if place.count else place.name
        if form.address:
            return f"[{name}]"
        return f"{name}|{form.second}" if form.second else IMMEDIATES.get(name, name)

    @property
    def sources(self) -> tuple[Place, ...]:
        """What the instruction reads from registers; the condition code comes last."""
        found = [
            place
            for form, place in self.operands
            if not (form.destination or form.address or form.name in IMMEDIATES)
        ]
        return (*found, *(Place("carry", "u32") for form, _, _ in self.row.implicit if not form.destination))

    @property
    def results(self) -> tuple[Place, ...]:
        """What it writes to registers: destinations, second destinations, the condition code."""
        found: list[Place] = []
        for form, place in self.operands:
            if form.destination:
                found.append(place)
                if form.second:
                    found.append(Place(form.second, "pred"))
        return (*found, *(Place("carry", "u32") for form, _, _ in self.row.implicit if form.destination))

    @property
    def space(self) -> str | None:
        """The state space that it accesses, None if it accesses none."""
        if self.row.pattern.opcode not in ACCESSES:
            return None
        words = self.opcode.split(".")
        spaces = ("global", "shared", "shared::cta", "shared::cluster", "local", "const", "param")
        return next((word.partition("::")[0] for word in words if word in spaces), "generic")

    @property
    def changes_memory(self) -> bool:
        """Whether it writes its slot."""
        return self.space is not None and self.row.pattern.opcode != "ld"

    @property
    def in_warp(self) -> bool:
        """Whether lanes see each other's operands."""
        return self.row.unit == "inter_thread_communication"

    @property
    def lanes(self) -> int:
        """On how many operands the form is run."""
        return SLOTS if self.space else LANES

    @property
    def type(self) -> str:
        """The type of what is in memory."""
        return dict(self.values).get("type") or self.opcode.rpartition(".")[2]


def needs_own_test(row: Row) -> bool:
    """Whether this file's kernels cannot show what a row does."""
    opcode = row.pattern.opcode
    addresses = sum(form.address for form in row.pattern.operands)
    return (
        opcode.startswith("_")
        or row.control is not None
        or any(opcode in known.split() for known in OWN_TESTS.values())
        or row.meaning is None
        or addresses != (opcode in ACCESSES)
    )


def all_forms() -> list[Form]:
    """Every form that is run, in the table's order; texts are unique."""
    found: dict[str, Form] = {}
    for rows in ROWS.values():
        for row in rows:
            if not needs_own_test(row):
                for form in forms_of(row):
                    found.setdefault(form.text, form)
    return list(found.values())


def forms_of(row: Row) -> Iterator[Form]:
    """The forms of a row, or as many that every two choices of modifiers meet."""
    places = row.pattern.modifiers
    split = any(form.vector for form in row.pattern.operands) and "vec" not in row.pattern.text
    for words in _access_words(row) if row.pattern.opcode in ACCESSES else _combinations(places, _ALL):
        chosen = zip(places, words, strict=True)
        values = {place.name: word for place, word in chosen if word is not None}
        opcode = ".".join([row.pattern.opcode, *(word for word in words if word is not None)])
        for count in (2, 4) if split else (_COUNTS.get(values.get("vec", ""), 0),):
            operands = tuple((form, _place(row, form, values, count)) for form in row.pattern.operands)
            if all(place.type in LLVM_TYPE for _, place in operands):
                yield Form(row, opcode, tuple(values.items()), operands)
                if row.unit == "fp16" and operands[0][0].second:  # only pairs of halves have two results
                    alone = (replace(operands[0][0], second=None), operands[0][1])
                    yield Form(row, opcode, tuple(values.items()), (alone, *operands[1:]))


def _access_words(row: Row) -> Iterator[tuple[str | None, ...]]:
    """Combinations for an access: orders, scopes and hints say nothing to a lone thread, and take turns."""
    places = row.pattern.modifiers
    essential = [k for k, place in enumerate(places) if place.name in _ESSENTIAL]
    for number, words in enumerate(_combinations([places[k] for k in essential], _ACCESS)):
        whole = [one[number % len(one)] for one in map(_choices, places)]
        for k, word in zip(essential, words, strict=True):
            whole[k] = word
        yield tuple(whole)


def _place(row: Row, form: OperandForm, values: dict[str, str], count: int) -> Place:
    type_ = row.pattern.type_of(form, values) if form.type != "part" else ""
    if form.type == "part":
        type_ = f"b{BITS[LLVM_TYPE[values['type']]] // count}"
    return Place(form.name, type_, count if form.vector else 0)


def _choices(place: Modifier) -> list[str | None]:
    return [None, *place.choices] if place.optional else list(place.choices)


def _combinations(places: Sequence[Modifier], limit: int) -> Iterator[tuple[str | None, ...]]:
    choices = [_choices(place) for place in places]
    total = math.prod(len(one) for one in choices)
    yield from itertools.product(*choices) if total <= limit else _pairs_covered(choices)


def _pairs_covered(choices: list[list[str | None]]) -> Iterator[tuple[str | None, ...]]:
    """Combinations in which every two choices of different places occur together."""
    numbers = range(len(choices))
    missing = {
        (i, x, j, y): None
        for i, j in itertools.combinations(numbers, 2)
        for x in range(len(choices[i]))
        for y in range(len(choices[j]))
    }
    while missing:
        i, x, j, y = next(iter(missing))
        chosen = {i: x, j: y}
        for place in numbers:
            if place not in chosen:
                chosen[place] = max(
                    range(len(choices[place])),
                    key=lambda z, place=place: sum(
                        _key(place, z, *other) in missing for other in chosen.items()
                    ),
                )
        for first, second in itertools.combinations(chosen.items(), 2):
            missing.pop(_key(*first, *second), None)
        yield tuple(choices[place][chosen[place]] for place in numbers)


def _key(i: int, x: int, j: int, y: int) -> tuple[int, int, int, int]:
    return (i, x, j, y) if i < j else (j, y, i, x)


# ---------------------------------------------------------------------------------------- operands
@cache
def operands(places: tuple[Place, ...], lanes: int, in_warp: bool) -> list[list[int]]:
    """A column of bit patterns for every register of some sources.

    The same places have the same columns whatever the instruction. Where lanes see each other, one warp
    has the same in all lanes and another few different values.
    """
    named = [
        (place.name if place.name in _POOLS else "", place.type) for place in places for _ in place.names
    ]
    rng = random.Random(zlib.crc32(repr((named, lanes, in_warp)).encode()))
    rows = [_row(named, lane, rng) for lane in range(lanes)]
    if len(named) == 1 and not named[0][0]:
        ends = sorted(set(_edges(named[0][1])))
        rng.shuffle(ends)
        rows[: len(ends)] = [[value] for value in ends[:lanes]]
    if in_warp:
        for lane in range(32, 64):
            rows[lane] = [rows[32][0], *rows[lane][1:]]
        for lane in range(64, 96):
            rows[lane][0] = rows[64 + lane % 3][0]
    return [list(column) for column in zip(*rows, strict=True)]


def _row(named: list[tuple[str, str]], lane: int, rng: random.Random) -> list[int]:
    """Edges, random numbers, a mixture of them, or numbers that are equal but for the sign."""
    likely = (1.0, 1.0, 0.5, 0.0)[lane % 4]
    found = [
        rng.choice(_POOLS[pool])
        if pool
        else rng.choice(_edges(type_))
        if rng.random() < likely
        else random_pattern(type_, rng)
        for pool, type_ in named
    ]
    if lane % 16 in (5, 6) and len(named) > 1 and named[0] == named[-1]:
        top = 1 << (width(named[0][1]) - 1)
        found[-1] = found[0] ^ (top if lane % 16 == 5 and named[0][1] != "pred" else 0)
    return found


def width(type_: str) -> int:
    """Bits of a PTX type in a register."""
    return BITS[LLVM_TYPE[type_]]


@cache
def _edges(type_: str) -> list[int]:
    base, _, pair = type_.partition("x2")
    if type_.endswith("x2") and base in float_harness.ALL_FORMATS and width(type_) == 32:
        halves = float_harness.edges(base)
        return [low | high << 16 for low, high in zip(halves, [*halves[7:], *halves[:7]], strict=True)]
    if type_ in float_harness.ALL_FORMATS and not pair:
        shift = 13 if type_ == "tf32" else 0
        return [pattern << shift for pattern in float_harness.edges(type_)]
    bits = width(type_)
    if bits == 1:
        return [0, 1]
    ends = inputs.edges(f"u{bits}")
    return [*ends, *(value & ((1 << bits) - 1) for value in (8, 16, 24, 31, 32, 33, 64, 255, 0x3210))]


def random_pattern(type_: str, rng: random.Random) -> int:
    """Any bits of a type; half of the integers are small, and floats mostly of ordinary size."""
    base = type_.removesuffix("x2")
    if base in float_harness.ALL_FORMATS and base not in ("tf32", "e5m2"):
        one = float_harness.random_pattern(base, rng)
        return one | float_harness.random_pattern(base, rng) << 16 if base != type_ else one
    return inputs.random_pattern(f"u{width(type_)}", rng) if width(type_) > 1 else rng.getrandbits(1)
