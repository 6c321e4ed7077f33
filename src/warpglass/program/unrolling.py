"""A loop written out: its blocks once for each of its rounds, in their order.

What a round writes gets registers of its own, so that what is known of it is known of that round alone, if
every way through the round writes it. Which rounds there are is for the caller to know (codegen/path_bounds/).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .blocks import Barrier, Block, Branch, Exit, Jump, Switch, Terminator, is_on_all_ways, loops_of, retarget
from .decode import Step
from .renaming import copy_step, with_names

if TYPE_CHECKING:
    from . import Program

# Where each block that runs in a round leads.
Round = Mapping[int, tuple[int, ...]]
Names = dict[str, str]


def unrolled(program: Program, body: range, rounds: Sequence[Round]) -> Program:
    """The program with a loop's rounds one behind the other.

    `body` are its blocks, of which the first is the header. All lanes stay together at the ends of blocks
    that lead out of it, and all other rounds but the last one end at the header.
    """
    made = _Copies(program, body)
    blocks = program.blocks
    places = [(-1, index) for index in range(body.start)]
    places += [(k, index) for k, one in enumerate(rounds) for index in sorted(one)]
    places += [(-1, index) for index in range(body.stop, len(blocks))]
    numbers = {place: number for number, place in enumerate(places)}
    outside = {index: number for (k, index), number in numbers.items() if k < 0}
    outside[body.start] = numbers[0, body.start]
    copies: list[Block] = []
    for k, one in enumerate(rounds):
        targets = outside | {index: numbers[k, index] for index in one}
        targets[body.start] = numbers.get((k + 1, body.start), -1)
        copies += made.round(one, targets)
    around = [replace(block, end=retarget(block.end, outside)) for block in blocks[: body.start]]
    behind = [replace(block, end=retarget(block.end, outside)) for block in blocks[body.stop :]]
    program = program.rewritten((*around, *copies, *behind), made.registers)
    strays = program.strays | {new for new, old in made.copied.items() if old in program.strays}
    return replace(program, strays=strays, copied={**program.copied, **{new: program.number_of(old) for new, old in made.copied.items()}})


class _Copies:
    """What rounds are made of: `registers` with those that they write, `copied` by the new steps' numbers."""

    def __init__(self, program: Program, body: range):
        self._program, self._body = program, body
        self.registers, self.copied = dict(program.registers), dict[int, int]()
        self._next = 1 + max(step.number for block in program.blocks for step in block.all_steps)
        self._own, self._carried = _renamed(program, body)
        self._now: Names = {name: name for name in self._carried}

    def round(self, onward: Round, targets: Mapping[int, int]) -> list[Block]:
        """The blocks of the next round."""
        new = {name: f"{name}.{len(self.registers) + k}" for k, name in enumerate([*self._own, *self._carried])}
        self.registers.update((new[name], self.registers[name]) for name in new)
        local = {name: new[name] for name in self._own}
        entered: dict[int, Names] = {self._body.start: self._now | local}
        numbers: dict[int, int] = {}
        made: list[Block] = []
        for index in sorted(onward):
            names = dict(entered[index])
            made.append(self._copy(index, onward[index], names, new, targets, numbers))
            for target in onward[index]:
                entered.setdefault(target, names)
                if target == self._body.start:
                    self._now = {name: names[name] for name in self._carried}
        self.copied.update((number, old) for old, number in numbers.items())
        return made

    def _copy(
        self,
        index: int,
        onward: tuple[int, ...],
        names: Names,
        new: Mapping[str, str],
        targets: Mapping[int, int],
        numbers: dict[int, int],
    ) -> Block:
        """A block; `names` are what registers are called in front of it, and then behind it."""
        block = self._program.blocks[index]
        steps: list[Step] = []
        for step in block.steps:
            steps.append(self._numbered(with_names(step, names, new), numbers))
            names |= {name: new[name] for name in step.writes if name in new}
        if len(onward) == 1 and not isinstance(block.end, Barrier):
            end: Terminator = Jump(targets[onward[0]])
        else:
            end = retarget(self._named(block.end, names, numbers), targets)
        left = [target for target in onward if target not in self._body]
        for name in sorted(frozenset().union(*(self._program.live[target] for target in left))):
            if names.get(name, name) != name:
                steps.append(copy_step(self._next - 1, self.registers[name], name, names[name]))
        return Block(tuple(steps), end)

    def _named(self, end: Terminator, names: Names, numbers: dict[int, int]) -> Terminator:
        """How a block ends, with other registers."""
        if isinstance(end, Jump | Exit):
            return end
        end = replace(end, step=self._numbered(with_names(end.step, names, {}), numbers))
        if isinstance(end, Branch | Switch):
            end = replace(end, register=names.get(end.register, end.register))
        return end

    def _numbered(self, step: Step, numbers: dict[int, int]) -> Step:
        """A step with a number of its own, the same for all parts of an instruction."""
        if step.number not in numbers:
            numbers[step.number] = self._next
            self._next += 1
        return replace(step, number=numbers[step.number])


def _renamed(program: Program, body: range) -> tuple[list[str], list[str]]:
    """The registers that a loop writes which get names: those of one round, and those that rounds hand on."""
    blocks, header = program.blocks, body.start
    inner = {
        index
        for head, inside in loops_of(blocks).items()
        if head != header and head in body
        for index in inside
    }
    written: dict[str, bool] = {}  # whether all ways through a round write it
    for index in body:
        always = index not in inner and is_on_all_ways(blocks, header, set(body), index)
        for step in blocks[index].steps:
            for name in step.writes:
                free = always and step.instruction.guard is None
                written[name] = written.get(name, True) and free
    live = program.live[header]
    own = [name for name in written if name not in live]
    return own, [name for name, always in written.items() if always and name in live]
