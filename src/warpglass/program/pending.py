"""Where the other lanes of a warp may be waiting while some of its lanes run a block.

A warp whose lanes part at a branch runs the lowest-numbered block that has lanes first; the others wait, at
the start of the blocks they came to. Pend(B) is the set of blocks where lanes may wait while B runs. It
decides two things: a write in B must leave waiting lanes' values alone only if the register is live into a
block of Pend(B) (else nobody will ever read those lanes), and where Pend(B) is empty B runs with every lane
of the warp that has not exited.

A barrier that is reached while lanes wait elsewhere parks its lanes until the block releases the barrier;
kernels with such a barrier are treated as if any resume point could have waiting lanes at any time.
"""

from __future__ import annotations

from dataclasses import dataclass

from .blocks import Barrier, Block, Branch, Exit


@dataclass(frozen=True, slots=True)
class Pending:
    """The result: Pend of each block, and the resume points of barriers that divergent lanes may reach.

    `resumes` lists the resume points at which lanes may wait together after a release (one warp can only
    wait at several points if `divergent_barrier`).
    """

    sets: tuple[frozenset[int], ...]
    divergent_barrier: bool
    resumes: tuple[int, ...]


def find_pending(blocks: tuple[Block, ...], divergent: tuple[bool, ...]) -> Pending:
    """Pend of every block; `divergent[b]` says whether block b's branch may split a warp."""
    resumes = tuple(sorted({block.end.resume for block in blocks if isinstance(block.end, Barrier)}))
    sets = _propagate(blocks, divergent, frozenset())
    parked = any(isinstance(block.end, Barrier) and sets[i] for i, block in enumerate(blocks))
    if parked:
        sets = _propagate(blocks, divergent, frozenset(resumes))
    return Pending(tuple(map(frozenset, sets)), parked, resumes)


def _propagate(
    blocks: tuple[Block, ...], divergent: tuple[bool, ...], parked: frozenset[int]
) -> list[set[int]]:
    """Follow every choice of the lowest-first schedule to a fixpoint.

    `parked` are blocks where lanes may stand at a barrier at any time: they are in every set.
    """
    sets: list[set[int]] = [set(parked) for _ in blocks]
    seen: set[int] = set()
    work: list[int] = []

    def reach(targets: tuple[int, ...], waiting: set[int]) -> None:
        heading = {target for target in targets if not blocks[target].only_exits}
        everyone = waiting | heading
        highest = min(heading) if heading else None
        for block in sorted(everyone):
            if highest is not None and block > highest:
                break
            later = {other for other in everyone if other > block} | parked
            later.discard(block)
            if block not in seen or not later <= sets[block]:
                seen.add(block)
                sets[block] |= later
                work.append(block)

    reach((0,), set())
    for point in parked:
        reach(tuple(parked), set())
        work.append(point)
    while work:
        index = work.pop()
        end = blocks[index].end
        waiting = sets[index]
        if isinstance(end, Branch):
            reach((end.taken,), waiting)
            reach((end.other,), waiting)
            if divergent[index]:
                reach((end.taken, end.other), waiting)
        else:
            reach(blocks[index].successors, waiting)
    return sets


def find_full(blocks: tuple[Block, ...], divergent: tuple[bool, ...], pending: Pending) -> tuple[bool, ...]:
    """Blocks that run with every lane that the warp started with: none waits elsewhere, none has exited."""
    exited = [False] * len(blocks)
    changed = True
    while changed:
        changed = False
        for index, block in enumerate(blocks):
            # A block that only exits is never entered: lanes sent there leave at the end of this one.
            ends = isinstance(block.end, Exit) or any(
                blocks[target].only_exits for target in block.successors
            )
            leaves = exited[index] or (ends and (divergent[index] or bool(pending.sets[index])))
            if leaves:
                for target in (*block.successors, *pending.sets[index]):
                    if not exited[target]:
                        exited[target] = changed = True
    return tuple(not gone and not waiting for gone, waiting in zip(exited, pending.sets, strict=True))
