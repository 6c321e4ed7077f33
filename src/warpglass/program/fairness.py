"""Loops that wait for another thread: spin locks, flags, look-back over earlier blocks, grid barriers.

Lanes always run lowest block first, which starves a lane that has left such a loop with the lock in its hand
while others spin in it. So loops in which a branch depends on what an atomic or volatile access returned are
found here and treated fairly: their lanes take turns with all others of the warp on the backward jump, and
after a number of turns the warp lets the other warps run.

A loop that looks at one and the same place outside of shared memory until somebody changes it may wait for a
thread of a block that has not even begun, as in grid barriers made by hand. A loop that makes its own way,
such as a compare-and-swap that is tried again with what it has returned, does not.
"""

from __future__ import annotations

from .blocks import Block, computed_from, loops_of


def find_fair(blocks: tuple[Block, ...]) -> frozenset[int]:
    """The headers of loops that may wait for other threads."""
    loops = loops_of(blocks)
    return frozenset(header for header, body in loops.items() if _waits([blocks[index] for index in body]))


def find_block_waits(blocks: tuple[Block, ...], live: tuple[frozenset[str], ...]) -> frozenset[int]:
    """The headers of loops that may wait for threads of other blocks of the grid; `live` is Program's."""
    loops = loops_of(blocks)
    return frozenset(
        header for header, body in loops.items() if _waits([blocks[index] for index in body], live[header])
    )


def find_cluster_waits(blocks: tuple[Block, ...]) -> frozenset[int]:
    """The headers of loops that wait for the barrier of the cluster."""
    return frozenset(
        header
        for header, body in loops_of(blocks).items()
        if any(step.match.row.operation == "cluster wait" for index in body for step in blocks[index].steps)
        and len(body) == 1
    )


def _waits(body: list[Block], carried: frozenset[str] | None = None) -> bool:
    """Whether a branch in a loop depends on the result of an access that other threads may change.

    With the registers that its turns begin with, only accesses count that all its turns make at the same
    place and with the same operands, and not those of shared memory.
    """
    steps = [step for block in body for step in block.steps]
    polls = [step for step in steps if step.match.row.waits]
    if carried is not None and polls:
        written = {name for step in steps for name in step.writes}
        answers = {name for step in polls for name in step.writes}
        changing = computed_from(steps, written & carried | answers)
        polls = [s for s in polls if s.match.state_space != "shared" and changing.isdisjoint(s.reads)]
    told = computed_from(steps, {name for step in polls for name in step.writes})
    return any(block.splits in told for block in body)
