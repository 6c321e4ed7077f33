"""Which registers are live where, and which are dirty at a barrier."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .blocks import Barrier, Block


def find_liveness(blocks: tuple[Block, ...]) -> tuple[frozenset[str], ...]:
    """The registers whose value each block may read before writing it, itself or in a later block."""
    return flow_backward(blocks, [block.successors for block in blocks])


def flow_backward(
    blocks: tuple[Block, ...], successors: Sequence[tuple[int, ...]]
) -> tuple[frozenset[str], ...]:
    """The same, with what "later" means given as each block's successors.

    A guarded write keeps the old value where the guard fails, so it counts as a read.
    """
    names, bit = _bits(blocks)
    uses: list[int] = []
    kills: list[int] = []
    for block in blocks:
        used = killed = 0
        for step in block.steps:
            used |= _mask(step.reads, bit) & ~killed
            written = _mask(step.writes, bit)
            if step.instruction.guard:
                used |= written & ~killed
            else:
                killed |= written
        uses.append(used | _mask(block.read_at_end, bit) & ~killed)
        kills.append(killed)
    live = [0] * len(blocks)
    changed = True
    while changed:
        changed = False
        for index in range(len(blocks) - 1, -1, -1):
            out = 0
            for target in successors[index]:
                out |= live[target]
            into = uses[index] | (out & ~kills[index])
            if into != live[index]:
                live[index] = into
                changed = True
    return tuple(frozenset(_names(value, names)) for value in live)


def find_dirty(blocks: tuple[Block, ...]) -> tuple[frozenset[str], ...]:
    """The registers that may have been written, by each block's barrier, since the warp was last resumed.

    Only these need saving there: the others still stand in the warp's frame as they were loaded. Blocks that
    end otherwise have none.
    """
    if not any(isinstance(block.end, Barrier) for block in blocks):
        return tuple(frozenset[str]() for _ in blocks)
    names, bit = _bits(blocks)
    written = [0] * len(blocks)
    for index, block in enumerate(blocks):
        for step in block.steps:
            written[index] |= _mask(step.writes, bit)
    into = [0] * len(blocks)
    changed = True
    while changed:
        changed = False
        for index, block in enumerate(blocks):
            if isinstance(block.end, Barrier):
                continue
            out = into[index] | written[index]
            for target in block.successors:
                if out & ~into[target]:
                    into[target] |= out
                    changed = True
    return tuple(
        frozenset(_names(into[index] | written[index], names) if isinstance(block.end, Barrier) else ())
        for index, block in enumerate(blocks)
    )


def _bits(blocks: tuple[Block, ...]) -> tuple[list[str], dict[str, int]]:
    names: dict[str, None] = {}
    for block in blocks:
        for step in block.steps:
            names.update(dict.fromkeys((*step.reads, *step.writes)))
        names.update(dict.fromkeys(block.read_at_end))
    ordered = list(names)
    return ordered, {name: 1 << position for position, name in enumerate(ordered)}


def _mask(registers: Iterable[str], bit: dict[str, int]) -> int:
    mask = 0
    for register in registers:
        mask |= bit[register]
    return mask


def _names(mask: int, names: list[str]) -> Iterable[str]:
    text = f"{mask:b}"[::-1]  # bit by bit, a long mask would be copied each time
    position = text.find("1")
    while position >= 0:
        yield names[position]
        position = text.find("1", position + 1)
