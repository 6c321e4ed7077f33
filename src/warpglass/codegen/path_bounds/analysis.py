"""The fixpoint: bounds of what each instruction writes, along one thread's paths through the program.

infer.py knows of a register what holds wherever it is read. Here every block has a state of its own, which
the branches on the way to it narrow: inside `while i < n` the test holds. States are joined where paths meet
and widened at the heads of loops, at first to numbers that something is compared with. What a loop's other
variables can be follows from how often it can run (trip_counts.py). The steps' `bounds` keep what was found.

They hold for a thread that executes the step, so of lanes that do not nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ...isa.types import LLVM_TYPE
from ...program import (
    Block,
    Branch,
    Jump,
    Program,
    Round,
    Step,
)
from ...ptx import tree
from ..operands import Operands, Symbols
from ..shape import BlockShape, Promises
from ..values.bounds import bounds_of as range_of
from ..values.value import Value
from .domain import (
    INTEGERS,
    ZERO,
    AbstractInt,
    AbstractLanes,
    bounds_of,
    common_low_bits,
    constant,
    join_predicates,
    limits,
    low_bits_of,
    make_abstract,
)
from .refinement import Impossible, refine
from .trip_counts import TripBounds, trip_bounds

# Kernels up to whose length paths are followed, and how many steps for each of theirs may be run.
_LONGEST, _BUDGET = 2500, 40
# Times that a loop's head is joined before its bounds grow at once as far as they can.
_VISITS = 10
# Further rounds of the program, with what loops' trips say, and sweeps that narrow what was widened.
_ROUNDS, _SWEEPS = 2, 2

# Units whose instructions compute; integers that others yield are unknown.
COMPUTING = ("integer", "conversion", "misc")

State = Mapping[str, AbstractInt]


class OutOfBudget(Exception):
    """More steps were run than this is worth."""


def bound_by_paths(program: Program, shape: BlockShape, promises: Promises, symbols: Symbols) -> Program:
    """The program with bounds at the steps; only of kernels with loops, and of no very long ones."""
    blocks = program.blocks
    length = sum(len(block.steps) for block in blocks)
    if length > _LONGEST or not backward_edges(blocks):
        return program
    lanes = AbstractLanes(shape, promises)
    caps: TripBounds = {}
    try:
        paths = _settled(program, lanes, symbols, caps)
        for _ in range(_ROUNDS):
            more = trip_bounds(paths.edges, paths.states)
            if not more:
                break
            caps = {head: {**caps.get(head, {}), **more.get(head, {})} for head in {**caps, **more}}
            paths = _settled(program, lanes, symbols, caps)
        return paths.bounded()
    except OutOfBudget:
        return program


def backward_edges(blocks: Sequence[Block]) -> list[tuple[int, int]]:
    """The edges that close loops: from which block, and to which head."""
    return [
        (index, target)
        for index, block in enumerate(blocks)
        for target in block.successors
        if target <= index
    ]


def _settled(program: Program, lanes: AbstractLanes, symbols: Symbols, caps: TripBounds) -> Analysis:
    paths = Analysis(program, lanes, symbols, caps)
    paths.settle()
    return paths


class _Registers:
    """A state that steps read and write; stands in for Registers."""

    def __init__(self, types: Mapping[str, str]):
        self.types = types
        self.state: dict[str, AbstractInt] = {}

    def read(self, name: str) -> Value:
        return self.state.get(name) or Value(self.types[name], "")


@dataclass(frozen=True, slots=True)
class _Fork:
    """Where a block has written the predicate that it branches on: the step's position, and the state."""

    position: int
    state: State


class Analysis:
    """The state in front of every block, and what reaches each along its edges."""

    def __init__(self, program: Program, lanes: AbstractLanes, symbols: Symbols, caps: TripBounds):
        self.program = program
        self.lanes = lanes
        lanes.start()
        types = {name: LLVM_TYPE[type_] for name, type_ in program.registers.items()}
        self._registers = _Registers(types)
        self._operands = Operands(lanes, self._registers, symbols)
        self._integers = {name for name, type_ in types.items() if type_ in INTEGERS}
        self._caps = caps
        self.states: dict[int, State] = {}
        self.edges: dict[tuple[int, int], State] = {}  # by the blocks that they lead from and to
        self._grown = False  # whether a state was widened
        self._visits = [0] * len(program.blocks)
        self._left = _BUDGET * sum(len(block.steps) + 1 for block in program.blocks)
        self._sources: list[list[int]] = [[] for _ in program.blocks]
        for index, block in enumerate(program.blocks):
            for target in block.successors:
                self._sources[target].append(index)
        self._heads = {head for _, head in backward_edges(program.blocks)}

    def settle(self) -> None:
        """Find states that no path leads out of, then narrow them."""
        self._follow({0}, range(len(self.program.blocks)))
        for _ in range(_SWEEPS):
            for index in sorted(self.states) if self._grown else ():
                state = self._enter(index, widen=False)
                if state != self.states[index]:
                    self.states[index] = state
                    self._leave(index)

    def _follow(self, work: set[int], within: range) -> None:
        """Run blocks, and those of a range that they lead to, until no state changes."""
        while work:
            index = min(work)
            work.remove(index)
            state = self._enter(index, widen=True)
            if index in self.states and state == self.states[index]:
                continue
            self.states[index] = state
            work |= self._leave(index).intersection(within)

    def entering(self, loop: range) -> State | None:
        """The state in which a loop is entered, None if no path leads to it."""
        self.edges.pop((loop[-1], loop.start), None)
        if loop.start not in self.states:
            return None
        return self._renewed(self._enter(loop.start, widen=False), loop, -1)

    def run_round(self, loop: range, state: State, number: int) -> tuple[Round, State | None]:
        """Where the blocks of a loop lead in a round that begins in a state, and the next one's state.

        There is none if no lane goes back to the loop's first block.
        """
        for index in loop:
            self._visits[index] = 0
            self.states.pop(index, None)
            for target in self.program.blocks[index].successors:
                self.edges.pop((index, target), None)
        self.states[loop.start] = state
        self._follow(self._leave(loop.start).intersection(loop[1:]), loop[1:])
        onward = {
            index: tuple(t for t in self.program.blocks[index].successors if (index, t) in self.edges)
            for index in loop
            if index in self.states
        }
        again = self.edges.get((loop[-1], loop.start))
        return onward, None if again is None else self._renewed(again, loop, number)

    def _renewed(self, state: State, loop: range, number: int) -> State:
        """What a round begins with, what it writes each for itself: the same steps write other values."""
        written = {
            name for index in loop for step in self.program.blocks[index].steps for name in step.writes
        }
        return {
            name: self.lanes.renewed(state[name], "round", number, name) if name in written else state[name]
            for name in self.program.live[loop.start] & state.keys()
        }

    def bounded(self) -> Program:
        """The program with the bounds of what its steps write, and without what no path leads to."""
        blocks: list[Block] = []
        for index, block in enumerate(self.program.blocks):
            onward = [target for target in block.successors if (index, target) in self.edges]
            if index in self.states:
                steps = tuple(self._bounded(index, self.states[index]))
                one_way = (
                    isinstance(block.end, Branch) and len(onward) == 1 and not self._enters(onward[0], block)
                )
                blocks.append(Block(steps, Jump(onward[0]) if one_way else block.end))
            else:
                blocks.append(Block((), Jump(block.successors[0])) if block.successors else block)
        return self.program.rewritten(tuple(blocks))

    def _enters(self, target: int, block: Block) -> bool:
        """Whether a block decides if a loop of one block is entered or left out, and leads to it.

        Then the branch stays, though its predicate is known: who joins loops looks for it.
        """
        blocks = self.program.blocks
        header = blocks[target].successors[0] if isinstance(blocks[target].end, Jump) else target
        around = blocks[header].successors
        return header in around and not set(around).isdisjoint(set(block.successors) - {target})

    def _bounded(self, index: int, state: State) -> Iterator[Step]:
        self._registers.state = dict(state)
        for position, step in enumerate(self.program.blocks[index].steps):
            origin = self._origin(step)
            found = {
                name: bounds
                for name, value in self._run(index, position, step).items()
                if (bounds := range_of(value)) is not None
            }
            yield replace(step, bounds=found, origin=origin) if found or origin else step

    def _origin(self, step: Step) -> tuple[int, int] | None:
        """The root of an access's address, and the distance from it."""
        if step.match.load_or_store is None:
            return None
        address = step.address
        if not isinstance(address.base, tree.Register):
            return None
        value = self._registers.state.get(address.base.name)
        return None if value is None or value.root <= ZERO else (value.root, value.distance)

    # ------------------------------------------------------------------------------------ joining
    def _enter(self, index: int, widen: bool) -> State:
        """The state in front of a block: what all edges to it agree on."""
        edges = ((source, index) for source in self._sources[index])
        coming = [self.edges[edge] for edge in edges if edge in self.edges]
        if index == 0:
            coming.append(self._start())
        live = self.program.live[index] & self._integers
        known = [name for name in sorted(live) if all(name in state for state in coming)]
        if len(coming) == 1:
            joined = {name: coming[0][name] for name in known}
        else:
            joined = self._join(index, known, coming)
        self._visits[index] += 1
        old = self.states.get(index)
        if widen and old is not None and index in self._heads:
            joined = {name: self._widened(index, old.get(name), value) for name, value in joined.items()}
        for name, (low, high) in self._caps.get(index, {}).items():
            value = joined.get(name)
            if value is not None:
                ends = bounds_of(value)
                both = max(low, ends[0]), min(high, ends[1])
                place = value.root, value.distance
                joined[name] = make_abstract(value.type, both, low_bits_of(value), *place) or value
        return joined

    def _start(self) -> State:
        """What registers hold at the start, if they are read before they are written: zero."""
        types = self._registers.types
        return {name: constant(types[name], 0) for name in self.program.live[0] & self._integers}

    def _join(self, index: int, names: Sequence[str], coming: Sequence[State]) -> dict[str, AbstractInt]:
        """Registers that differ by the same on all paths still do: they get one root."""
        first: dict[object, tuple[str, int]] = {}
        joined: dict[str, AbstractInt] = {}
        for name in names:
            values = [state[name] for state in coming]
            one = values[0]
            if all(value == one for value in values):
                joined[name] = one
                continue
            if one.type == "i1":
                joined[name] = join_predicates(values)
                continue
            ends = [bounds_of(value) for value in values]
            bounds = min(low for low, _ in ends), max(high for _, high in ends)
            same = {(value.root, value.distance) for value in values}
            if len(same) == 1 and one.root >= 0:
                root, distance = one.root, one.distance
            else:
                steps = tuple((value.root, value.distance - one.distance) for value in values)
                head, base = first.setdefault((one.type, steps), (name, one.distance))
                root, distance = self.lanes.root("join", index, head), one.distance - base
            made = make_abstract(one.type, bounds, common_low_bits(*values), root, distance)
            assert made is not None, "a join holds what it joins"
            joined[name] = made
        return joined

    def _widened(self, index: int, old: AbstractInt | None, new: AbstractInt) -> AbstractInt:
        """A loop variable whose bounds still grow gets bounds that will do, if possible."""
        if old is None or new.type == "i1" or old == new:
            return new
        (low, high), (least, greatest) = bounds_of(new), limits(new.type)
        before = bounds_of(old)
        marks = self.lanes.thresholds if self._visits[index] <= _VISITS else ()
        if low < before[0]:
            low = max((mark for mark in marks if mark <= low), default=least)
        if high > before[1]:
            high = min((mark for mark in marks if mark >= high), default=greatest)
        bounds = max(min(low, before[0]), least), min(max(high, before[1]), greatest)
        self._grown |= bounds != bounds_of(new)
        made = make_abstract(new.type, bounds, common_low_bits(old, new), new.root, new.distance)
        assert made is not None, "a widened interval holds the narrower one"
        return made

    # ------------------------------------------------------------------------------------ running
    def _leave(self, index: int) -> set[int]:
        """Run a block from its state; returns the blocks that its edges reach."""
        block = self.program.blocks[index]
        self._left -= len(block.steps) + 1
        if self._left < 0:
            raise OutOfBudget
        self._registers.state = dict(self.states[index])
        fork = _Fork(-1, self.states[index])
        for position, step in enumerate(block.steps):
            self._run(index, position, step)
            if block.splits in step.writes:
                fork = _Fork(position, dict(self._registers.state))
        if isinstance(block.end, Branch):
            return self._branch(index, block, block.end, fork)
        state = self._registers.state
        self._forget(index, len(block.steps), block.all_steps[len(block.steps) :])
        for target in block.successors:
            self.edges[index, target] = state
        return set(block.successors)

    def _branch(self, index: int, block: Block, end: Branch, fork: _Fork) -> set[int]:
        """Both edges of a branch, each with what its predicate says there."""
        predicate = self._registers.state.get(end.register)
        if end.taken == end.other:
            self.edges[index, end.taken] = self._registers.state
            return {end.taken}
        sides = {end.taken: not end.negated, end.other: end.negated}
        for target, holds in sides.items():
            state = None
            if predicate is None or predicate.constant in (None, int(holds)):
                state = self._assume(index, block, end, fork, holds)
            if state is None:
                self.edges.pop((index, target), None)
            else:
                self.edges[index, target] = state
        return {target for target in sides if (index, target) in self.edges}

    def _assume(self, index: int, block: Block, end: Branch, fork: _Fork, holds: bool) -> State | None:
        """The state behind a block whose predicate is known; None if it cannot be."""
        state = dict(fork.state)
        predicate = state.get(end.register)
        try:
            if predicate is not None and predicate.test is not None:
                refine(state, predicate.test, holds, self.lanes.keys)
        except Impossible:
            return None
        known = constant("i1", int(holds))
        state[end.register] = known if predicate is None else replace(known, test=predicate.test)
        self._registers.state = state
        for position, step in enumerate(block.steps[fork.position + 1 :], fork.position + 1):
            self._run(index, position, step)
        return state

    def _run(self, index: int, position: int, step: Step) -> dict[str, AbstractInt]:
        """Run one step; returns what it writes."""
        written = [name for name in step.writes if name in self._integers]
        if not written:
            return {}
        state, lanes = self._registers.state, self.lanes
        old = {name: state.get(name) for name in written}
        if step.match.row.unit not in (*COMPUTING, "memory") or step.control is not None:
            self._forget(index, position, (step,))
            return {}
        found: dict[str, AbstractInt] = {}
        for target, is_signed, value in self._operands.results(step):
            if isinstance(target, tree.Register) and target.name in self._integers:
                fitted = lanes.fit(value, self._registers.types[target.name], is_signed)
                found[target.name] = lanes.wrap(fitted, "write", index, position, target.name)
        state.update(found)
        if step.instruction.guard is not None:
            self._keep_old(index, position, found, old)
        return found

    def _keep_old(
        self,
        index: int,
        position: int,
        found: Mapping[str, AbstractInt],
        old: Mapping[str, AbstractInt | None],
    ) -> None:
        """A step under a guard may leave what was there."""
        state = self._registers.state
        for name, value in found.items():
            before = old[name]
            del state[name]
            if before is not None and value.type != "i1":
                ends = bounds_of(before), bounds_of(value)
                bounds = min(low for low, _ in ends), max(high for _, high in ends)
                root = self.lanes.root("guarded", index, position, name)
                low_bits = common_low_bits(before, value)
                state[name] = make_abstract(value.type, bounds, low_bits, root, 0) or value

    def _forget(self, index: int, position: int, steps: Iterable[Step]) -> None:
        """Nothing is known of what steps write."""
        types = self._registers.types
        for step in steps:
            for name in self._integers.intersection(step.writes):
                unknown = Value(types[name], "")
                self._registers.state[name] = self.lanes.wrap(unknown, "write", index, position, name)
