"""Code for loops that lanes run one after the other (find.py), in front of the same loop for all lanes.

What lanes need is put into buffers, an element a lane; each lane takes its own, goes round until it leaves
the loop, and puts back what is read later. Which lanes go, and how many rounds each, preparation.py has said
in front of the loop, so a round needs no other test than whether it was the last.

Where such a loop only loads, a lane can begin again, or be left to the loop for all lanes as if it had not
begun: that is done with it and all lanes behind it when an access is in no range, so faults are those of the
loop for all lanes. Accesses in another range than the site remembers have it look for theirs, a number of
times for each run of the warp. Nothing makes the lanes of loops that store begin again (stores.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...program import Program
from ..builder import Builder
from ..control.dispatch import Dispatch
from ..lanes.fast import FastLanes
from ..steps import Steps
from ..values.value import Value
from .buffers import LaneBuffers
from .choose import ChosenLoop
from .doubtful import DoubtfulLane, begin_round, computes_doubles, have_nans
from .ends import emit_ends
from .find import Group
from .joint import emit_joint
from .lane_rounds import Entered, LaneRounds
from .one_lane import Runner
from .preparation import Preparation
from .ranges import LaneRanges
from .repeats import Repeat
from .rounds import Walk
from .several import SeveralLanes, several_runners
from .stores import Meeting, say_apart, short_rounds
from .teams import emit_teams

# Ranges that lanes on their own look for in one run of a warp.
_PATIENCE = 8
# Steps of a round up to which it pays to put the lanes in order.
_ORDERED = 48


class LaneCode:
    """Emits the loops of one program; `slots` are the stack slots that they need."""

    def __init__(self, program: Program, loops: Mapping[int, ChosenLoop], warp: Steps, dispatch: Dispatch):
        self.loops = loops
        self._program = program
        self._warp = warp
        self._dispatch = dispatch
        self._builder: Builder = warp.lanes.builder
        self._slots: list[str] = []
        if loops:
            lanes = warp.lanes
            assert isinstance(lanes, FastLanes)
            self.alone = Runner.alone(lanes, warp.registers, warp.symbols)
            self.several = several_runners(lanes, warp.registers, warp.symbols)

    def declare(self) -> list[str]:
        """The stack slots, at the function's start."""
        if not self.loops:
            return []
        patience = ["  %patience = alloca i32", f"  store i32 {_PATIENCE}, ptr %patience"]
        runners = (self.alone, *self.several)
        return [*patience, *self._slots, *(line for one in runners for line in one.registers.declare())]

    def attempt(self, index: int) -> None:
        """At the start of a loop's header: let lanes run it alone; what is emitted next serves the rest."""
        loop = self.loops.get(index)
        if loop is not None:
            _Attempt(self, loop).emit()


class _Attempt:
    """One loop's code."""

    def __init__(self, code: LaneCode, chosen: ChosenLoop):
        self.code = code
        self.chosen = chosen
        self.loop = loop = chosen.loop
        self.b = code._builder
        self.dispatch = code._dispatch
        self.name = f"alone{loop.header}"
        self.costs, rounds = chosen.costs, chosen.rounds
        self.buffers = LaneBuffers(self.b, self.name, loop, code._slots)
        self.ranges = LaneRanges(code.alone.lane.access, self.buffers.scalars)
        self.steps = code._program.blocks[loop.header].steps
        self.wide, self.repeat = chosen.wide, chosen.repeat
        times = 1 if self.repeat is None else self.repeat.times
        ordered = len(self.steps) <= _ORDERED and not self.wide
        self.shared = chosen.shared if ordered else frozenset[int]()
        self.rounds = LaneRounds(
            self.b, self.name, rounds, code._slots, ordered=ordered, times=times, shared=self.shared
        )
        # Registers whose last values are known in front of the loop.
        self.known = loop.kept.intersection(chosen.ends)
        self.groups = [group for group in loop.groups if rounds.walked.isdisjoint(group.steps)]
        self.misses: list[tuple[str, Sequence[tuple[Group, str]]]] = []  # label, groups with addresses
        self.said = say_apart(self.b, rounds.walks) if loop.stores else {}
        self.at_once: SeveralLanes | None = None
        if self.rounds.ordered and (self.costs.waits or self.shared):
            parts = code._program, loop, self.name, self.rounds, self.buffers, code.several
            self.at_once = SeveralLanes(*parts, self.known, self._check_jointly)
        # Where lanes have their turns, at first and behind those that went alone.
        self.first = f"{self.name}_{'team' if self.shared else 'joint' if self.at_once else 'lane'}"
        self.next = self.first if self.shared else f"{self.name}_lane"

    def emit(self) -> None:
        b, loop, name = self.b, self.loop, self.name
        self.abreast = abreast = b.label("abreast")
        b.branch(b.value(f"icmp eq i32 {b.load('i32', '%patience')}, 0"), abreast, f"{name}_begin")
        b.place(f"{name}_begin")
        self._choose()
        self._open()
        if self.at_once is not None:
            b.place(self.first)
            (emit_teams if self.shared else emit_joint)(self.at_once)
        b.place(f"{name}_lane")
        lane = self.rounds.next_lane()
        self._take_turn(lane)
        rest = b.without(b.load(b.lanes, f"%{name}.rest"), lane)
        b.store(b.lanes, rest, f"%{name}.rest")
        b.branch(b.value(f"icmp eq {b.lanes} {rest}, 0"), f"{name}_done", self.next)
        self._search()
        b.place(f"{name}_done")
        self._collect()
        self.rounds.leave_others(f"%lanes_{loop.header}", abreast)
        self.dispatch.choose([loop.exit], loop.header)
        # The rest of the lanes do as if they had not begun.
        for way, to in {"leave": abreast, "retry": f"{name}_begin"}.items():
            b.place(f"{name}_{way}")
            self._collect()
            b.store(b.lanes, self.rounds.not_done(), f"%lanes_{loop.header}")
            b.jump(to)
        b.place(f"{name}_beside")
        b.store(b.lanes, self.preparation.mask, f"%lanes_{loop.header}")
        b.jump(abreast)
        b.place(abreast)
        self.dispatch.entries[loop.header] = abreast

    # ------------------------------------------------------------------------------------ lanes and buffers
    def _lay_out(self, mask: str) -> None:
        """Put what the lanes of a mask need where each finds its own."""
        b, loop, code = self.b, self.loop, self.code
        code._slots.append(f"  %{self.name}.rest = alloca {b.lanes}")
        b.store(b.lanes, mask, f"%{self.name}.rest")
        self.rounds.begin(mask)
        b.store(b.lanes, "0", f"%lanes_{loop.header}")
        self.buffers.lay_out(code._warp.registers, code._warp.lanes, (code.alone, *code.several))

    # ------------------------------------------------------------------------------------ ranges
    def _choose(self) -> None:
        """Leave the lanes to the loop for all lanes if they are better off together."""
        b, lanes = self.b, self.code._warp.lanes
        assert isinstance(lanes, FastLanes)
        mask = b.load(b.lanes, f"%lanes_{self.loop.header}")
        for group in self.groups:
            self.ranges.limit(group)
        rounds = self.rounds.rounds
        self.preparation = Preparation(rounds, lanes, self.code._warp.registers, self.ranges.bounds, mask)
        ragged, apart = b.label("ragged"), b.label("apart")
        b.branch(self.preparation.side_by_side(), self.abreast, ragged)
        b.place(ragged)
        together, self.several = self.costs.ways(b, self.preparation.after, mask)
        together = b.value(f"and i1 {together}, {self.preparation.counted()}")
        b.branch(together, self.abreast, apart)
        b.place(apart)
        self._lay_out(mask)

    def _open(self) -> None:
        """Find the lanes that go through the loop, and go on with one unless accesses' roots lie unevenly."""
        b = self.b
        self._prepare_rounds()
        uneven = "0"
        for group in self.groups:
            if self.ranges.is_aligned(group):
                low = self.ranges.bounds(group).low
                from_root = b.value(f"sub i64 {self.buffers.scalars[group.root or '']}, {low}")
                uneven = b.value(f"or i64 {uneven}, {b.value(f'and i64 {from_root}, {group.size - 1}')}")
        b.branch(b.value(f"icmp ne i64 {uneven}, 0"), f"{self.name}_leave", self.first, unlikely=True)

    def _prepare_rounds(self) -> None:
        """Prepare the lanes."""
        b, code, rounds, lanes = self.b, self.code, self.rounds, self.code._warp.lanes
        assert isinstance(lanes, FastLanes)
        registers, symbols = code._warp.registers, code._warp.symbols
        preparation, mask, known = self.preparation, self.preparation.mask, sorted(self.known)
        numbers = frozenset[int]().union(*(self.chosen.ends[name] for name in known))
        steps = [step for step in self.steps if step.number in numbers]
        ends = emit_ends(steps, known, rounds.rounds, lanes, registers, symbols, preparation.after)
        plan = preparation.plan()
        for name in known:
            whole = b.vector(registers.types[name])
            code._slots.append(f"  {self._end(name)} = alloca {whole}, align 64")
            b.store(whole, lanes.as_vector(ends[name]).ir, self._end(name), ", align 64")
        if self.loop.stores:
            walks, after = rounds.rounds.walks, preparation.after
            rounds.prepare_all(plan, mask, self.several, Meeting(b, walks, plan.addresses, after, mask))
        else:
            rounds.prepare(plan, mask, self.several)

    def _end(self, name: str) -> str:
        """Where a register's last values are that are known in front of the loop."""
        return f'%"{self.name}.end.{name[1:]}"'

    def _check_jointly(self, runner: Runner, missed: str) -> None:
        """Let the accesses of a lane among several be checked; what misses goes to a label."""
        runner.lane.missed = lambda accesses: missed
        assert isinstance(runner.lane, DoubtfulLane)
        runner.lane.give_up = missed
        runner.lane.stores, runner.lane.said = self.loop.stores, self.said
        self._check_by_ranges(runner)

    def _check_by_ranges(self, runner: Runner) -> None:
        """Let a lane's accesses be checked."""
        runner.steps.chain = self.costs.chain if self.groups else frozenset()
        runner.lane.groups = {step: group for group in self.groups for step in group.steps}
        runner.lane.ranges = self.ranges.checks(self.groups, runner)

    def _collect(self) -> None:
        """Give the warp what its lanes have come to and send them on."""
        b, loop, registers = self.b, self.loop, self.code._warp.registers
        registers.enter(loop.kept)
        for register in sorted(self.known):
            self._blend_end(register)
        for register in sorted(loop.kept - self.known):
            place, element = self.buffers.buffer(registers.types[register], register)
            text = b.load(b.vector(element), place, ", align 64")
            if element == "i8" and registers.types[register] == "i1":
                text = b.value(f"trunc {b.vector('i8')} {text} to {b.vector('i1')}")
            registers.write(register, Value(registers.types[register], text))
        self.dispatch.send(loop.header, loop.exit, self.rounds.done(), add=True)

    def _blend_end(self, register: str) -> None:
        """Give a register its last values in the lanes that are done."""
        b, registers, lanes = self.b, self.code._warp.registers, self.code._warp.lanes
        type_ = registers.types[register]
        whole, done = b.vector(type_), b.mask_vector(self.rounds.done())
        old = lanes.as_vector(registers.read(register)).ir
        new = b.load(whole, self._end(register), ", align 64")
        chosen = b.value(f"select {b.vector('i1')} {done}, {whole} {new}, {whole} {old}")
        registers.write(register, Value(type_, chosen))

    # ------------------------------------------------------------------------------------ one lane's loop
    def _take_turn(self, lane: str) -> None:
        """A lane goes through its rounds, and keeps what it has come to."""
        b, code, rounds, back = self.b, self.code, self.rounds, self.loop.kept - self.known
        entered = rounds.enter(lane)
        rounds.look_ahead(rounds.later)
        over = f"{self.name}_over"
        if computes_doubles(self.steps, code.alone.registers) and not self.loop.stores:
            (runner, *_), exactly = code.several, f"{self.name}_exactly"
            assert isinstance(runner.lane, DoubtfulLane)
            runner.lane.give_up, runner.lane.stores = exactly, False
            self._go(runner, lane, entered)
            found, numbers = have_nans(b, (runner,), back), b.label("numbers")
            b.branch(found or "false", exactly, numbers, unlikely=True)
            b.place(numbers)
            self.buffers.give_back(runner, lane, back)
            b.jump(over)
            b.place(exactly)
        self._go(code.alone, lane, entered)
        self.buffers.give_back(code.alone, lane, back)
        b.jump(over)
        b.place(over)

    def _go(self, runner: Runner, lane: str, entered: Entered) -> None:
        """All rounds of a lane."""
        b, rounds = self.b, self.rounds
        runner.lane.missed = self._missed
        self.buffers.take(runner, lane)
        self._check_by_ranges(runner)
        rounds.set_round("0")
        again, over = b.label("again"), b.label("over")
        b.jump(again)
        b.place(again)
        number = rounds.round()
        runner.lane.walked, runner.lane.said = rounds.places(entered, number), self.said
        runner.registers.enter(self.code._program.live[self.loop.header] | self.loop.kept)
        if isinstance(runner.lane, DoubtfulLane):
            begin_round(runner, rounds.rounds.carried(self.loop))
        for step in self.steps:
            if self.repeat is None or step.number in self.repeat.steps:
                runner.steps.run(step, "-1", frozenset())
        if self.repeat is not None:
            self._move_on(self.repeat)
        runner.lane.walked, runner.lane.said = {}, {}
        hint = f", !llvm.loop {short_rounds(b)}" if self.wide else ""
        b.emit(f"br i1 {rounds.over(number, entered.last)}, label %{over}, label %{again}{hint}")
        b.place(over)

    def _move_on(self, repeat: Repeat) -> None:
        """At the end of one of the parts of a round."""
        registers = self.code.alone.registers
        for name, pace in sorted(repeat.paces.items()):
            type_ = registers.types[name]
            registers.put(name, self.b.value(f"add {type_} {registers.take(name)}, {pace}"))

    # ------------------------------------------------------------------------------------ other ranges
    def _missed(self, accesses: Sequence[tuple[Group, str]]) -> str:
        label = self.b.label("missed")
        self.misses.append((label, accesses))
        return label

    def _search(self) -> None:
        """Where an access is in another range than its site's: look for it and let the lanes begin again."""
        b = self.b
        for label, accesses in self.misses:
            b.place(label)
            self._look(accesses)
        b.place(f"{self.name}_stray")
        self._look(self.rounds.first_strays())

    def _look(self, accesses: Sequence[tuple[Group | Walk, str]]) -> None:
        b, name = self.b, self.name
        left = b.value(f"sub i32 {b.load('i32', '%patience')}, 1")
        b.store("i32", left, "%patience")
        again = b.value(f"icmp ne i32 {left}, 0")
        found = self.ranges.learn(accesses)
        b.branch(b.value(f"and i1 {again}, {found}"), f"{name}_retry", f"{name}_leave")
