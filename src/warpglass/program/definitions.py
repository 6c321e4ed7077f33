"""Reaching definitions: the steps whose results may stand in a register where it is read.

Compilers keep several values in one register, such as an index in front of a loop and what the loop computes
of it. What is said of a register by its name holds for all of them, what is said of a definition does not. A
definition is the place of a step that writes the register. A guarded one hides none before it, since threads
may keep what they had. One that is a register's only one counts everywhere: elsewhere nothing is in it yet.
Lanes that exchange registers are at one step, which the same definitions reach.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from .blocks import Block
from .liveness import flow_forward

# A block and the position of a step in it; the end of a block is behind its last step.
Place = tuple[int, int]


class Definitions:
    """The definitions that reach each read of a program's registers."""

    def __init__(self, blocks: Sequence[Block]):
        places: dict[str, dict[Place, None]] = {}
        for index, block in enumerate(blocks):
            for position, step in enumerate(block.steps):
                for name in step.writes:
                    places.setdefault(name, {})[index, position] = None
        self._all = {name: tuple(found) for name, found in places.items()}
        self._reaching = dict(_Several(blocks, self._all).reads())

    def reaching(self, place: Place, name: str) -> tuple[Place, ...]:
        """Those of a register that the step at a place, or the end of a block, reads."""
        return self._reaching.get((place, name), self._all.get(name, ()))


class _Several:
    """The registers that have several definitions: in the sets that flow along, each of these is a bit."""

    def __init__(self, blocks: Sequence[Block], places: Mapping[str, tuple[Place, ...]]):
        self._blocks = blocks
        self._places = {name: found for name, found in places.items() if len(found) > 1}
        self._bits: dict[tuple[Place, str], int] = {}
        self._masks: dict[str, int] = {}
        for name, found in self._places.items():
            self._masks[name] = ((1 << len(found)) - 1) << len(self._bits)
            for place in found:
                self._bits[place, name] = 1 << len(self._bits)

    def reads(self) -> Iterator[tuple[tuple[Place, str], tuple[Place, ...]]]:
        """By place and register, what reaches each read."""
        everything = (1 << len(self._bits)) - 1
        blocks = range(len(self._blocks))
        into = flow_forward(
            self._blocks, [(self._behind_block(k, 0), self._behind_block(k, everything)) for k in blocks]
        )
        for index, block in enumerate(self._blocks):
            reaching = into[index]
            for position, step in enumerate(block.steps):
                place = index, position
                yield from self._read(place, step.reads, reaching)
                reaching = self._behind(place, reaching)
            yield from self._read((index, len(block.steps)), block.read_at_end, reaching)

    def _read(
        self, place: Place, names: frozenset[str], reaching: int
    ) -> Iterator[tuple[tuple[Place, str], tuple[Place, ...]]]:
        for name in names & self._masks.keys():
            yield (place, name), tuple(one for one in self._places[name] if self._bits[one, name] & reaching)

    def _behind(self, place: Place, reaching: int) -> int:
        """What reaches the next step if something reaches the one at a place."""
        step = self._blocks[place[0]].steps[place[1]]
        for name in self._masks.keys() & step.writes:
            hidden = self._masks[name] if step.instruction.guard is None else 0
            reaching = reaching & ~hidden | self._bits[place, name]
        return reaching

    def _behind_block(self, index: int, reaching: int) -> int:
        for position in range(len(self._blocks[index].steps)):
            reaching = self._behind((index, position), reaching)
        return reaching
