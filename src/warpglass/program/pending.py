"""Where the other lanes of a warp may be waiting while some of its lanes run a block.

A warp whose lanes part at a branch runs the lowest-numbered block that has lanes first; the others wait, at
the start of the blocks they came to. Pend(B) is the set of blocks where lanes may wait while B runs. It
decides two things: a write in B must leave waiting lanes' values alone only if the register is live into a
block of Pend(B) (else nobody will ever read those lanes), and where Pend(B) is empty B runs with every lane
of the warp that has not exited.

A barrier that is reached while lanes wait elsewhere parks its lanes until the block releases the barrier;
kernels with such a barrier are treated as if any resume point could have waiting lanes at any time.

A warp barrier (warp_barriers.py) parks its lanes in front of itself if lanes of their mask are elsewhere.
They may stand there while anything runs that can be reached from where the others are. The last to come, or
to exit, releases them all.

In a fair loop (fairness.py) lanes take turns: a backward jump lets the next block in cyclic order run, so
lanes may wait at the loop's header while others run anything that can be reached from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .blocks import Barrier, Block, Exit, WarpBarrier


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
    gates: tuple[int, ...] = ()


def find_pending(
    blocks: tuple[Block, ...],
    divergent: tuple[bool, ...],
    fair: frozenset[int] = frozenset(),
    steady: frozenset[int] = frozenset(),
) -> Pending:
    """Pend of every block.

    `divergent[b]` says whether block b's branch may split a warp; `fair` are the headers of fair loops;
    `steady` are warp barriers that are given the same mask whenever they are reached.
    """
    resumes = tuple(sorted({block.end.resume for block in blocks if isinstance(block.end, Barrier)}))
    gates = [index for index, block in enumerate(blocks) if isinstance(block.end, WarpBarrier)]
    parked = [frozenset[int]() for _ in blocks]
    for header in fair:
        for index in _reachable(blocks, {header}):
            parked[index] |= {header}
    while True:
        sets = _propagate(blocks, divergent, fair, parked)
        more = list(parked)
        divergent_barrier = any(isinstance(block.end, Barrier) and sets[i] for i, block in enumerate(blocks))
        if divergent_barrier:
            more = [one | set(resumes) for one in more]
        for gate in gates:
            if sets[gate]:
                # A new mask may let lanes through while those with another still wait.
                through = set() if gate in steady else set(blocks[gate].successors)
                for index in _reachable(blocks, sets[gate] | through):
                    more[index] |= {gate}
        if more == parked:
            waited = tuple(gate for gate in gates if sets[gate])
            return Pending(tuple(sets), divergent_barrier, resumes, fair, waited)
        parked = more


def _reachable(blocks: tuple[Block, ...], starts: Iterable[int]) -> set[int]:
    found = set(starts)
    work = list(found)
    while work:
        for target in blocks[work.pop()].successors:
            if target not in found:
                found.add(target)
                work.append(target)
    return found


class _Schedule:
    """Follows every choice of the schedule to a fixpoint.

    Sets of blocks are integers here, a bit for each block. `parked[b]` are blocks where lanes may stand at
    any time while b runs: at a barrier, or at the header of a fair loop.
    """

    def __init__(self, blocks: tuple[Block, ...], parked: list[frozenset[int]]):
        self.parked = [_bits(one) for one in parked]
        self.sets = list(self.parked)
        self.work: list[int] = []
        self._staying = [0 if block.only_exits else 1 << index for index, block in enumerate(blocks)]
        self._seen = [False] * len(blocks)

    def visit(self, block: int, others: int) -> None:
        """A block may run while lanes wait at others."""
        others = (others | self.parked[block]) & ~(1 << block)
        if not self._seen[block] or others & ~self.sets[block]:
            self._seen[block] = True
            self.sets[block] |= others
            self.work.append(block)

    def go_on(self, heading: int, waiting: int) -> None:
        """Lanes go to targets: the lowest block that has lanes runs next."""
        everyone = waiting | heading
        rest = everyone & ((heading & -heading) * 2 - 1) if heading else everyone
        while rest:
            lowest = rest & -rest
            rest ^= lowest
            self.visit(lowest.bit_length() - 1, everyone & -(lowest * 2))

    def take_turns(self, heading: int, waiting: int) -> None:
        """Lanes jump back in a fair loop: any block that has lanes may run next."""
        everyone = waiting | heading
        for block in _members(everyone):
            self.visit(block, everyone)

    def targets(self, blocks: Iterable[int]) -> int:
        """Those where lanes stay: the others only exit."""
        found = 0
        for block in blocks:
            found |= self._staying[block]
        return found


def _bits(blocks: Iterable[int]) -> int:
    found = 0
    for block in blocks:
        found |= 1 << block
    return found


def _members(bits: int) -> Iterator[int]:
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _propagate(
    blocks: tuple[Block, ...],
    divergent: tuple[bool, ...],
    fair: frozenset[int],
    parked: list[frozenset[int]],
) -> list[frozenset[int]]:
    schedule = _Schedule(blocks, parked)
    schedule.go_on(schedule.targets((0,)), 0)
    behind = {
        index: _bits(block.successors)
        for index, block in enumerate(blocks)
        if isinstance(block.end, WarpBarrier)
    }
    for points in set(parked):
        for point in points - behind.keys():
            schedule.visit(point, _bits(points))
    while schedule.work:
        index = schedule.work.pop()
        successors = blocks[index].successors
        waiting, heading = schedule.sets[index], schedule.targets(successors)
        if any(target in fair and target <= index for target in successors):
            schedule.take_turns(heading, waiting)
        if blocks[index].splits is None:
            schedule.go_on(heading, waiting)
            if index in behind and waiting:  # the lanes stay, or release others that do
                released = heading
                for gate in _members(waiting):
                    released |= behind.get(gate, 0)
                schedule.go_on(0, waiting | released)
            continue
        for target in successors:
            schedule.go_on(schedule.targets((target,)), waiting)
        while divergent[index] and heading:  # any of the targets may be the lowest that gets lanes
            schedule.go_on(heading, waiting)
            heading &= heading - 1
    return [frozenset(_members(one)) for one in schedule.sets]


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
