"""Several lanes at once through a loop of known rounds, each in scalars, as far as they go together.

A lane's sum waits for itself: each addition needs the one before it. Lanes have nothing to do with each
other, so the processor has as many such chains under way as lanes go at once. In the order of their rounds
(order.py) those side by side have nearly as many. What the shortest leaves of the others' rounds each does
alone. Where there are too few lanes for that, each goes alone from the beginning (code.py).

Where such loops only load, lanes can begin again: where one is out of the ranges that are known, or in double
precision has a NaN where someone would see which it is, all of the group do everything alone. So nothing is
done about NaNs from round to round: sums and products of them are NaNs, which are looked at in the end. In
loops that store, no lane is out of its ranges (stores.py), and all is exact from the beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...program import Program, Step
from ..builder import Builder
from ..lanes.fast import FastLanes
from ..operands import Symbols
from ..registers import Registers
from ..values.operations import KEEPS_NAN, OPERATIONS, PASSES_NAN, UNKNOWN
from ..values.results import Result
from ..values.value import Value
from .buffers import LaneBuffers
from .find import LaneLoop
from .lane_rounds import LATER, Entered, LaneRounds
from .one_lane import LaneRegisters, LaneSteps, OneLane, Runner

LANES = 4  # that go at once


class JointLane(OneLane):
    """The vocabulary for one lane of several: NaNs of type double are *doubtful*, and seldom looked at.

    `give_up` is where all lanes go if one is seen.
    """

    def __init__(self, like: FastLanes):
        super().__init__(like)
        self.give_up = ""
        self.stores = False  # what is stored has to be exact, and no lane begins again
        self._doubtful: set[str] = set()
        self._tests: dict[str, str] = {}  # comparison of a double with itself -> the double

    def doubt(self, a: Value) -> None:
        """A value's NaN may be another than the hardware's."""
        assert not self.stores
        self._doubtful.add(a.ir)

    def held(self, a: Value) -> Value:
        found = super().held(a)
        if self.late(a):
            self.doubt(found)
        return found

    def late(self, a: Value) -> bool:
        return a.ir in self._doubtful

    def exact(self, a: Value) -> Value:
        if a.ir in self._doubtful:
            b, on = self.builder, self.builder.label("number")
            b.branch(b.value(f"fcmp uno double {a.ir}, {a.ir}"), self.give_up, on, unlikely=True)
            b.place(on)
            return a
        return super().exact(a)

    def all_exact(self, values: tuple[Value, ...]) -> tuple[Value, ...]:
        return tuple([self.exact(value) for value in values])

    def compare(self, predicate: str, a: Value, b: Value) -> Value:
        result = super().compare(predicate, a, b)
        same = predicate == "uno" and a is b
        if same and a.type == "double" and result.constant is None and not self.stores:
            self._tests[result.ir] = a.ir
        return result

    def unless(self, rare: Value, usual: Value, other: Callable[[], Value]) -> Value:
        if usual.ir and self._tests.get(rare.ir) == usual.ir:
            self.doubt(usual)
            return usual
        return super().unless(rare, usual, other)

    def _made(self, found: Result, name: str, type_: str = "") -> Value:
        result = super()._made(found, name, type_)
        if OPERATIONS.get(name, UNKNOWN).nan in (PASSES_NAN, KEEPS_NAN) and any(map(self.late, found[2])):
            self.doubt(result)
        return result


class _JointSteps(LaneSteps):
    """Steps whose doubtful results stay so in registers."""

    def _write_one(
        self, name: str, fitted: Value, mask: str, condition: Value | None, blend: frozenset[str]
    ) -> None:
        if condition is None and self.lanes.late(fitted):
            self.registers.write(name, fitted)
        else:
            super()._write_one(name, fitted, mask, condition, blend)


def joint_runners(like: FastLanes, warp: Registers, symbols: Symbols) -> tuple[Runner, ...]:
    """What runs the steps of lanes that go at once."""
    found: list[Runner] = []
    for number in range(LANES):
        lane, registers = JointLane(like), LaneRegisters(warp, f"%joint{number}.")
        found.append(Runner(lane, registers, _JointSteps(lane, registers, symbols)))
    return tuple(found)


class Joint:
    """The code of one loop, whose names begin with `name`.

    `rounds` and `buffers` are those of the loop, `known` the registers whose last values are known without
    it. `prepare` lets a runner's accesses be checked; what misses goes to a label.
    """

    def __init__(
        self,
        program: Program,
        loop: LaneLoop,
        name: str,
        rounds: LaneRounds,
        buffers: LaneBuffers,
        runners: Sequence[Runner],
        known: frozenset[str],
        prepare: Callable[[Runner, str], None],
    ):
        self.b: Builder = rounds.b
        self._steps: Sequence[Step] = program.blocks[loop.header].steps
        self._live = program.live[loop.header] | loop.kept
        self._name = name
        self._rounds = rounds
        self._buffers = buffers
        self._runners = runners
        self._prepare = prepare
        self._back = loop.kept - known
        self._stores = loop.stores
        # What rounds hand on, apart from what moves evenly and is seldom used.
        self._carried = sorted(loop.read & loop.written - set(rounds.rounds.paces))

    def emit(self) -> None:
        """Lanes go at once while there are enough of them; then each of the others goes to `{name}_lane`."""
        b, name = self.b, self._name
        now = b.load("i64", f"%{name}.turn")
        after = b.value(f"add i64 {now}, {len(self._runners)}")
        enough = b.value(f"icmp ule i64 {after}, {b.load('i64', f'%{name}.turns')}")
        b.branch(enough, f"{name}_several", f"{name}_lane")
        b.place(f"{name}_several")
        lanes = [self._rounds.in_order(now, away) for away in range(len(self._runners))]
        entered = [self._rounds.enter(lane) for lane in lanes]
        for away, (runner, lane) in enumerate(zip(self._runners, lanes, strict=True)):
            self._rounds.look_ahead(self._rounds.in_order(now, away + LATER))
            self._buffers.take(runner, lane)
            self._prepare(runner, f"{name}_lane")
        least = entered[0].last
        for one in entered[1:]:
            least = b.intrinsic("umin", "i64", least, one.last)
        self._go("0", least, list(zip(self._runners, entered, strict=True)))
        for runner, one in zip(self._runners, entered, strict=True):
            rest, over = b.label("rest"), b.label("over")
            b.branch(b.value(f"icmp eq i64 {least}, {one.last}"), over, rest)
            b.place(rest)
            self._go(least, one.last, [(runner, one)])
            b.jump(over)
            b.place(over)
        self._look_at_nans()
        left = b.load(b.lanes, f"%{name}.rest")
        for runner, lane in zip(self._runners, lanes, strict=True):
            self._buffers.give_back(runner, lane, self._back)
            left = b.without(left, lane)
        b.store(b.lanes, left, f"%{name}.rest")
        b.store("i64", after, f"%{name}.turn")
        b.branch(b.value(f"icmp eq {b.lanes} {left}, 0"), f"{name}_done", f"{name}_joint")

    def _go(self, first: str, last: str, lanes: Sequence[tuple[Runner, Entered]]) -> None:
        """Rounds from the one of a number on until there are so many."""
        b, again, over = self.b, self.b.label("again"), self.b.label("over")
        self._rounds.set_round(first)
        b.jump(again)
        b.place(again)
        number = self._rounds.round()
        for runner, entered in lanes:
            runner.lane.walked = self._rounds.places(entered, number)
            self._run(runner)
            runner.lane.walked = {}
        b.branch(self._rounds.over(number, last), over, again)
        b.place(over)

    def _run(self, runner: Runner) -> None:
        """One round of one lane."""
        registers = runner.registers
        registers.enter(self._live)
        assert isinstance(runner.lane, JointLane)
        for register in () if runner.lane.stores else self._doubles(registers, self._carried):
            value = registers.read(register)
            runner.lane.doubt(value)
            registers.write_late(register, value)
        for step in self._steps:
            runner.steps.run(step, "-1", frozenset())

    @staticmethod
    def _doubles(registers: LaneRegisters, names: Iterable[str]) -> list[str]:
        return [name for name in sorted(names) if registers.types[name] == "double"]

    def _look_at_nans(self) -> None:
        """Lanes go alone if there is a NaN among what they have come to."""
        b, found = self.b, "false"
        for runner in self._runners if not self._stores else ():
            for register in self._doubles(runner.registers, self._back):
                text = runner.registers.take(register)
                found = b.value(f"or i1 {found}, {b.value(f'fcmp uno double {text}, {text}')}")
        if found != "false":
            numbers = b.label("numbers")
            b.branch(found, f"{self._name}_lane", numbers, unlikely=True)
            b.place(numbers)
