"""What a loop takes if lanes go through it one after the other, and what if they go together.

A load for all lanes, each from a place of its own, takes as long as dozens for one lane, other instructions
hardly longer than a scalar's. But together lanes go as many rounds as the longest of them, and alone each
does its own. So it depends on how many rounds there are, which is known in front of the loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...isa.lanes import Outline, Table
from ...isa.types import BITS, LLVM_TYPE, is_float
from ...program import Program, Step
from ..builder import Builder
from ..machine.target import gathers_quickly
from ..memory.neighbours import find_neighbours
from ..operands import Operands, Symbols
from ..shape import BlockShape, Promises
from ..values.facts import FactLanes
from ..values.results import Result
from ..values.value import Value
from .find import LaneLoop, are_apart, reached
from .rounds import Rounds
from .several import LANES

# Eighths of a processor's cycle, as measured on Sapphire Rapids. For one lane: an instruction, of which few
# are left when LLVM is through, a load, a division, and what it takes to begin and to end, which the
# processor cannot foresee. For all lanes: an instruction on 32 bits and on 64, a load, one from behind what
# was loaded before, a division, a round.
_STEP, _LOAD, _DIVISION, _LANE = 1, 8, 32, 96
# What a function that is interpolated takes one lane for each of its tables: each step waits for the last.
_LOOK_UP = 96
# After which time an operation has the result that the next round's waits for: on floats, a product of
# integers, another.
_FLOAT, _PRODUCT, _INTEGER = 32, 24, 8
_PRODUCTS = frozenset(("mul", "mad"))
# Of what a lane's round takes, up to which part its instructions keep the processor busy while one waits.
_SHORT = 0.9
_WIDE, _GATHER, _NEXT, _DIVISIONS, _ROUND = {32: 10, 64: 20}, 480, 300, {32: 256, 64: 768}, 200
_DIVIDING = frozenset(("fdiv", "llvm.sqrt", "udiv", "sdiv", "urem", "srem"))
_MOST_ROUNDS = (1 << 16) - 1  # that are counted
# Rounds of a lane, in the mean, from which on several go at once, which has more ends that are not foreseen,
# and the steps: a processor looks so far ahead that it begins with the next lanes meanwhile.
_MANY, _AHEAD = 6, 384
_AT_ONCE = 8  # rounds that LLVM does in vectors, as if lanes had that many


@dataclass(frozen=True, slots=True)
class Costs:
    """What a round takes of a lane that goes `alone`, with `several` at once, and of all lanes `together`.

    If a round `waits` for the one before it, several had better go at once, if there are `many`. The steps of
    `chain` compute the floats that it waits for.
    """

    alone: int
    several: int
    together: int
    waits: bool
    chain: frozenset[int] = frozenset()
    many: int = _MANY

    def ways(self, b: Builder, after: str, mask: str) -> tuple[str, str]:
        """How lanes of a mask, with so many rounds (i64) after their first, had better go.

        Two i1: all lanes together; if not, several at once (joint.py), for which it takes many rounds.
        """
        words, whole = b.vector("i64"), b.vector("i32")
        after = b.intrinsic("umin", "i64", after, f"splat (i64 {_MOST_ROUNDS - 1})", lanes=b.width)
        rounds = b.value(f"trunc {words} {after} to {whole}")
        rounds = b.value(f"add {whole} {rounds}, splat (i32 1)")
        active = f"{b.vector('i1')} {b.mask_vector(mask)}"
        rounds = b.value(f"select {active}, {whole} {rounds}, {whole} zeroinitializer")
        each, longest = (self._reduced(b, way, rounds) for way in ("add", "umax"))
        lanes = b.call(b.lanes, f"llvm.ctpop.{b.lanes}", [(b.lanes, mask)])
        lanes = b.value(f"zext {b.lanes} {lanes} to i64") if b.width < 64 else lanes
        lanes = b.value(f"trunc {b.lanes} {lanes} to i64") if b.width > 64 else lanes
        begun = b.value(f"mul i64 {lanes}, {_LANE}")
        many = b.value(f"icmp uge i64 {each}, {b.value(f'mul i64 {lanes}, {self.many}')}")
        round_ = b.value(f"select i1 {many}, i64 {self.several}, i64 {self.alone}")
        alone = b.value(f"add i64 {b.value(f'mul i64 {each}, {round_}')}, {begun}")
        together = b.value(f"icmp ugt i64 {alone}, {b.value(f'mul i64 {longest}, {self.together}')}")
        return together, many

    @staticmethod
    def _reduced(b: Builder, way: str, rounds: str) -> str:
        found = b.call("i32", f"llvm.vector.reduce.{way}.{b.suffix('i32')}", [(b.vector("i32"), rounds)])
        return b.value(f"zext i32 {found} to i64")


def find_costs(
    program: Program,
    loop: LaneLoop,
    kinds: Mapping[str, Value],
    shape: BlockShape,
    promises: Promises,
    symbols: Symbols,
    rounds: Rounds,
    *,
    wide: bool,
) -> Costs:
    """What one of a loop's rounds takes.

    One that is `wide` is done with others in vectors, unless it looks up tables.
    """
    steps = program.blocks[loop.header].steps
    types = {name: LLVM_TYPE[type_] for name, type_ in program.registers.items()}
    lanes = _Work(shape, promises)
    operands = Operands(lanes, _Kinds(types, kinds), symbols)
    neighbours = find_neighbours(program, kinds)
    for step in steps:
        if step.match.load_or_store is None:
            operands.results(step)
        else:
            own = neighbours.get(step.number)
            lanes.load_once(
                step,
                kinds,
                found=own is not None and own.shares_word(step.number),
                walks=step.number in rounds.walked,
            )
    carried = reached(steps, set(rounds.carried(loop)))
    chain = [
        step for step in steps if not (carried.isdisjoint(step.reads) or carried.isdisjoint(step.writes))
    ]
    latency = sum(_latency(step, types) for step in chain)
    # In chains of integers, which are shorter, the next lane's mostly begins early enough, and LLVM may
    # compute them in another order.
    floats = frozenset(step.number for step in chain if _latency(step, types) == _FLOAT)
    if wide and not lanes.looks_up:  # in tables LLVM does so lane by lane
        return Costs(lanes.alone // _AT_ONCE, lanes.alone // _AT_ONCE, lanes.together, waits=False)
    alone, several = max(lanes.alone, _FLOAT * len(floats)), max(lanes.alone, latency // LANES)
    many = max(_MANY, _AHEAD // len(steps))
    return Costs(alone, several, lanes.together, latency > _SHORT * lanes.alone, floats, many)


def _latency(step: Step, types: Mapping[str, str]) -> int:
    """How long another step waits for a step's result."""
    if any(is_float(types[name]) for name in step.writes):
        return _FLOAT
    return _PRODUCT if step.instruction.opcode in _PRODUCTS else _INTEGER


@dataclass(frozen=True, slots=True)
class _Kinds:
    """What is known of registers wherever they are read; stands in for Registers."""

    types: Mapping[str, str]
    kinds: Mapping[str, Value]

    def read(self, name: str) -> Value:
        """What is known of one."""
        return self.kinds.get(name) or Value(self.types[name], "")


class _Work(FactLanes):
    """Adds up what is done."""

    def __init__(self, shape: BlockShape, promises: Promises):
        super().__init__(shape, promises)
        self.alone, self.together = 0, _ROUND
        self.looks_up = False

    def _made(self, found: Result, name: str, type_: str = "") -> Value:
        made = found[1]
        if made.constant is None:
            divides, bits = name in _DIVIDING, max(BITS[made.type], 32)
            self.alone += _DIVISION if divides else _STEP
            if made.offsets is None:
                self.together += (_DIVISIONS if divides else _WIDE)[bits]
            else:
                self.together += _STEP
        return made

    def outline(self, outline: Outline, operands: Sequence[Value]) -> tuple[Value, ...]:
        return tuple(outline.make(self, *self.all_exact(tuple(operands))))

    def look_up(self, table: Table, index: Value) -> Value:
        self.looks_up = True
        self.alone += _LOOK_UP
        self.together += _WIDE[32]
        return super().look_up(table, index)

    def load_once(self, step: Step, kinds: Mapping[str, Value], *, found: bool, walks: bool) -> None:
        """Count a load or store: a gather or scatter if each lane has a place of its own.

        Where lanes walk on evenly, they find most of it in the nearest cache.
        What is `found` in a word that was gathered (memory/neighbours.py) is cut out of it. Records count as
        their words.
        """
        access, base = step.match.load_or_store, step.address_register
        assert access is not None
        kind = None if base is None else kinds.get(base)
        count = max(len(step.writes), 1)
        near = kind is not None and kind.offsets is not None and not are_apart(kind.offsets)
        self.alone += _LOAD * count
        gather = _NEXT if walks and gathers_quickly() else _GATHER
        self.together += _WIDE[32] if found else _LOAD if near else gather * count
