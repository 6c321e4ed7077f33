"""What comes in front of a loop of known rounds: which lanes go, and how many rounds each has, from where.

If the loop behind it is the same one unrolled (unrolled.py), lanes can go through both in the first one's
rounds: its registers are taken to be what they will be when it ends, the blocks between the two are run on
those, and the second loop must load where the first has stopped. Lanes that have none of the first one's
rounds, and wait where it ends, come with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...program import Branch, Program
from ..lanes.fast import FastLanes
from ..memory.access import Bounds
from ..operands import Symbols
from ..registers import Registers
from ..values.value import Value
from .ends import Ahead, AheadSteps, emit_ends
from .find import LaneLoop
from .preparation import Plan, Preparation
from .rounds import Rounds, Walk
from .unrolled import Unrolled


@dataclass(frozen=True, slots=True)
class _Further:
    """Lanes that go through both loops, their rounds in the second, and where that begins; as vectors."""

    able: str
    more: str
    goals: list[str]


class Front:
    """Emits what comes in front of one loop."""

    def __init__(
        self,
        program: Program,
        loop: LaneLoop,
        rounds: Rounds,
        unrolled: Unrolled | None,
        lanes: FastLanes,
        registers: Registers,
        symbols: Symbols,
        bounds: Callable[[Walk], Bounds],
    ):
        self._program = program
        self._loop = loop
        self._rounds = rounds
        self._unrolled = unrolled
        self._lanes = lanes
        self._registers = registers
        self._symbols = symbols
        self._bounds = bounds
        self.b = lanes.builder
        self._whole, self._choice = self.b.vector("i64"), self.b.vector("i1")
        self.ends: dict[str, Value] = {}  # what the loop leaves in registers

    def emit(self, mask: str, waiting: str, wanted: Iterable[str]) -> Plan:
        """Look at the lanes of a mask, and at those that wait where the loop ends.

        `wanted` are registers whose `ends` are asked for.
        """
        b, whole = self.b, self._whole
        walks, unrolled = self._rounds.walks, self._unrolled
        own = Preparation(self._lanes, self._registers)
        after = own.count(self._rounds)
        needed = frozenset() if unrolled is None else unrolled.needed
        self.ends = emit_ends(
            self._program,
            self._loop,
            self._rounds,
            sorted(needed.union(wanted)),
            self._lanes,
            self._registers,
            self._symbols,
            after,
        )
        able = b.value(f"and {self._choice} {own.able}, {b.mask_vector(mask)}")
        rounds = b.value(f"add {whole} {after}, {b.splat('i64', '1')}")
        starts = [own.first(walk) for walk in walks]
        further = None
        if unrolled is not None:
            late = b.mask_vector(waiting)
            rounds = self._chosen(late, "zeroinitializer", rounds)
            further = self._follow(unrolled, able, late, rounds, starts)
            more = self._chosen(further.able, further.more, "zeroinitializer")
            rounds = b.value(f"add {whole} {rounds}, {more}")
            starts = [self._chosen(late, *pair) for pair in zip(further.goals, starts, strict=True)]
            able = b.value(f"or {self._choice} {able}, {further.able}")
        hosts: list[str] = []
        for walk, start in zip(walks, starts, strict=True):
            inside = self._inside(walk, start, rounds)
            able = b.value(f"and {self._choice} {able}, {inside}")
            hosts.append(b.value(f"add {whole} {start}, {b.splat('i64', self._bounds(walk).delta)}"))
        lanes = b.mask_bits(able)
        far = "0" if further is None else b.value(f"and {b.lanes} {lanes}, {b.mask_bits(further.able)}")
        behind = b.value(f"and {b.lanes} {far}, {waiting}")
        return Plan(lanes, far, behind, rounds, tuple(hosts), tuple(starts), lambda: self._strays(starts))

    def _chosen(self, condition: str, one: str, other: str) -> str:
        whole = self._whole
        return self.b.value(f"select {self._choice} {condition}, {whole} {one}, {whole} {other}")

    # ------------------------------------------------------------------------------------ ranges
    def _element(self, walk: Walk, start: str) -> str:
        """How many elements behind its range's start a walk begins; many if it begins elsewhere."""
        b, whole = self.b, self._whole
        inside = b.value(f"sub {whole} {start}, {b.splat('i64', self._bounds(walk).low)}")
        if walk.size == 1:
            return inside
        shift = b.splat("i64", str(walk.size.bit_length() - 1))
        return b.call(
            whole, f"llvm.fshr.{b.suffix('i64')}", [(whole, inside), (whole, inside), (whole, shift)]
        )

    def _inside(self, walk: Walk, start: str, rounds: str) -> str:
        """Whether all loads of so many rounds are within the range, as a vector of i1."""
        b, whole = self.b, self._whole
        first = self._element(walk, start)
        limit, more = self._bounds(walk).limit, walk.span // walk.size
        if more:
            limit = b.call("i64", "llvm.usub.sat.i64", [("i64", limit), ("i64", str(more))])
        pace = walk.pace // walk.size
        if pace:
            moved = b.value(f"mul {whole} {rounds}, {b.splat('i64', str(pace))}")
            last = b.value(f"add {whole} {first}, {moved}")
            last = b.value(f"sub {whole} {last}, {b.splat('i64', str(pace))}")
            first = b.call(whole, f"llvm.umax.{b.suffix('i64')}", [(whole, first), (whole, last)])
        return b.value(f"icmp ult {whole} {first}, {b.splat('i64', limit)}")

    def _strays(self, starts: Iterable[str]) -> str:
        """The mask of lanes for which a walk begins in another range than its site remembers."""
        b, found = self.b, "0"
        for walk, start in zip(self._rounds.walks, starts, strict=True):
            limit = b.splat("i64", self._bounds(walk).limit)
            outside = b.value(f"icmp uge {self._whole} {self._element(walk, start)}, {limit}")
            found = b.value(f"or {b.lanes} {found}, {b.mask_bits(outside)}")
        return found

    # ------------------------------------------------------------------------------------ both loops
    def _follow(self, unrolled: Unrolled, able: str, late: str, rounds: str, starts: list[str]) -> _Further:
        b, whole, choice = self.b, self._whole, self._choice
        ahead = Ahead(self._registers, {})
        for name in sorted(unrolled.needed):
            end = self.ends[name]
            now, then = (self._lanes.as_vector(value).ir for value in (self._registers.read(name), end))
            type_ = b.vector(end.type)
            chosen = b.value(f"select {choice} {late}, {type_} {now}, {type_} {then}")
            ahead.values[name] = Value(end.type, chosen)
        on = self._between(ahead, unrolled)
        main = Preparation(self._lanes, ahead)
        after = main.count(unrolled.rounds)
        goals = [main.first(walk) for walk in unrolled.rounds.walks]
        meet = able
        for walk, start, goal in zip(self._rounds.walks, starts, goals, strict=True):
            moved = b.value(f"mul {whole} {rounds}, {b.splat('i64', str(walk.pace))}")
            there = b.value(f"icmp eq {whole} {b.value(f'add {whole} {start}, {moved}')}, {goal}")
            meet = b.value(f"and {choice} {meet}, {there}")
        far = b.value(f"or {choice} {meet}, {late}")
        for condition in (on, main.able):
            far = b.value(f"and {choice} {far}, {condition}")
        more = b.value(f"add {whole} {after}, {b.splat('i64', '1')}")
        more = b.value(f"mul {whole} {more}, {b.splat('i64', str(unrolled.times))}")
        return _Further(far, more, goals)

    def _between(self, ahead: Ahead, unrolled: Unrolled) -> str:
        """Run the blocks between the loops; the lanes that go on to the second, as a vector of i1."""
        b, lanes = self.b, self._lanes
        steps = AheadSteps(lanes, ahead, self._symbols)
        on = b.mask_vector("-1")
        for index in unrolled.path:
            block = self._program.blocks[index]
            for step in block.steps:
                steps.run(step, "-1", frozenset())
            if isinstance(block.end, Branch):
                guard = block.end.step.instruction.guard
                assert guard is not None
                taken = steps.predicate(guard)
                goes = lanes.as_vector(taken if unrolled.forks[index] else lanes.not_(taken)).ir
                on = b.value(f"and {self._choice} {on}, {goes}")
        return on
