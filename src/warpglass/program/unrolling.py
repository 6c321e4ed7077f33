"""A loop written out: its blocks once for each of its rounds, in their order.

What a round writes gets registers of its own, so that what is known of them is known of that round alone.
Those that it hands on do only if every way through it writes them. Which rounds there are is for the caller
to know (codegen/path_bounds/rounds.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .blocks import (
    Barrier,
    Block,
    Branch,
    Exit,
    Jump,
    Switch,
    Terminator,
    is_on_all_ways,
    loops_of,
    retarget,
)
from .decode import Step
from .renaming import copy_step, with_names

if TYPE_CHECKING:
    from . import Program

# Where each block that runs in a round leads.
Round = Mapping[int, tuple[int, ...]]


def unrolled(program: Program, body: range, rounds: Sequence[Round]) -> Program:
    """The program with a loop's rounds one behind the other.

    `body` are its blocks, of which the first is the header. All rounds but the last one end at the header; of
    blocks that lead out of the loop all lanes go there.
    """
    blocks, header = program.blocks, body.start
    places = [(-1, index) for index in range(header)]
    places += [(k, index) for k, one in enumerate(rounds) for index in sorted(one)]
    places += [(-1, index) for index in range(body.stop, len(blocks))]
    numbers = {place: number for number, place in enumerate(places)}
    outside = {index: number for (k, index), number in numbers.items() if k < 0}
    outside[header] = numbers[0, header]
    rest = [
        replace(block, end=retarget(block.end, outside))
        for index, block in enumerate(blocks)
        if index not in body
    ]
    made = _Rounds(program, body)
    copies: list[Block] = []
    for k, one in enumerate(rounds):
        inside = {index: numbers[k, index] for index in one}
        inside[header] = numbers.get((k + 1, header), -1)
        copies += made.add(one, outside | inside)
    program = program.rewritten((*rest[:header], *copies, *rest[header:]), made.registers)
    strays = program.strays | {new for new, old in made.copied.items() if old in program.strays}
    own = {new: program.number_of(old) for new, old in made.copied.items()}
    return replace(program, strays=strays, copied={**program.copied, **own})


class _Rounds:
    """Rounds in the making: `registers` with those that they write, `copied` by the numbers of new steps."""

    def __init__(self, program: Program, body: range):
        self._program, self._body = program, body
        self.registers, self.copied = dict(program.registers), dict[int, int]()
        self._next = 1 + max(step.number for block in program.blocks for step in block.all_steps)
        self._own, self._carried = _written(program, body)
        self._now = {name: name for name in self._carried}  # what the last round has handed on
        self._new: dict[str, str] = {}  # what this round writes
        self._numbers: dict[int, int] = {}  # its steps' numbers, by those of the loop's

    def add(self, onward: Round, targets: Mapping[int, int]) -> list[Block]:
        """The blocks of the next round; `targets` are the new numbers of blocks."""
        for name in (*self._own, *self._carried):
            self._new[name] = f"{name}.{len(self.registers)}"
            self.registers[self._new[name]] = self.registers[name]
        header = self._body.start
        entered = {header: self._now | {name: self._new[name] for name in self._own}}
        self._numbers.clear()
        made: list[Block] = []
        for index in sorted(onward):
            names = dict(entered[index])
            made.append(self._copy(self._program.blocks[index], onward[index], names, targets))
            for target in onward[index]:
                if target == header:
                    self._now = {name: names[name] for name in self._carried}
                else:
                    entered.setdefault(target, names)
        self.copied.update((new, old) for old, new in self._numbers.items())
        return made

    def _copy(
        self, block: Block, onward: tuple[int, ...], names: dict[str, str], targets: Mapping[int, int]
    ) -> Block:
        """A block; `names` are what registers are called in front of it, and then behind it."""
        steps: list[Step] = []
        for step in block.steps:
            steps.append(self._numbered(with_names(step, names, self._new)))
            names |= {name: self._new[name] for name in step.writes if name in self._new}
        if len(onward) == 1 and not isinstance(block.end, Barrier):
            end: Terminator = Jump(targets[onward[0]])
        else:
            end = retarget(self._named(block.end, names), targets)
        left = (self._program.live[target] for target in onward if target not in self._body)
        for name in sorted(frozenset[str]().union(*left)):
            if names.get(name, name) != name:
                steps.append(copy_step(self._next - 1, self.registers[name], name, names[name]))
        return Block(tuple(steps), end)

    def _named(self, end: Terminator, names: Mapping[str, str]) -> Terminator:
        """How a block ends, with other registers."""
        if isinstance(end, Jump | Exit):
            return end
        end = replace(end, step=self._numbered(with_names(end.step, names, {})))
        if isinstance(end, Branch | Switch):
            end = replace(end, register=names.get(end.register, end.register))
        return end

    def _numbered(self, step: Step) -> Step:
        """A step with a number of its own, the same for all parts of an instruction."""
        if step.number not in self._numbers:
            self._numbers[step.number] = self._next
            self._next += 1
        return replace(step, number=self._numbers[step.number])


def _written(program: Program, body: range) -> tuple[list[str], list[str]]:
    """The registers of one round alone that a loop writes, and those handed on that all ways write."""
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
