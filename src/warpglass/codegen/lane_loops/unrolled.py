"""Loops that a compiler has unrolled: two, one for the rounds left over and one with several rounds in each.

Lanes that run such loops one after the other are better off with the loop as it was written: they leave it
once, where no processor foresees it, not twice. Belongs here: to see that one round of the second loop does
what so many of the first one do. Whether the second goes on where the first has ended is found for each lane
when the kernel runs (front.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...program import Branch, Jump, Pending, Program, Step
from ...ptx import tree
from ..operands import targets_of
from .ends import computed, find_ends
from .find import LaneLoop
from .rounds import Rounds

# Blocks between the two loops.
_LONGEST = 4

_MOVES = -1  # stands for what changes from round to round and is no load


@dataclass(frozen=True, slots=True)
class Unrolled:
    """The loop behind a loop, a round of which is `times` of the first one's.

    `path` are the blocks between them. At the ends of some of these lanes may skip the second loop: `forks`
    says of those blocks whether lanes that take the branch do go on to it. `needed` are registers that the
    first loop writes and that are read before the second ends.
    """

    main: LaneLoop
    rounds: Rounds
    times: int
    path: tuple[int, ...]
    forks: Mapping[int, bool]
    needed: frozenset[str]

    @property
    def exit(self) -> int:
        """Where lanes go behind both."""
        return self.main.exits[0]


def find_all_unrolled(
    program: Program, loops: Mapping[int, LaneLoop], rounds: Mapping[int, Rounds], pending: Pending
) -> dict[int, Unrolled]:
    """Of each loop the next one, if it is that unrolled and lanes may wait where it ends; by headers."""
    found: dict[int, Unrolled] = {}
    for first in rounds:
        for header in rounds:
            both = loops[first], rounds[first], loops[header], rounds[header]
            behind = find_unrolled(program, *both) if header > first else None
            if behind is None or program.blocks[behind.exit].only_exits:
                continue
            if all(behind.exit in pending.sets[index] for index in (first, *behind.path, header)):
                found[first] = behind
    return found


def find_unrolled(
    program: Program, first: LaneLoop, own: Rounds, main: LaneLoop, rounds: Rounds
) -> Unrolled | None:
    """Whether a loop is the unrolled rest of another that comes before it."""
    times = _times(own, rounds)
    way = _path(program, first.exits[0], main)
    if times is None or way is None:
        return None
    path, forks = way
    blocks = [program.blocks[index] for index in path]
    between = [step for block in blocks for step in block.steps]
    carried = program.live[first.header] & first.written - set(own.paces)
    written = first.written | main.written | {name for step in between for name in step.writes}
    moved = program.live[main.header] & main.written - set(rounds.paces)
    read = frozenset(name for step in between for name in step.reads) | main.read - carried
    if (
        carried != moved
        or not carried.isdisjoint(name for step in between for name in step.writes)
        or not program.live[main.exits[0]] & written <= carried
        or not (read & first.written) <= set(find_ends(program, first, own))
        or not all(computed(step) for step in between)
    ):
        return None
    terms = _Terms(program)
    start = {name: terms.of("carried", name) for name in carried}
    parts = start
    for round_ in range(times):
        parts = terms.run(first, own, parts, round_)
    if terms.run(main, rounds, start, 0) != parts or _MOVES in parts.values():
        return None
    return Unrolled(main, rounds, times, path, forks, read & first.written)


def _times(own: Rounds, rounds: Rounds) -> int | None:
    """How often the walks of one loop move in one move of another's."""
    found: set[int] = set()
    if len(own.walks) != len(rounds.walks):
        return None
    for one, other in zip(own.walks, rounds.walks, strict=True):
        if (one.place, one.size, one.pace == 0) != (other.place, other.size, other.pace == 0):
            return None
        if one.pace:
            times, rest = divmod(other.pace, one.pace)
            found.add(0 if rest else times)
    return found.pop() if len(found) == 1 and 0 not in found else None


def _path(program: Program, start: int, main: LaneLoop) -> tuple[tuple[int, ...], dict[int, bool]] | None:
    """The blocks from one place to a loop, which lanes may leave for where it ends only."""
    path, forks = list[int](), dict[int, bool]()
    while start != main.header:
        if len(path) == _LONGEST or start in path:
            return None
        path.append(start)
        block = program.blocks[start]
        match block.end:
            case Jump(target):
                start = target
            case Branch(taken=taken, other=other) if main.exits[0] in (taken, other):
                on = other if taken == main.exits[0] else taken
                forks[start] = on == taken
                start = on
            case _:
                return None
    return tuple(path), forks


class _Terms:
    """What registers hold, as numbers: one for each operation and what it is given."""

    def __init__(self, program: Program):
        self._program = program
        self._numbers: dict[tuple[object, ...], int] = {}

    def of(self, *what: object) -> int:
        """The number of an operation and its operands."""
        return self._numbers.setdefault(what, len(self._numbers))

    def run(self, loop: LaneLoop, rounds: Rounds, carried: Mapping[str, int], round_: int) -> dict[str, int]:
        """What a round makes of registers that the one before leaves; even loads are told by their place."""
        env = dict(carried)
        loads = {
            step: (number, distance + round_ * walk.pace)
            for number, walk in enumerate(rounds.walks)
            for step, distance in walk.steps.items()
        }
        for name in self._program.live[loop.header] & loop.written - set(carried):
            env[name] = _MOVES
        for step in self._program.blocks[loop.header].steps:
            self._step(step, loads.get(step.number), env)
        return {name: env[name] for name in carried}

    def _step(self, step: Step, place: tuple[int, int] | None, env: dict[str, int]) -> None:
        operands = [operand for form, operand, _ in step.match.forms() if not form.destination]
        sources = [] if place else [self._operand(step, one, env) for one in operands]
        instruction = step.instruction
        # What an instruction reads and writes without naming it, as a carry, is not followed.
        named = {name for one in operands for name in _registers(one)}
        moves = _MOVES in sources or instruction.guard is not None or not step.reads <= named
        results = dict.fromkeys(step.writes, _MOVES)
        for number, (target, _) in enumerate(targets_of(step.match)):
            if isinstance(target, tree.Register) and not moves:
                what = self.of(instruction.opcode, instruction.modifiers, place, tuple(sources), number)
                results[target.name] = what
        env |= results

    def _operand(self, step: Step, operand: tree.Operand, env: Mapping[str, int]) -> int:
        """A register that no round writes stands for itself."""
        match operand:
            case tree.Register():
                (name,) = _registers(operand)
                return env[name] if name in env else self.of("fixed", name)
            case tree.Negated(inner):
                return self._over(self._operand(step, inner, env), "not")
            case tree.Address(base=tree.Register() as base, offset=offset):
                return self._over(self._operand(step, base, env), "at", offset)
            case tree.Integer() | tree.Float() | tree.Address():
                return self.of(operand)
            case _:
                return _MOVES

    def _over(self, inner: int, *what: object) -> int:
        return inner if inner == _MOVES else self.of(*what, inner)


def _registers(operand: tree.Operand) -> set[str]:
    """The register that an operand is read from, if there is one."""
    match operand:
        case tree.Register(name) | tree.Negated(tree.Register(name)) | tree.Address(base=tree.Register(name)):
            return {name}
        case _:
            return set()
