"""Two loops of one block each, one behind the other, and whether they are one: what a compiler made of it.

The first one does the rounds that are left over of a row, the second one several at a time. What both compute
is numbered, so that a round of the second loop is told to be so many of the first one's, if its registers lie
as far from the other's as that takes (remainders.py looks at it for each lane).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ...isa.types import LLVM_TYPE
from ...program import Program, Step
from ...program.loop_ways import Ways
from ...ptx import tree
from .ends import computed
from .find import LaneLoop
from .rounds import Atom, Linear, Rounds

# Parts of an unrolled loop's round.
_PARTS = (2, 4, 8, 16)
# Numbers by which a counter moves on in a round at most.
_WIDEST = 1 << 20
# Numbers from the first to the last that such loops count at most: nothing wraps meanwhile.
FAR = 1 << 30


# ------------------------------------------------------------------------------------ whether they are one
Sum = tuple[str, ...]  # registers of which what moves is the sum
_MEMORY = ""  # stands for all that is stored, among registers
_Key = tuple[str, object, tuple[int, ...]]  # what a value is, what belongs to it, and what it is made of


@dataclass
class Pair:
    """Two loops, of which the second may do several rounds of the first one in each of its own.

    Then sums of registers of the second one that move evenly are, when it begins, so far from others of the
    first one: `apart` has these and the distance, by the second one's. `counter` moves on by `step` in each
    of the first loop's rounds, of which the second one's have so many `parts`, and ends that one at `limit`;
    `left` counts the first one's down. `copies` are registers that the first loop leaves with what others
    hold that move evenly, and these.
    """

    program: Program
    ways: Ways
    one: LaneLoop
    other: LaneLoop
    rounds: Rounds
    others: Rounds
    left: str = ""
    counter: str = ""
    limit: str | int = ""
    signed: bool = True
    step: int = 0
    parts: int = 0
    copies: Mapping[str, str] = field(default_factory=dict[str, str])
    apart: dict[Sum, tuple[Sum, int]] = field(default_factory=dict[Sum, tuple[Sum, int]])
    _numbers: dict[_Key, int] = field(default_factory=dict[_Key, int])
    _keys: list[_Key] = field(default_factory=list[_Key])

    @property
    def steps_between(self) -> tuple[Step, ...]:
        """What is computed between the loops."""
        return (*self._steps(self.ways.between), *self._steps(self.ways.before_second))

    @property
    def steps_before(self) -> tuple[Step, ...]:
        """What is computed behind the branch past the first loop, in front of that."""
        return self._steps(self.ways.before_first)

    def _steps(self, index: int | None) -> tuple[Step, ...]:
        return () if index is None else self.program.blocks[index].steps

    def fits(self) -> bool:
        """Whether both are one loop if that is so of their counts and of where the second one begins."""
        return self._counts() and self._hands_on() and self._repeats()

    def _counts(self) -> bool:
        """Find what counts rounds."""
        one, other = self.rounds.going, self.others.going
        left, zero = one.operands
        counter, limit = other.operands
        if not (_is_register(left, one.paces[0]) and not zero.parts and zero.number == 0):
            return False
        if not (_is_register(counter, other.paces[0]) and (not limit.parts or _is_register(limit, 0))):
            return False
        self.left, end = left.parts[0][0].register, counter.parts[0][0].register
        self.limit = limit.parts[0][0].register if limit.parts else limit.number
        self.copies = _copies(self.program.blocks[self.one.header].steps, self.rounds)
        self.counter = self.copies.get(end, end)
        self.apart[(end,)] = (self.counter,), 0
        self.step = self.rounds.paces.get(self.counter, 0)
        self.parts = other.paces[0] // max(self.step, 1)
        self.signed = other.predicate[0] != "u"
        return (
            one.predicate[1:] == "ne"
            and one.paces == (-1, 0)
            and other.predicate[1:] == "lt"
            and 0 < self.step <= _WIDEST
            and self.parts in _PARTS
            and self.parts * self.step == other.paces[0]
        )

    def _hands_on(self) -> bool:
        """Whether nothing but what rounds hand on, and what moves evenly, comes out of either loop."""
        between = self.steps_between
        if not all(map(computed, (*between, *self.steps_before))):
            return False
        carried = self.rounds.carried(self.one)
        before = self.one.written | _written(self.steps_before)
        made = _written(between)
        written = self.other.written | before | made
        fixed = (self.other.read & self.one.read).difference(carried, self.others.paces)
        return (
            carried == self.others.carried(self.other)
            and (self.program.live[self.ways.end] & written) <= carried
            and (self._read_between & before) <= self.moving
            and (self.other.read & before) <= carried | self.moving
            and all(abs(pace) < FAR for pace in self.rounds.paces.values())
            and carried.isdisjoint(made)
            and self.limit not in written
            and fixed.isdisjoint(before | made)
            and all(map(self._begins_alike, carried))
        )

    @property
    def _read_between(self) -> frozenset[str]:
        read = frozenset(name for step in self.steps_between for name in step.reads)
        return read | self.program.blocks[self.ways.between].read_at_end

    @property
    def handed(self) -> frozenset[str]:
        """What moves evenly in the first loop and is read behind it."""
        return (self._read_between | self.other.read) & self.moving

    def _begins_alike(self, name: str) -> bool:
        """Whether what rounds hand on begins the same where the first loop is left out."""
        own, past = (
            next((step for step in reversed(steps) if name in step.writes), None)
            for steps in (self.steps_before, self._steps(self.ways.start))
        )
        if own is None:
            return True
        return (
            past is not None
            and not own.reads
            and own.instruction.opcode == past.instruction.opcode
            and own.instruction.modifiers == past.instruction.modifiers
            and own.instruction.operands == past.instruction.operands
            and past.instruction.guard is None
        )

    @property
    def moving(self) -> frozenset[str]:
        """The registers of which it is known what so many rounds of the first loop leave in them."""
        return frozenset((*self.rounds.paces, *self.copies))

    # ------------------------------------------------------------------------------------ rounds
    def _repeats(self) -> bool:
        """Whether a round of the second loop comes to what several of the first one come to."""
        one = self._run(self.one, self.rounds, self.parts)
        other = self._run(self.other, self.others, 1)
        if one is None or other is None:
            return False
        results = (_MEMORY, *self.rounds.carried(self.one))
        return all(self._same(one[name], other[name]) for name in results)

    def _run(self, loop: LaneLoop, rounds: Rounds, times: int) -> dict[str, int] | None:
        """The numbers of what registers hold after some rounds; None if it is not known."""
        values = {name: self._number("handed on", name) for name in (_MEMORY, *rounds.carried(loop))}
        for turn in range(times):
            for name, pace in rounds.paces.items():
                values[name] = self._number("moving", ((name,), turn * pace))
            for step in self.program.blocks[loop.header].steps:
                targets = _targets(step)
                value = None if step.instruction.guard is not None else self._made(step, values)
                if value is None or not targets:
                    return None
                if len(targets) == 1:
                    values[targets[0]] = value
                else:
                    values |= {name: self._number("part", k, value) for k, name in enumerate(targets)}
        return values

    def _made(self, step: Step, values: Mapping[str, int]) -> int | None:
        instruction = step.instruction
        what = instruction.opcode, instruction.modifiers
        access = step.match.load_or_store
        if access is not None:
            memory, base = values[_MEMORY], step.address_register
            if base is None:
                place = self._number("as it stands", step.address)
            else:
                place = self._moved(self._register(base, values), step.address.offset)
            if not access.writes:
                return self._number("loaded", what, memory, place)
            return self._number("stored", what, memory, place, self._operand(instruction.operands[1], values))
        if not step.match.row.computes:
            return None
        operands = instruction.operands[1:]
        sums = step.match.row.operation == "sum"
        if sums and isinstance(operands[1], tree.Integer):
            return self._moved(self._operand(operands[0], values), operands[1].value, what)
        parts = [self._operand(one, values) for one in operands]
        if sums:
            (names, away), (others, further) = map(self._sum, parts)
            if names and others and any(self._keys[part][0] == "moving" for part in parts):
                return self._number("moving", (tuple(sorted(names + others)), away + further))
        return self._number("computed", what, *parts)

    def _sum(self, value: int) -> tuple[Sum, int]:
        """The registers that a value is the sum of as a loop begins, and a number; none if it is no sum."""
        match self._keys[value]:
            case "as it was", str(name), _:
                return (name,), 0
            case "moving", (tuple(names), int(distance)), _:
                return names, distance
            case _:
                return (), 0

    def _moved(self, value: int, distance: int, what: object = "address") -> int:
        """A value and a number."""
        tag, of, _ = self._keys[value]
        if tag == "moving":
            assert isinstance(of, tuple)
            return self._number("moving", (of[0], of[1] + distance))
        return self._number("moved", (what, distance), value)

    def _operand(self, operand: tree.Operand, values: Mapping[str, int]) -> int:
        if isinstance(operand, tree.Register):
            return self._register(operand.name, values)
        if isinstance(operand, tree.Vector):
            elements = (self._operand(one, values) for one in operand.elements)
            return self._number("vector", len(operand.elements), *elements)
        return self._number("as it stands", operand)

    def _register(self, name: str, values: Mapping[str, int]) -> int:
        return values[name] if name in values else self._number("as it was", name)

    def _number(self, tag: str, of: object, *parts: int) -> int:
        key = tag, of, parts
        found = self._numbers.setdefault(key, len(self._keys))
        if found == len(self._keys):
            self._keys.append(key)
        return found

    def _same(self, one: int, other: int) -> bool:
        """Whether values of both loops are the same, if moving registers are as far `apart` as it takes."""
        work, seen = [(one, other)], set[tuple[int, int]]()
        while work:
            pair = work.pop()
            if pair in seen:
                continue
            seen.add(pair)
            (tag, of, parts), (tag_, of_, parts_) = (self._keys[each] for each in pair)
            if tag != tag_ or len(parts) != len(parts_):
                return False
            if tag != "moving":
                if of != of_:
                    return False
                work += zip(parts, parts_, strict=True)
                continue
            assert isinstance(of, tuple)
            assert isinstance(of_, tuple)
            way = of[0], of[1] - of_[1]
            if self.apart.setdefault(of_[0], way) != way or not self._keep_pace(of[0], of_[0]):
                return False
        return True

    def _keep_pace(self, one: Sum, other: Sum) -> bool:
        types = {LLVM_TYPE[self.program.registers[name]] for name in (*one, *other)}
        return len(types) == 1 and _pace(other, self.others) == self.parts * _pace(one, self.rounds)


def _pace(sum_: Sum, rounds: Rounds) -> int:
    return sum(rounds.paces.get(name, 0) for name in sum_)


def _written(steps: Iterable[Step]) -> frozenset[str]:
    return frozenset(name for step in steps for name in step.writes)


def _targets(step: Step) -> tuple[str, ...]:
    """What a step writes, each part of a vector or else one thing; none if it is something else."""
    access = step.match.load_or_store
    if access is not None and access.writes:
        return (_MEMORY,)
    match step.instruction.operands[0]:
        case tree.Vector(elements) if len(elements) == len(set(step.writes)):
            return step.writes
        case _:
            return step.writes if len(step.writes) == 1 else ()


def _copies(steps: Sequence[Step], rounds: Rounds) -> dict[str, str]:
    """Registers that a round leaves with what others hold which move evenly, and these."""
    found: dict[str, str] = {}
    for step in steps:
        found = {name: of for name, of in found.items() if not {name, of} & {*step.writes}}
        match step.instruction:
            case tree.Instruction("mov", _, (tree.Register(name), tree.Register(of)), None):
                if of in rounds.paces and name not in rounds.paces:
                    found[name] = of
    return found


def _is_register(sum_: Linear, number: int) -> bool:
    """Whether a sum is a register of 32 bits and a number."""
    match sum_.parts:
        case ((Atom(inner=None), 1),):
            return sum_.type == "i32" and sum_.number == number
        case _:
            return False
