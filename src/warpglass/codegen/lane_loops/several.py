"""Rounds of several lanes at once, each in scalars, as far as they go together.

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
from .lane_rounds import Entered, LaneRounds
from .one_lane import Runner

LANES = 4  # that go at once, at most


def several_runners(like: FastLanes, warp: Registers, symbols: Symbols) -> tuple[Runner, ...]:
    """What runs the steps of lanes that go at once."""
    return tuple([doubtful_runner(like, warp, symbols, f"%joint{number}.") for number in range(LANES)])


class SeveralLanes:
    """The code that lanes of one loop need to go at once; the names of its labels begin with `name`.

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
        self.name = name
        self.rounds = rounds
        self.runners = runners
        self._steps: Sequence[Step] = program.blocks[loop.header].steps
        self._live = program.live[loop.header] | loop.kept
        self._buffers = buffers
        self._prepare = prepare
        self._back = loop.kept - known
        # What rounds hand on, apart from what moves evenly and is seldom used.
        self._carried = rounds.rounds.carried(loop)

    def take(self, runner: Runner, lane: str) -> None:
        """Let a runner hold what a lane enters the loop with."""
        self._buffers.take(runner, lane)
        self._prepare(runner, f"{self.name}_lane")

    def go(
        self, first: str, last: str, lanes: Sequence[tuple[Runner, Entered]], *, in_step: bool = False
    ) -> None:
        """Rounds from the one of a number on until there are so many; all lanes do each step if `in_step`."""
        b, again, over = self.b, self.b.label("again"), self.b.label("over")
        self.rounds.set_round(first)
        b.jump(again)
        b.place(again)
        number = self.rounds.round()
        for runner, entered in lanes:
            runner.lane.walked = self.rounds.places(entered, number)
            runner.registers.enter(self._live)
            begin_round(runner, self._carried)
        runners = [runner for runner, _ in lanes]
        for crew in [runners] if in_step else [[runner] for runner in runners]:
            for step in self._steps:
                for runner in crew:
                    runner.steps.run(step, "-1", frozenset())
        for runner in runners:
            runner.lane.walked = {}
        b.branch(self.rounds.over(number, last), over, again)
        b.place(over)

    def leave(self, runners: Sequence[Runner], lanes: Sequence[str], turn: str, following: str) -> None:
        """Keep what lanes have come to, and go on at a label with the next turn if lanes are left."""
        b, rest = self.b, f"%{self.name}.rest"
        self._look_at_nans(runners)
        left = b.load(b.lanes, rest)
        for runner, lane in zip(runners, lanes, strict=True):
            self._buffers.give_back(runner, lane, self._back)
            left = b.without(left, lane)
        b.store(b.lanes, left, rest)
        b.store("i64", turn, f"%{self.name}.turn")
        b.branch(b.value(f"icmp eq {b.lanes} {left}, 0"), f"{self.name}_done", following)

    def _look_at_nans(self, runners: Sequence[Runner]) -> None:
        """Lanes go alone if there is a NaN among what they have come to."""
        b = self.b
        found = have_nans(b, runners, self._back)
        if found:
            numbers = b.label("numbers")
            b.branch(found, f"{self.name}_lane", numbers, unlikely=True)
            b.place(numbers)
