"""Gives every instruction with a member mask a place in front of it where lanes can wait for each other.

shfl.sync, vote.sync, match.sync, redux.sync, elect.sync and bar.warp.sync begin once all lanes that their
mask names have come, or have exited. Where a warp's lanes are never apart at such an instruction there is
nothing to wait for, and it stays a plain step. In other kernels each of them is cut out: there is a block of
its own that ends in a WarpBarrier, where its lanes stand while they wait, and the next begins with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from .. import isa
from .blocks import Block, Branch, Jump, Terminator, WarpBarrier, retarget
from .decode import Step, make_step
from .fairness import find_fair
from .pending import find_pending


def place_warp_barriers(blocks: tuple[Block, ...], types: Mapping[str, str]) -> tuple[Block, ...]:
    """Cut out the instructions with a member mask if one of them may find a warp's lanes apart.

    `types` are the registers'.
    """
    if not any(_together(step) for block in blocks for step in block.steps):
        return blocks
    divergent = tuple(block.splits is not None for block in blocks)
    pending = find_pending(blocks, divergent, find_fair(blocks, types))
    apart = any(
        _together(step) and (waiting or step.instruction.guard)
        for block, waiting in zip(blocks, pending.sets, strict=True)
        for step in block.steps
    )
    return _cut_out(blocks) if apart else blocks


def _together(step: Step) -> bool:
    return step.match.member_mask is not None


def _cut_out(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The pieces of every block in place of it, in the same order."""
    cut: list[list[Block]] = []
    first: dict[int, int] = {}  # old number -> number of its first piece
    count = 0
    for index, block in enumerate(blocks):
        first[index] = count
        cut.append(list(_pieces(block, count)))
        count += len(cut[-1])
    # Of each block the last piece ends as it did, with the old numbers.
    return tuple(
        replace(piece, end=retarget(piece.end, first)) if piece is pieces[-1] else piece
        for pieces in cut
        for piece in pieces
    )


def _pieces(block: Block, number: int) -> Iterator[Block]:
    """A block's pieces, the first of which gets a number."""
    steps: list[Step] = []
    for step in block.steps:
        if not _together(step):
            steps.append(step)
            continue
        guard = step.instruction.guard
        gate = number + bool(steps or guard)
        if guard:
            end: Terminator = Branch(step, guard.register, guard.negated, gate, gate + 2)
            yield Block(tuple(steps), end)
            step = _unguarded(step)
        elif steps:
            yield Block(tuple(steps), Jump(gate))
        yield Block((), WarpBarrier(step, gate + 1))
        number, steps = gate + 1, [step]
        if guard:
            yield Block((step,), Jump(gate + 2))
            number, steps = gate + 2, []
    yield Block(tuple(steps), block.end)


def _unguarded(step: Step) -> Step:
    found = step.match
    return make_step(step.number, isa.Match(found.row, replace(found.instruction, guard=None), found.values))
