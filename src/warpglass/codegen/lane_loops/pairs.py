"""Two loops of one block each, one behind the other, and whether they are one: what a compiler made of it.

The first one does the rounds that are left over of a row, the second one several at a time. What both compute
is numbered, so that a round of the second loop is told to be so many of the first one's, if its registers lie
as far from the other's as that takes (remainders.py looks at it for each lane).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ...isa.types import LLVM_TYPE
from ...program import Branch, Jump, Program, Step
from ...ptx import tree
from .ends import computed
from .find import LaneLoop
from .rounds import Atom, Linear, Rounds

# Parts of an unrolled loop's round.
_PARTS = (2, 4, 8, 16)
# Numbers from the first to the last that such loops count at most: nothing wraps meanwhile.
FAR = 1 << 30


# ------------------------------------------------------------------------------------ the ways through both
@dataclass(frozen=True, slots=True)
class Ways:
    """Two loops of one block each: the block that leads past the first one or, by `before_first`, into it.

    Behind it, `between` does the same for the second; either may lead there at once.
    """

    start: int
    before_first: int | None
    first: int
    between: int
    before_second: int | None
    second: int
    end: int


def find_ways(
    program: Program, before: Sequence[Sequence[int]], loops: Mapping[int, LaneLoop], first: int
) -> Ways | None:
    """The ways that lead from a loop to another one, or past both."""
    between = loops[first].exit
    second = next(
        (header for header, loop in loops.items() if header > between and _leads(program, between, header)),
        None,
    )
    if second is None:
        return None
    end = loops[second].exit
    starts = [_entry(program, before, loop) for loop in (first, second)]
    (start, before_first), (last, before_second) = starts
    entered = {first if before_first is None else before_first, between}
    passed = {second if before_second is None else before_second, end}
    if (
        last != between
        or start is None
        or set(before[between]) != {start, first}
        or set(program.blocks[start].successors) != entered
        or set(program.blocks[between].successors) != passed
        or not all(isinstance(program.blocks[index].end, Branch) for index in (start, between))
    ):
        return None
    return Ways(start, before_first, first, between, before_second, second, end)


def _leads(program: Program, index: int, header: int) -> bool:
    """Whether a block leads to a loop, at once or by a block that does nothing else."""
    targets = program.blocks[index].successors
    return header in targets or any(program.blocks[one].end == Jump(header) for one in targets)


def _entry(program: Program, before: Sequence[Sequence[int]], header: int) -> tuple[int | None, int | None]:
    """The block that decides whether a loop is entered, and one behind that which only leads there."""
    sources = [index for index in before[header] if index != header]
    if len(sources) != 1:
        return None, None
    (source,) = sources
    if not isinstance(program.blocks[source].end, Jump):
        return source, None
    return (before[source][0], source) if len(before[source]) == 1 else (None, None)


# ------------------------------------------------------------------------------------ whether they are one
_Key = tuple[str, object, tuple[int, ...]]  # what a value is, what belongs to it, and what it is made of


@dataclass
class Pair:
    """Two loops, of which the second may do several rounds of the first one in each of its own.

    Then registers of the second one that move evenly are, when it begins, so far from others of the first
    one: `apart` has these and the distance, by name. `counter` counts the first loop's rounds, of which the
    second one's have so many `parts`, and ends that one at `limit`; `left` counts the first one's down. Lanes
    whose counters move on by more are mostly side by side, and better off together.
    """

    program: Program
    ways: Ways
    one: LaneLoop
    other: LaneLoop
    rounds: Rounds
    others: Rounds
    left: str = ""
    counter: str = ""
    limit: str = ""
    signed: bool = True
    parts: int = 0
    apart: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
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
        if not (_is_register(counter, other.paces[0]) and _is_register(limit, 0)):
            return False
        self.left, self.counter, self.limit = (each.parts[0][0].register for each in (left, counter, limit))
        self.parts, self.signed = other.paces[0], other.predicate[0] != "u"
        return (
            one.predicate[1:] == "ne"
            and one.paces == (-1, 0)
            and other.predicate[1:] == "lt"
            and self.rounds.paces.get(self.counter) == 1
            and self.parts in _PARTS
        )

    def _hands_on(self) -> bool:
        """Whether nothing but what rounds hand on, and what moves evenly, comes out of either loop."""
        between = self.steps_between
        if not all(map(computed, (*between, *self.steps_before))):
            return False
        carried = self.rounds.carried(self.one)
        made = frozenset(name for step in (*between, *self.steps_before) for name in step.writes)
        written = self.one.written | self.other.written | made
        read = frozenset(name for step in between for name in step.reads)
        read |= self.program.blocks[self.ways.between].read_at_end
        return (
            carried == self.others.carried(self.other)
            and (self.program.live[self.ways.end] & written) <= carried
            and (read & self.one.written) <= set(self.rounds.paces)
            and all(abs(pace) < FAR for pace in self.rounds.paces.values())
            and carried.isdisjoint(name for step in between for name in step.writes)
            and self.limit not in written
            and (self.other.read - carried).difference(self.others.paces).isdisjoint(self.one.written | made)
            and all(map(self._begins_alike, carried))
        )

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

    # ------------------------------------------------------------------------------------ rounds
    def _repeats(self) -> bool:
        """Whether a round of the second loop comes to what several of the first one come to."""
        one = self._run(self.one, self.rounds, self.parts)
        other = self._run(self.other, self.others, 1)
        if one is None or other is None:
            return False
        self.apart[self.counter] = self.counter, 0
        return all(self._same(one[name], other[name]) for name in self.rounds.carried(self.one))

    def _run(self, loop: LaneLoop, rounds: Rounds, times: int) -> dict[str, int] | None:
        """The numbers of what registers hold after some rounds; None if it is not known."""
        values: dict[str, int] = {}
        for turn in range(times):
            for name, pace in rounds.paces.items():
                values[name] = self._number("moving", (name, turn * pace))
            for step in self.program.blocks[loop.header].steps:
                if step.instruction.guard is not None or len(step.writes) != 1:
                    return None
                value = self._made(step, values)
                if value is None:
                    return None
                values[step.writes[0]] = value
        return values

    def _made(self, step: Step, values: Mapping[str, int]) -> int | None:
        instruction = step.instruction
        what = instruction.opcode, instruction.modifiers
        if step.match.load_or_store is not None:
            base = step.address_register
            if base is None:
                return self._number("loaded", (what, instruction.operands[1]))
            place = self._moved(self._register(base, values), step.address.offset)
            return self._number("loaded", what, place)
        if not step.match.row.computes:
            return None
        operands = instruction.operands[1:]
        if instruction.opcode == "add" and isinstance(operands[1], tree.Integer):
            return self._moved(self._operand(operands[0], values), operands[1].value, what)
        return self._number("computed", what, *(self._operand(one, values) for one in operands))

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

    def _keep_pace(self, one: str, other: str) -> bool:
        pace, types = self.rounds.paces[one], self.program.registers
        alike = LLVM_TYPE[types[one]] == LLVM_TYPE[types[other]]
        return alike and self.others.paces[other] == self.parts * pace


def _is_register(sum_: Linear, number: int) -> bool:
    """Whether a sum is a register of 32 bits and a number."""
    match sum_.parts:
        case ((Atom(inner=None), 1),):
            return sum_.type == "i32" and sum_.number == number
        case _:
            return False
