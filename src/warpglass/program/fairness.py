"""Loops that wait for another thread: spin locks, flags, look-back over earlier blocks, grid barriers.

Lanes always run lowest block first, which starves a lane that has left such a loop with the lock in its hand
while others spin in it. So loops in which a branch depends on what an atomic or volatile access returned are
found here and treated fairly: their lanes take turns with all others of the warp on the backward jump, and
after a number of turns the warp lets the other warps run.
"""

from __future__ import annotations

from .blocks import Block, loops_of


def find_fair(blocks: tuple[Block, ...]) -> frozenset[int]:
    """The headers of loops that may wait for other threads."""
    loops = loops_of(blocks)
    return frozenset(header for header, body in loops.items() if _waits([blocks[index] for index in body]))


def _waits(body: list[Block]) -> bool:
    """Whether a branch in a loop depends on the result of an access that other threads may change."""
    steps = [step for block in body for step in block.steps]
    tainted = {name for step in steps if step.match.row.waits for name in step.writes}
    if not tainted:
        return False
    grown = True
    while grown:
        grown = False
        for step in steps:
            if not tainted.isdisjoint(step.reads) and not tainted.issuperset(step.writes):
                tainted.update(step.writes)
                grown = True
    return any(block.splits in tainted for block in body)
