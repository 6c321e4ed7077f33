"""Lanes that do nothing about NaNs of type double on their way: sums and products of them are NaNs, too.

Where a loop only loads, a lane can begin again. So its NaNs are looked at in what it leaves the loop with,
and where someone would see which they are; if there is one, it does everything again, with the hardware's.
In loops that store, all is exact from the beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...program import Step
from ..builder import Builder
from ..lanes.fast import FastLanes
from ..operands import Symbols
from ..registers import Registers
from ..values.operations import KEEPS_NAN, OPERATIONS, PASSES_NAN, UNKNOWN
from ..values.results import Result
from ..values.value import Value
from .one_lane import LaneRegisters, LaneSteps, OneLane, Runner


class DoubtfulLane(OneLane):
    """The vocabulary for such a lane: NaNs of type double are *doubtful*, and seldom looked at.

    `give_up` is where it goes if one is seen.
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


class _DoubtfulSteps(LaneSteps):
    """Steps whose doubtful results stay so in registers."""

    def _write_one(
        self, name: str, fitted: Value, mask: str, condition: Value | None, blend: frozenset[str]
    ) -> None:
        if condition is None and self.lanes.late(fitted):
            self.registers.write(name, fitted)
        else:
            super()._write_one(name, fitted, mask, condition, blend)


def doubtful_runner(like: FastLanes, warp: Registers, symbols: Symbols, prefix: str) -> Runner:
    """What runs the steps of such a lane; the names of its registers' homes begin with `prefix`."""
    lane, registers = DoubtfulLane(like), LaneRegisters(warp, prefix)
    return Runner(lane, registers, _DoubtfulSteps(lane, registers, symbols))


def begin_round(runner: Runner, carried: Iterable[str]) -> None:
    """What the round before has handed on may be doubtful."""
    assert isinstance(runner.lane, DoubtfulLane)
    for register in () if runner.lane.stores else _doubles(runner, carried):
        value = runner.registers.read(register)
        runner.lane.doubt(value)
        runner.registers.write_late(register, value)


def have_nans(b: Builder, runners: Sequence[Runner], names: Iterable[str]) -> str:
    """An i1 that holds if there is a NaN among registers of lanes; empty if there cannot be one."""
    found = ""
    for runner in runners:
        assert isinstance(runner.lane, DoubtfulLane)
        for register in () if runner.lane.stores else _doubles(runner, names):
            text = runner.registers.take(register)
            nan = b.value(f"fcmp uno double {text}, {text}")
            found = b.value(f"or i1 {found}, {nan}") if found else nan
    return found


def computes_doubles(steps: Iterable[Step], registers: Registers) -> bool:
    """Whether steps make doubles, whose NaNs may be others than the hardware's."""
    made = (name for step in steps if step.match.load_or_store is None for name in step.writes)
    return any(registers.types[name] == "double" for name in made)


def _doubles(runner: Runner, names: Iterable[str]) -> list[str]:
    return [name for name in sorted(names) if runner.registers.types[name] == "double"]
