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
        several = {name: found for name, found in self._all.items() if len(found) > 1}
        self._reaching = dict(_find_reaching(blocks, several)) if several else {}

    def reaching(self, place: Place, name: str) -> tuple[Place, ...]:
        """Those of a register that the step at a place, or the end of a block, reads."""
        return self._reaching.get((place, name), self._all.get(name, ()))


def _find_reaching(
    blocks: Sequence[Block], several: Mapping[str, tuple[Place, ...]]
) -> Iterator[tuple[tuple[Place, str], tuple[Place, ...]]]:
    """What reaches each read of some registers; in the sets that flow along, each definition is a bit."""
    bits: dict[tuple[Place, str], int] = {}
    masks: dict[str, int] = {}
    for name, places in several.items():
        masks[name] = ((1 << len(places)) - 1) << len(bits)
        for place in places:
            bits[place, name] = 1 << len(bits)

    def behind(place: Place, reaching: int) -> int:
        step = blocks[place[0]].steps[place[1]]
        for name in step.writes:
            if name in masks:
                hidden = masks[name] if step.instruction.guard is None else 0
                reaching = reaching & ~hidden | bits[place, name]
        return reaching

    def behind_block(index: int, reaching: int) -> int:
        for position in range(len(blocks[index].steps)):
            reaching = behind((index, position), reaching)
        return reaching

    everything = (1 << len(bits)) - 1
    transfers = [(behind_block(index, 0), behind_block(index, everything)) for index in range(len(blocks))]
    found: dict[int, tuple[Place, ...]] = {}
    for index, reaching in enumerate(_flow_forward(blocks, transfers)):
        block = blocks[index]
        for position in range(len(block.steps) + 1):
            at_end = position == len(block.steps)
            for name in block.read_at_end if at_end else block.steps[position].reads:
                if name in masks:
                    here = reaching & masks[name]
                    if here not in found:
                        found[here] = tuple(place for place in several[name] if bits[place, name] & here)
                    yield ((index, position), name), found[here]
            if not at_end:
                reaching = behind((index, position), reaching)


def _flow_forward(blocks: Sequence[Block], transfers: Sequence[tuple[int, int]]) -> list[int]:
    """The bits that come to each block: of those that come to one, what it makes of none and of all goes on."""
    into = [0] * len(blocks)
    changed = True
    while changed:
        changed = False
        for index, (made, kept) in enumerate(transfers):
            out = made | into[index] & kept
            for target in blocks[index].successors:
                if out & ~into[target]:
                    into[target] |= out
                    changed = True
    return into
