"""Several lanes at once through a loop of known rounds, each in scalars, as far as they go together.

A lane's sum waits for itself: each addition needs the one before it. Lanes have nothing to do with each
other, so the processor has as many such chains under way as lanes go at once. In the order of their rounds
(order.py) those side by side have nearly as many. What the shortest leaves of the others' rounds each does
alone. Where there are too few lanes for that, each goes alone from the beginning (code.py).

Where such loops only load, lanes can begin again: where one is out of the ranges that are known, or has a NaN
of type double (doubtful.py), all of the group do everything alone. In loops that store, no lane is out of its
ranges (stores.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...program import Program, Step
from ..builder import Builder
from ..lanes.fast import FastLanes
from ..operands import Symbols
from ..registers import Registers
from .buffers import LaneBuffers
from .doubtful import begin_round, doubtful_runner, have_nans
from .find import LaneLoop
from .lane_rounds import LATER, Entered, LaneRounds
from .one_lane import Runner

LANES = 4  # that go at once


def joint_runners(like: FastLanes, warp: Registers, symbols: Symbols) -> tuple[Runner, ...]:
    """What runs the steps of lanes that go at once."""
    return tuple([doubtful_runner(like, warp, symbols, f"%joint{number}.") for number in range(LANES)])


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
        # What rounds hand on, apart from what moves evenly and is seldom used.
        self._carried = rounds.rounds.carried(loop)

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
        begin_round(runner, self._carried)
        for step in self._steps:
            runner.steps.run(step, "-1", frozenset())

    def _look_at_nans(self) -> None:
        """Lanes go alone if there is a NaN among what they have come to."""
        b = self.b
        found = have_nans(b, self._runners, self._back)
        if found:
            numbers = b.label("numbers")
            b.branch(found, f"{self._name}_lane", numbers, unlikely=True)
            b.place(numbers)
