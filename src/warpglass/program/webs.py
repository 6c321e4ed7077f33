"""Registers that hold several things in turn, told apart: names for what one instruction alone has written.

A loop's variable is one register before, in and behind the loop, and code generation knows of a register what
holds wherever it is read. Where a value can only be that of one of several writes, it is read by a name of
that write, which also still writes the register itself. Nothing moves, and no instruction is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from ..isa.types import LLVM_TYPE
from .blocks import Block
from .decode import Step
from .liveness import find_dirty, find_liveness

if TYPE_CHECKING:
    from . import Program

# Types of whose values code generation may know more than that they are vectors.
_TYPES = ("i32", "i64")
_Write = tuple[int, int, str]  # block, position and register


def split_registers(program: Program) -> Program:
    """The program with names for writes: `Step.names` and `Step.also` have them."""
    flow = _Flow(program.blocks, _writes(program))
    uses = flow.lone_uses()
    aliases = {write: f"{write[2]}.{count}" for count, write in enumerate(sorted(set(uses.values())))}
    if not aliases:
        return program
    blocks = tuple(
        replace(
            block, steps=tuple(_named(step, (index, k), uses, aliases) for k, step in enumerate(block.steps))
        )
        for index, block in enumerate(program.blocks)
    )
    types = {alias: program.registers[write[2]] for write, alias in aliases.items()}
    return replace(
        program,
        blocks=tuple(blocks),
        registers={**program.registers, **types},
        live=find_liveness(tuple(blocks)),
        dirty=find_dirty(tuple(blocks)),
    )


def _named(
    step: Step, place: tuple[int, int], uses: dict[_Write, _Write], aliases: dict[_Write, str]
) -> Step:
    """A step that reads and writes names of writes."""
    names = {name: aliases[uses[*place, name]] for name in step.reads if (*place, name) in uses}
    also = {name: aliases[*place, name] for name in step.writes if (*place, name) in aliases}
    if not names and not also:
        return step
    reads = frozenset(names.get(name, name) for name in step.reads)
    return replace(step, reads=reads, writes=(*step.writes, *also.values()), names=names, also=also)


def _writes(program: Program) -> list[_Write]:
    """The writes of registers that several instructions write, each of them in any case."""
    found: dict[str, list[_Write]] = {}
    barred = set(program.live[0])
    for index, block in enumerate(program.blocks):
        for position, step in enumerate(block.all_steps):
            for name in step.writes:
                found.setdefault(name, []).append((index, position, name))
                if step.instruction.guard is not None or position == len(block.steps):
                    barred.add(name)
    return [
        write
        for name, writes in found.items()
        if len(writes) > 1 and name not in barred and LLVM_TYPE[program.registers[name]] in _TYPES
        for write in writes
    ]


class _Flow:
    """Which writes a register's value may be from, as sets of bits."""

    def __init__(self, blocks: Sequence[Block], writes: Sequence[_Write]):
        self._blocks = blocks
        self._writes = writes
        self._bit = {write: 1 << number for number, write in enumerate(writes)}
        self._all: dict[str, int] = {}  # all writes of a register
        for write, bit in self._bit.items():
            self._all[write[2]] = self._all.get(write[2], 0) | bit
        self._into = [0] * len(blocks)
        if writes:
            self._solve()

    def _solve(self) -> None:
        """Let writes reach as far as they do."""
        last: list[dict[str, int]] = [{} for _ in self._blocks]
        for (index, _, name), bit in sorted(self._bit.items()):
            last[index][name] = bit
        killed = [sum(self._all[name] for name in own) for own in last]
        made = [sum(own.values()) for own in last]
        work = list(range(len(self._blocks)))
        waiting = set(work)
        while work:
            index = heappop(work)
            waiting.remove(index)
            out = self._into[index] & ~killed[index] | made[index]
            for target in self._blocks[index].successors:
                if out | self._into[target] != self._into[target]:
                    self._into[target] |= out
                    if target not in waiting:
                        waiting.add(target)
                        heappush(work, target)

    def lone_uses(self) -> dict[_Write, _Write]:
        """Block, position and register where a step reads what one write alone can have written, and that."""
        found: dict[_Write, _Write] = {}
        if not self._writes:
            return found
        for index, block in enumerate(self._blocks):
            held = self._into[index]
            for position, step in enumerate(block.steps):
                guard = step.instruction.guard
                for name in step.reads:
                    reaching = held & self._all.get(name, 0)
                    if (
                        reaching
                        and reaching & (reaching - 1) == 0
                        and (guard is None or guard.register != name)
                    ):
                        found[index, position, name] = self._writes[reaching.bit_length() - 1]
                for name in step.writes:
                    if name in self._all:
                        held = held & ~self._all[name] | self._bit[index, position, name]
        return found
