"""Where the other lanes of a warp may be waiting while some of its lanes run a block.

A warp whose lanes part at a branch runs the lowest-numbered block that has lanes first; the others wait, at
the start of the blocks they came to. Pend(B) is the set of blocks where lanes may wait while B runs. It
decides two things: a write in B must leave waiting lanes' values alone only if the register is live into a
block of Pend(B) (else nobody will ever read those lanes), and where Pend(B) is empty B runs with every lane
of the warp that has not exited.

A barrier that is reached while lanes wait elsewhere parks its lanes until the block releases the barrier;
kernels with such a barrier are treated as if any resume point could have waiting lanes at any time.

In a fair loop (fairness.py) lanes take turns: a backward jump lets the next block in cyclic order run, so
lanes may wait at the loop's header while others run anything that can be reached from it.
"""

from __future__ import annotations

from dataclasses import dataclass

from .blocks import Barrier, Block, Exit


@dataclass(frozen=True, slots=True)
class Pending:
    """The result: Pend of each block, and the resume points of barriers that divergent lanes may reach.

    `resumes` lists the resume points at which lanes may wait together after a release (one warp can only
    wait at several points if `divergent_barrier`).
    """

    sets: tuple[frozenset[int], ...]
    divergent_barrier: bool
    resumes: tuple[int, ...]
    fair: frozenset[int] = frozenset()  # headers of fair loops


def find_pending(
    blocks: tuple[Block, ...], divergent: tuple[bool, ...], fair: frozenset[int] = frozenset()
) -> Pending:
    """Pend of every block.

    `divergent[b]` says whether block b's branch may split a warp; `fair` are the headers of fair loops.
    """
    resumes = tuple(sorted({block.end.resume for block in blocks if isinstance(block.end, Barrier)}))
    parked = [frozenset[int]() for _ in blocks]
    for header in fair:
        for index in _reachable(blocks, header):
            parked[index] |= {header}
    sets = _propagate(blocks, divergent, fair, parked)
    divergent_barrier = any(isinstance(block.end, Barrier) and sets[i] for i, block in enumerate(blocks))
    if divergent_barrier:
        sets = _propagate(blocks, divergent, fair, [one | set(resumes) for one in parked])
    return Pending(tuple(map(frozenset, sets)), divergent_barrier, resumes, fair)


def _reachable(blocks: tuple[Block, ...], start: int) -> set[int]:
    found = {start}
    work = [start]
    while work:
        for target in blocks[work.pop()].successors:
            if target not in found:
                found.add(target)
                work.append(target)
    return found


class _Schedule:
    """Follows every choice of the schedule to a fixpoint.

    `parked[b]` are blocks where lanes may stand at any time while b runs: at a barrier, or at the header of
    a fair loop.
    """

    def __init__(self, blocks: tuple[Block, ...], parked: list[frozenset[int]]):
        self.blocks = blocks
        self.parked = parked
        self.sets: list[set[int]] = [set(one) for one in parked]
        self.work: list[int] = []
        self._seen: set[int] = set()

    def visit(self, block: int, others: set[int]) -> None:
        """A block may run while lanes wait at others."""
        others |= self.parked[block]
        others.discard(block)
        if block not in self._seen or not others <= self.sets[block]:
            self._seen.add(block)
            self.sets[block] |= others
            self.work.append(block)

    def go_on(self, targets: tuple[int, ...], waiting: set[int]) -> None:
        """Lanes go to targets: the lowest block that has lanes runs next."""
        heading = self._staying(targets)
        everyone = waiting | heading
        for block in sorted(everyone):
            if heading and block > min(heading):
                break
            self.visit(block, {other for other in everyone if other > block})

    def take_turns(self, targets: tuple[int, ...], waiting: set[int]) -> None:
        """Lanes jump back in a fair loop: any block that has lanes may run next."""
        everyone = waiting | self._staying(targets)
        for block in everyone:
            self.visit(block, everyone - {block})

    def _staying(self, targets: tuple[int, ...]) -> set[int]:
        return {target for target in targets if not self.blocks[target].only_exits}


def _propagate(
    blocks: tuple[Block, ...],
    divergent: tuple[bool, ...],
    fair: frozenset[int],
    parked: list[frozenset[int]],
) -> list[set[int]]:
    schedule = _Schedule(blocks, parked)
    schedule.go_on((0,), set())
    for points in set(parked):
        for point in points:
            schedule.visit(point, set(points))
    while schedule.work:
        index = schedule.work.pop()
        successors = blocks[index].successors
        waiting = schedule.sets[index]
        if any(target in fair and target <= index for target in successors):
            schedule.take_turns(successors, waiting)
        if blocks[index].splits is None:
            schedule.go_on(successors, waiting)
            continue
        for target in successors:
            schedule.go_on((target,), waiting)
        if divergent[index]:  # any of the targets may be the lowest that gets lanes
            ordered = sorted(successors)
            for first in range(len(ordered)):
                schedule.go_on(tuple(ordered[first:]), waiting)
    return schedule.sets


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
