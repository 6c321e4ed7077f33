"""Lanes side by side that walk the same way go through a loop of known rounds as a team.

Threads that share a row of blocks of a sparse matrix load the same column in each round, and the same part of
the vector by it; only their part of the block is each lane's own. A team's rounds end together, which is one
end for all that may not be foreseen, and what is loaded from the same place is loaded once: where walks are
the same, LLVM sees that all that follows from them is, too.

Which lanes are *mates*, so that they walk and end as the next one does, is found when lanes come to the loop
(preparation.py). It is looked at where walks of other loads depend on more than those that give indices do:
lanes whose walks are all the same would do the same work twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...program import Program, Step
from ...program.blocks import index_registers
from ..infer import Inference
from .find import LaneLoop
from .lane_rounds import LATER
from .rounds import Linear, Rounds
from .several import SeveralLanes


def find_shared(program: Program, loop: LaneLoop, rounds: Rounds, found: Inference) -> frozenset[int]:
    """The walks, by their places in `rounds.walks`, that mates have in common; none if there are no teams."""
    steps = program.blocks[loop.header].steps
    groups = [group for group in loop.groups if rounds.walked.isdisjoint(group.steps)]
    made = {name: step for step in steps for name in step.writes}
    giving = {step.number for step in _loads_behind(made, {group.base for group in groups if group.base})}
    sources = _Sources(program, loop, found)
    every = [sources.of(walk.first) for walk in rounds.walks]
    ways = [way for walk, way in zip(rounds.walks, every, strict=True) if giving.intersection(walk.steps)]
    common = frozenset[object]().union(*ways)
    shared = frozenset(k for k, way in enumerate(every) if way <= common)
    return shared if ways and len(shared) < len(every) else frozenset()


def _loads_behind(made: dict[str, Step], names: Iterable[str]) -> Iterator[Step]:
    """The loads of a round that registers follow from."""
    seen, left = set[str](), list(names)
    while left:
        name = left.pop()
        step = made.get(name)
        if step is None or name in seen:
            continue
        seen.add(name)
        if step.match.load_or_store is not None:
            yield step
        left += step.reads


class _Sources:
    """What registers that differ from lane to lane follow from, as they come to a loop."""

    def __init__(self, program: Program, loop: LaneLoop, found: Inference):
        self._found = found
        self._made: dict[str, list[Step]] = {}
        for index, block in enumerate(program.blocks):
            for step in block.steps if index != loop.header else ():
                for name in step.writes:
                    self._made.setdefault(name, []).append(step)

    def of(self, sum_: Linear) -> frozenset[object]:
        """Loads, by their numbers, and registers that hold the thread's index."""
        seen, left, sources = set[str](), list(_registers(sum_)), set[object]()
        while left:
            name = left.pop()
            kind = self._found.kinds.get(name)
            if name in seen or (kind is not None and kind.uniform):
                continue
            seen.add(name)
            for step in self._made.get(name, ()):
                if step.match.load_or_store is not None:
                    sources.add(step.number)
                elif index_registers((step,)):
                    sources.add(name)
                else:
                    left += step.reads
        return frozenset(sources)


def _registers(sum_: Linear) -> Iterator[str]:
    for atom, _ in sum_.parts:
        if atom.inner is None:
            yield atom.register
        else:
            yield from _registers(atom.inner)


def emit_teams(several: SeveralLanes) -> None:
    """The lane whose turn it is goes with its mates; one that has none goes to `{name}_lane`."""
    b, name, rounds = several.b, several.name, several.rounds
    now = b.load("i64", f"%{name}.turn")
    first = rounds.in_order(now)
    mates = rounds.mates(first)
    for size in range(len(several.runners), 1, -1):
        team, fewer, all_ = b.label("team"), b.label("fewer"), (1 << size - 1) - 1
        has = b.value(f"icmp eq {b.lanes} {b.value(f'and {b.lanes} {mates}, {all_}')}, {all_}")
        b.branch(has, team, fewer)
        b.place(team)
        runners = several.runners[:size]
        lanes = [first, *(b.value(f"add i64 {first}, {away}") for away in range(1, size))]
        one = rounds.enter(first)
        entered = [one, *(rounds.enter(lane, one) for lane in lanes[1:])]
        rounds.look_ahead(rounds.in_order(now, LATER))
        for runner, lane in zip(runners, lanes, strict=True):
            several.take(runner, lane)
        several.go("0", one.last, list(zip(runners, entered, strict=True)), in_step=True)
        several.leave(runners, lanes, b.value(f"add i64 {now}, {size}"), f"{name}_team")
        b.place(fewer)
    b.jump(f"{name}_lane")
