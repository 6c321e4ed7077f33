"""Which registers are live where, and which are dirty at a barrier."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

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
    exposed = list(map(_exposed, blocks))
    bit = _bits(frozenset().union(*(used for used, _ in exposed)))
    uses = [_mask(used, bit) for used, _ in exposed]
    kills = [_mask(killed, bit) for _, killed in exposed]
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
    return _sets(live, bit)


def _exposed(block: Block) -> tuple[set[str], set[str]]:
    """What a block reads before it writes it, which alone can be live, and what it writes whole."""
    used: set[str] = set()
    killed: set[str] = set()
    for step in block.steps:
        used |= step.reads - killed
        if step.instruction.guard:
            used.update(name for name in step.writes if name not in killed)
        else:
            killed.update(step.writes)
    used |= block.read_at_end - killed
    return used, killed


def find_dirty(blocks: tuple[Block, ...]) -> tuple[frozenset[str], ...]:
    """The registers that may have been written, by each block's barrier, since the warp was last resumed.

    Only these need saving there: the others still stand in the warp's frame as they were loaded. Blocks that
    end otherwise have none.
    """
    if not any(isinstance(block.end, Barrier) for block in blocks):
        return tuple(frozenset[str]() for _ in blocks)
    names = [frozenset(name for step in block.steps for name in step.writes) for block in blocks]
    bit = _bits(frozenset().union(*names))
    written = [_mask(own, bit) for own in names]
    ends = [isinstance(block.end, Barrier) for block in blocks]
    into = flow_forward(
        blocks, [(0, 0) if end else (own, -1) for own, end in zip(written, ends, strict=True)]
    )
    return _sets([(into[k] | written[k]) * ends[k] for k in range(len(blocks))], bit)


def flow_forward(blocks: Sequence[Block], transfers: Sequence[tuple[int, int]]) -> list[int]:
    """The bits that come to each block, given what each makes of none and of all."""
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


def _bits(names: Iterable[str]) -> dict[str, int]:
    return {name: 1 << position for position, name in enumerate(sorted(names))}


def _mask(registers: Iterable[str], bit: Mapping[str, int]) -> int:
    mask = 0
    for register in registers:
        mask |= bit.get(register, 0)
    return mask


def _sets(masks: Sequence[int], bit: Mapping[str, int]) -> tuple[frozenset[str], ...]:
    """The sets of names that masks stand for; equal ones are one object."""
    names = list(bit)
    found = {mask: frozenset(_names(mask, names)) for mask in set(masks)}
    return tuple(found[mask] for mask in masks)


def _names(mask: int, names: Sequence[str]) -> Iterator[str]:
    text = f"{mask:b}"[::-1]  # bit by bit, a long mask would be copied each time
    position = text.find("1")
    while position >= 0:
        yield names[position]
        position = text.find("1", position + 1)
