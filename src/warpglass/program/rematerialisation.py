"""Rematerialisation: addresses computed again from 32-bit numbers in the blocks that use them.

Compilers compute an element's address once, in front of the branches that access it. Of a register that comes
from another block only the 64-bit vector is known; where an address is an extended index and a base is seen
in one block, accesses check and gather by the index (codegen/lanes/indices.py). A computation is done again
where it gives what the register holds, whichever way a thread has come, and not in an inner loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import TYPE_CHECKING

from .blocks import Block
from .decode import Step
from .definitions import Place
from .flow_graph import find_loops
from .liveness import flow_forward
from .renaming import with_names
from .sinking import computes_anywhere

if TYPE_CHECKING:
    from . import Program

_DEEPEST = 4  # computations that an address is made of at most


def rematerialise(program: Program, chosen: Set[str]) -> Program:
    """The program with some registers, if made of numbers of 32 bits, computed where they are read."""
    made = _Rematerialisation(program, chosen)
    blocks = tuple(map(made.rewritten, range(len(program.blocks))))
    return program.rewritten(blocks, made.registers) if made.registers != program.registers else program


class _Rematerialisation:
    """Each computation that may be done again has a bit: set where its register holds something else."""

    def __init__(self, program: Program, chosen: Set[str]):
        self._blocks = program.blocks
        self.registers = dict(program.registers)
        wanted = chosen - program.live[0]
        self._sources: dict[str, list[Place]] = {}  # the computations of a register
        self._bits: dict[Place, int] = {}
        self._spoils: dict[str, int] = {}  # what the writes of a register make stale
        for index, block in enumerate(self._blocks):
            for position, step in enumerate(block.steps):
                if not wanted.isdisjoint(step.writes) and self._may_repeat(step):
                    self._note((index, position), step)
        everything = (1 << len(self._bits)) - 1
        blocks = range(len(self._blocks))
        self._stale = flow_forward(
            self._blocks, [(self._behind_block(k, 0), self._behind_block(k, everything)) for k in blocks]
        )
        self._loops = _innermost(self._blocks)

    def _may_repeat(self, step: Step) -> bool:
        types = {self.registers[name] for name in step.writes}
        return types == {"b64"} and computes_anywhere(step) and step.reads.isdisjoint(step.writes)

    def _note(self, place: Place, step: Step) -> None:
        bit = self._bits[place] = 1 << len(self._bits)
        self._sources.setdefault(step.writes[0], []).append(place)
        for name in (*step.writes, *step.reads):
            self._spoils[name] = self._spoils.get(name, 0) | bit

    def _behind(self, place: Place, stale: int) -> int:
        """What is stale behind a step if something is in front of it."""
        for name in self._blocks[place[0]].steps[place[1]].writes:
            stale |= self._spoils.get(name, 0)
        return stale & ~self._bits.get(place, 0)

    def _behind_block(self, index: int, stale: int) -> int:
        for position in range(len(self._blocks[index].steps)):
            stale = self._behind((index, position), stale)
        return stale

    def rewritten(self, index: int) -> Block:
        """A block with what it reads of other blocks computed at its start."""
        block = self._blocks[index]
        early: list[Step] = []
        own: dict[Place, str] = {}  # the registers of what is computed again
        steps: list[Step] = []
        written: set[str] = set()
        for step in block.steps:
            names = self._read_again(step.reads - written, index, own, early)
            steps.append(with_names(step, names, {}) if names else step)
            written.update(step.writes)
        return replace(block, steps=(*early, *steps)) if early else block

    def _read_again(
        self, names: Set[str], index: int, own: dict[Place, str], early: list[Step], depth: int = 0
    ) -> dict[str, str]:
        """Registers of a block's own for those that are computed again at its start."""
        found = {name: self._again(name, index, own, early, depth) for name in sorted(names)}
        return {name: one for name, one in found.items() if one}

    def _again(self, name: str, index: int, own: dict[Place, str], early: list[Step], depth: int) -> str:
        place = self._source(name, index)
        if place is None or depth == _DEEPEST:
            return ""
        if place not in own:
            source = self._blocks[place[0]].steps[place[1]]
            names = self._read_again(source.reads, index, own, early, depth + 1)
            if not names and all(self.registers[one] != "b32" for one in source.reads):
                return ""
            own[place] = f"{name}.{len(self.registers)}"
            self.registers[own[place]] = self.registers[name]
            early.append(with_names(source, names, {name: own[place]}))
        return own[place]

    def _source(self, name: str, index: int) -> Place | None:
        """A computation in another block of the loop that gives what a register holds at a block's start."""
        for place in self._sources.get(name, ()):
            same = place[0] != index and self._loops.get(place[0]) == self._loops.get(index)
            if same and not self._stale[index] & self._bits[place]:
                return place
        return None


def _innermost(blocks: tuple[Block, ...]) -> Mapping[int, int]:
    """The header of the smallest loop that each block is in, if it is in one."""
    loops = find_loops([block.successors for block in blocks])
    found: dict[int, int] = {}
    for header in sorted(loops, key=lambda one: -len(loops[one])):
        found.update(dict.fromkeys(loops[header], header))
    return found
