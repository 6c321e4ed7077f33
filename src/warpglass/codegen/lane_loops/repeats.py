"""Rounds that hand nothing on, and what is repeated within each of them.

Compilers unroll loops: a round then stores several elements side by side, each computed as the one before it.
Where lanes go one after the other, such a round is that many rounds of one element: LLVM does many of those
at once, in vectors, and the last few under a mask. So what is computed for the first element is told from
the rest, and compared with what is computed for the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...program import Program, Step
from ...ptx import tree
from .ends import computed
from .find import LaneLoop
from .rounds import Rounds, Walk

_Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """One of the `times` parts of a round: its steps, and by how much registers that they read move on."""

    times: int
    steps: frozenset[int]
    paces: Mapping[str, int]


def hands_nothing_on(loop: LaneLoop, rounds: Rounds) -> bool:
    """Whether of what a round writes the next one reads no more than what moves on evenly."""
    return not rounds.carried(loop)


def find_repeat(program: Program, loop: LaneLoop, rounds: Rounds) -> Repeat | None:
    """The first of the parts that a storing loop's rounds are made of; None if they are no such parts."""
    moving = [walk for walk in rounds.walks if walk.pace]
    counts = {len(set(walk.steps.values())) for walk in moving}
    if not hands_nothing_on(loop, rounds) or len(counts) != 1:
        return None
    (times,) = counts
    if times == 1 or not all(_side_by_side(walk, times) for walk in moving) or not _in_turns(rounds.walks):
        return None
    return _Round(program, loop, rounds, times).repeat()


def _side_by_side(walk: Walk, times: int) -> bool:
    unit, rest = divmod(walk.pace, times)
    return rest == 0 and sorted(set(walk.steps.values())) == [unit * k for k in range(times)]


def _in_turns(walks: tuple[Walk, ...]) -> bool:
    """Whether no part stores what another one loads, and each what it has loaded if at all."""
    for store in (walk for walk in walks if walk.writes):
        own = {place: step for step, place in store.steps.items()}
        for walk in (one for one in walks if one.array == store.array and one is not store):
            before = not walk.writes and all(step < own[place] for step, place in walk.steps.items())
            if walk.first != store.first or not before:
                return False
        if len(own) < len(store.steps):
            return False
    return True


class _Round:
    """What one round computes: each value has a number, the same for what is computed alike."""

    def __init__(self, program: Program, loop: LaneLoop, rounds: Rounds, times: int):
        self._rounds, self._times = rounds, times
        self._steps = program.blocks[loop.header].steps
        self._kept = loop.kept
        self._written = loop.written
        self._numbers: dict[_Key, int] = {}
        self._keys: list[_Key] = []
        self._places = {
            step: (k, place * times // walk.pace if walk.pace else 0)
            for k, walk in enumerate(rounds.walks)
            for step, place in walk.steps.items()
        }

    def repeat(self) -> Repeat | None:
        """The first part, if all others do the same with what lies as far on."""
        values: dict[str, int] = {}
        stored: dict[int, dict[int, int]] = {}
        for step in self._steps:
            if step.match.load_or_store is None:
                if not computed(step) or len(step.writes) != 1:
                    return None
                (name,) = step.writes
                values[name] = self._computed(step, values)
            elif not self._access(step, values, stored):
                return None
        for parts in stored.values():
            if any(self._moved(value, part) != parts[0] for part, value in parts.items()):
                return None
        return self._first()

    def _first(self) -> Repeat | None:
        wanted, steps = set[str](), set[int]()
        for step in reversed(self._steps):
            first = self._places.get(step.number, (0, 1))[1] == 0 and step.match.load_or_store is not None
            if (first and step.match.access is not None and step.match.access.writes) or (
                not wanted.isdisjoint(step.writes)
            ):
                steps.add(step.number)
                wanted = (wanted - set(step.writes)) | step.reads
        moving = wanted & self._written
        written = {name for step in self._steps if step.number in steps for name in step.writes}
        paces = {name: self._rounds.paces[name] for name in moving}
        if written & moving or any(pace % self._times for pace in paces.values()):
            return None
        return Repeat(
            self._times, frozenset(steps), {name: pace // self._times for name, pace in paces.items()}
        )

    # ------------------------------------------------------------------------------------ values
    def _number(self, *key: object) -> int:
        found = self._numbers.setdefault(key, len(self._keys))
        if found == len(self._keys):
            self._keys.append(key)
        return found

    def _operand(self, operand: tree.Operand, values: Mapping[str, int]) -> int:
        if not isinstance(operand, tree.Register):
            return self._number("as it stands", operand)
        name = operand.name
        if name in values:
            return values[name]
        return self._number("moving", name, 0) if name in self._written else self._number("steady", name)

    def _computed(self, step: Step, values: Mapping[str, int]) -> int:
        instruction = step.instruction
        sources = [self._operand(one, values) for one in instruction.operands[1:]]
        keys = [self._keys[one] for one in sources]
        if step.match.row.operation == "sum":
            match keys:
                case [("moving", str(name), int(far)), ("as it stands", tree.Integer(more))]:
                    return self._number("moving", name, far + more)
                case _:
                    pass
        return self._number("computed", instruction.opcode, instruction.modifiers, *sources)

    def _access(self, step: Step, values: dict[str, int], stored: dict[int, dict[int, int]]) -> bool:
        """Note what is loaded or stored; false for what are several elements."""
        walk, part = self._places[step.number]
        access, operands = step.match.load_or_store, step.instruction.operands
        assert access is not None
        if access.writes:
            stored.setdefault(walk, {})[part] = self._operand(operands[1], values)
            return not isinstance(operands[1], tree.Vector)
        if len(step.writes) != 1:
            return False
        (name,) = step.writes
        values[name] = self._number("loaded", walk, part, step.instruction.modifiers)
        return True

    def _moved(self, value: int, part: int) -> int:
        """What a value of one part would be in the first."""
        match self._keys[value]:
            case ("moving", str(name), int(far)):
                return self._number("moving", name, far - part * self._rounds.paces[name] // self._times)
            case ("loaded", int(walk), int(there), modifiers) if self._rounds.walks[walk].pace:
                return self._number("loaded", walk, there - part, modifiers)
            case ("computed", opcode, modifiers, *sources):
                moved = [self._moved(one, part) for one in sources if isinstance(one, int)]
                return self._number("computed", opcode, modifiers, *moved)
            case _:
                return value
