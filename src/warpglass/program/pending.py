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

Sets of blocks are integers here, a bit for each block. The result can have a member for every pair of blocks,
so the search for it handles a pair once: what a block's lanes do next is followed again only for the blocks
that were found to wait since.

Where lanes take turns or are parked in front of gates, nearly every pair is found in the end. Long programs
of that kind (decoupled look-back) are not searched: lanes that have parted may be anywhere that leads to. The
same is said where a search turns out to be too long, as in rows of thousands of tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import and_, or_

from .blocks import Barrier, Block, Exit, WarpBarrier
from .flow_graph import post_order

# Blocks up to which the schedules of a program with fair loops or gates are followed.
_MOST_FOLLOWED = 300
# Blocks that a search comes to, again and again, until it is given up: about half a second.
_MOST_STEPS = 500_000


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
    *,
    roughly: bool = False,
) -> Pending:
    """Pend of every block.

    `divergent[b]` says whether block b's branch may split a warp; `fair` are the headers of fair loops;
    `steady` are warp barriers that are given the same mask whenever they are reached; `roughly` says that no
    schedules of a long program need be followed.
    """
    resumes = tuple(sorted({block.end.resume for block in blocks if isinstance(block.end, Barrier)}))
    resuming = _bits(resumes)
    barriers = [index for index, block in enumerate(blocks) if isinstance(block.end, Barrier)]
    gates = [index for index, block in enumerate(blocks) if isinstance(block.end, WarpBarrier)]
    after = [_bits(block.successors) for block in blocks]
    reached = _reachable(after)
    apart = _united(reached, reduce(or_, (after[i] for i, splits in enumerate(divergent) if splits), 0))
    if len(blocks) > _MOST_FOLLOWED and (roughly or fair or gates):
        return _anywhere(blocks, apart, resumes, fair, gates)
    parked = [0] * len(blocks)
    for header in fair:
        for index in _members(reached[header]):
            parked[index] |= 1 << header
    while True:
        sets = _Schedule(blocks, divergent, fair, parked).follow()
        if sets is None:
            return _anywhere(blocks, apart, resumes, fair, gates)
        more = list(parked)
        divergent_barrier = any(sets[index] for index in barriers)
        if divergent_barrier:
            more = [one | resuming for one in more]
        for gate in gates:
            if sets[gate]:
                # A new mask may let lanes through while those with another still wait.
                through = 0 if gate in steady else after[gate]
                for index in _members(_united(reached, sets[gate] | through)):
                    more[index] |= 1 << gate
        if more == parked:
            waited = tuple(gate for gate in gates if sets[gate])
            named = {one: frozenset(_members(one)) for one in set(sets)}
            return Pending(tuple(named[one] for one in sets), divergent_barrier, resumes, fair, waited)
        parked = more


def read_elsewhere(pending: Pending, live: tuple[frozenset[str], ...]) -> tuple[frozenset[str], ...]:
    """Of each block, the registers that lanes will read that may wait elsewhere; `live` is Program's."""
    found: dict[frozenset[int], frozenset[str]] = {}
    for waiting in pending.sets:
        if waiting not in found:
            found[waiting] = frozenset().union(*(live[block] for block in waiting))
    return tuple(found[waiting] for waiting in pending.sets)


def _anywhere(
    blocks: tuple[Block, ...], apart: int, resumes: tuple[int, ...], fair: frozenset[int], gates: list[int]
) -> Pending:
    """The result if lanes may wait in all of the blocks `apart` while any of these runs."""
    where = frozenset(index for index in _members(apart) if not blocks[index].only_exits)
    sets = tuple(where if apart >> index & 1 else frozenset[int]() for index in range(len(blocks)))
    parting = any(isinstance(blocks[index].end, Barrier) for index in where)
    return Pending(sets, parting, resumes, fair, tuple(gate for gate in gates if gate in where))


def _reachable(after: list[int]) -> list[int]:
    """Of each block, those that can be reached from it, itself included, given its successors."""
    reached = [1 << index | successors for index, successors in enumerate(after)]
    changed = True
    while changed:
        changed = False
        for index in reversed(range(len(after))):  # most successors have higher numbers
            more = reached[index]
            for target in _members(after[index]):
                more |= reached[target]
            changed |= more != reached[index]
            reached[index] = more
    return reached


def _united(reached: list[int], starts: int) -> int:
    """What can be reached from any of the blocks."""
    found = 0
    while starts:
        found |= reached[(starts & -starts).bit_length() - 1]
        starts &= ~found
    return found


@dataclass(slots=True)
class _Move:
    """One way to go on from a block: some of its lanes go to `heading`, the others wait on.

    Of all blocks that then have lanes, those of `candidates` may run next, while lanes wait in the later ones
    (in all, if they take turns). `done` are the blocks with lanes for which this has been followed.
    """

    heading: int
    candidates: int
    turns: bool = False
    done: int = 0
    closed: int = 0  # at a warp barrier: those that do not release their lanes yet, as no lanes wait there


class _Schedule:
    """Follows every choice of the schedule to a fixpoint.

    `parked[b]` are blocks where lanes may stand at any time while b runs: at a barrier, or at the header of
    a fair loop. Of each block, `sets` has those where lanes may wait while it runs, and `_runs` those that
    may run while lanes wait there, with itself. Of the blocks of `_together`, the most that were found, each
    has been visited while lanes wait at those after it, so a move that comes to them says nothing new.
    """

    def __init__(
        self,
        blocks: tuple[Block, ...],
        divergent: tuple[bool, ...],
        fair: frozenset[int],
        parked: list[int],
    ):
        self.sets = list(parked)
        self._staying = [0 if block.only_exits else 1 << index for index, block in enumerate(blocks)]
        self._behind = {
            index: _bits(block.successors)
            for index, block in enumerate(blocks)
            if isinstance(block.end, WarpBarrier)
        }
        self._gates = _bits(self._behind)
        self._runs = [1 << index for index in range(len(blocks))]
        self._seen = [False] * len(blocks)
        self._work = 0
        self._steps = 0
        self._park(parked)
        self._moves = [
            list(self._moves_of(index, block, divergent[index], fair)) for index, block in enumerate(blocks)
        ]
        self._follow_move(_go_on(self._targets((0,))), 0)

    def _park(self, parked: list[int]) -> None:
        alike: dict[int, int] = {}
        for index, points in enumerate(parked):
            alike[points] = alike.get(points, 0) | 1 << index
        for points, where in alike.items():
            for point in _members(points):
                self._runs[point] |= where
        for points in alike:
            for point in _members(points & ~self._gates):
                self._visit(point, points)
        self._together = reduce(and_, parked) & ~self._gates

    def _moves_of(self, index: int, block: Block, divergent: bool, fair: frozenset[int]) -> Iterator[_Move]:
        heading = self._targets(block.successors)
        if any(target in fair and target <= index for target in block.successors):
            yield _Move(heading, -1, turns=True)
        if block.splits is None:
            yield _go_on(heading)
            if index in self._behind:
                yield _Move(heading, -1, closed=self._gates)
            return
        for choice in {self._staying[target] for target in block.successors}:
            yield _go_on(choice)
        while divergent and heading:  # any of the targets may be the lowest that gets lanes
            yield _go_on(heading)
            heading &= heading - 1

    def follow(self) -> list[int] | None:
        """The blocks where lanes may wait while each block runs, or None if that takes too long."""
        index = 0
        while self._work:
            if self._steps > _MOST_STEPS:
                return None
            # Upwards again and again: much is then found between two turns of a block.
            ahead = self._work >> index << index or self._work
            index = (ahead & -ahead).bit_length() - 1
            self._work ^= 1 << index
            for move in self._moves[index]:
                self._follow_move(move, self.sets[index])
        return self.sets

    def _follow_move(self, move: _Move, waiting: int) -> None:
        """Visit what may run next, as far as it has not been for the blocks that have had lanes before."""
        if move.closed:
            if not waiting:
                return
            for gate in _members(waiting & move.closed):
                move.heading |= self._behind[gate]
            move.closed &= ~waiting
        everyone = waiting | move.heading
        done, known = move.done, everyone & self._together
        if known.bit_count() > done.bit_count() and not move.turns:
            done = known
        move.done = everyone
        fresh, before = everyone & ~done, done & move.candidates
        self._steps += fresh.bit_count()
        for block in _members(fresh & move.candidates):
            self._visit(block, everyone if move.turns else everyone & (-2 << block))
        for block in _members(fresh):
            earlier = before if move.turns else before & ((1 << block) - 1)
            for other in _members(earlier & ~self._runs[block]):
                self._visit(other, 1 << block)
        together = everyone & move.candidates
        if together.bit_count() > self._together.bit_count():
            self._together = together

    def _visit(self, block: int, others: int) -> None:
        """A block may run while lanes wait at others."""
        others &= ~(self.sets[block] | 1 << block)
        if others or not self._seen[block]:
            self._seen[block] = True
            self.sets[block] |= others
            for other in _members(others):
                self._runs[other] |= 1 << block
            self._work |= 1 << block

    def _targets(self, blocks: Iterable[int]) -> int:
        """Those where lanes stay: the others only exit."""
        return reduce(or_, (self._staying[block] for block in blocks), 0)


def _go_on(heading: int) -> _Move:
    """Lanes go to targets: the lowest block that has lanes runs next."""
    return _Move(heading, (heading & -heading) * 2 - 1 if heading else -1)


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


def find_full(blocks: tuple[Block, ...], divergent: tuple[bool, ...], pending: Pending) -> tuple[bool, ...]:
    """Blocks that run with every lane that the warp started with: none waits elsewhere, none has exited.

    What nothing leads to, as after branches have become selections, is none of them.
    """
    reached = set(post_order([block.successors for block in blocks], 0))
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
    return tuple(
        index in reached and not exited[index] and not pending.sets[index] for index in range(len(blocks))
    )
