"""How many threads ran each block of the machine code.

Belongs here: nothing but this question. Threads are conserved, and evidence tells the rest. A line that
stands in several blocks was copied: by unrolling, where the trips of the loop say how often the copies ran,
or by duplication of what follows a branch, where the flow of threads does. Each grade of evidence only
decides about blocks that better ones and the flow left open.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .conservation import Flow
from .counts import LineCounts
from .evidence import FIXED, GRADES, MOVABLE, WIDE, Copies, find_spins
from .translate import PtxLoop, Translation

_Group = tuple[list[int], int, frozenset[int]]  # blocks, copies in them, and the loop around them


@dataclass(frozen=True, slots=True)
class ThreadCounts:
    """Threads that ran each block, and those that its last branch or exit took, where flow tells."""

    blocks: tuple[Fraction, ...]
    taken: Mapping[int, Fraction]


def count_threads(translation: Translation, counts: LineCounts, copies: Sequence[Copies]) -> ThreadCounts:
    """Return the threads that ran each block of `translation.graph`."""
    solver = _Solver(translation, counts, copies)
    blocks = tuple(solver.solve())
    edges = solver.flow.edges
    ways = [
        (number, target) for number, b in enumerate(translation.graph.blocks) for target in b.successors[:1]
    ]
    taken = {way[0]: edges[way] for way in ways if way in edges}
    return ThreadCounts(blocks, taken)


class _Solver:
    """Solves for the threads that run each block."""

    def __init__(self, translation: Translation, counts: LineCounts, copies: Sequence[Copies]):
        self.translation = translation
        self.counts = counts
        self.copies = copies
        blocks = translation.graph.blocks
        entries = [number for number, block in enumerate(blocks) if block.entry]
        self.flow = Flow([block.successors for block in blocks], entries)
        self.spins = find_spins(translation)
        self.ptx = _flow_of_ptx(translation, counts)

    def solve(self) -> list[Fraction]:
        """The threads of each block."""
        blocks = self.translation.graph.blocks
        for number, block in enumerate(blocks):
            if block.rare:
                self.flow.learn(number, Fraction(0))
            spins = self.counts.rounds.get(self.spins.get(number, 0))
            if spins is not None:
                self.flow.learn(number, Fraction(spins[1]))
            if block.entry and self.translation.starts[block.function]:
                start = self.translation.starts[block.function]
                self.flow.learn(number, Fraction(self.counts.threads(start)))
        self.flow.propagate()
        self._vote(FIXED)
        self._enter_loops()
        self._pass_guards()
        for grade in GRADES:
            self._vote(grade)
            self._follow_trips(grade)
            self._complete_sums(grade)
        self._share_out()
        return [self._threads(number) for number in range(len(blocks))]

    def _threads(self, number: int) -> Fraction:
        """What was found, or else what most of a block's instructions say."""
        lines = Counter(item.line for item in self.translation.graph.blocks[number].instructions)
        (line, _), *_ = lines.most_common(1)
        return self.flow.known.get(number, Fraction(self.counts.threads(line)))

    def _vote(self, grade: int) -> None:
        """Settle blocks by the lines of a grade that stand in no other block."""
        votes: dict[int, Counter[Fraction]] = {}
        for copies in self.copies:
            if copies.grade == grade and len(copies.blocks) == 1 and not self._dropped(copies):
                ((number, count),) = copies.blocks.items()
                threads = Fraction(self.counts.threads(copies.line), count)
                votes.setdefault(number, Counter())[threads] += 1
        for number, found in votes.items():
            threads, most = found.most_common(1)[0]
            if 2 * most > found.total():
                self.flow.learn(number, threads)
        self.flow.propagate()

    def _dropped(self, copies: Copies) -> bool:
        """Whether unrolling dropped copies of a branch: its loop's lines stand beside it several times, or
        what ptxas cannot move stands in other copies of the loop as well.
        """
        if copies.complete:
            return False
        (number,) = copies.blocks
        loop = next((loop for loop in self.translation.loops if copies.line in loop.lines), None)
        return loop is not None and any(
            other.blocks.get(number, 0) > 1 or (other.grade == FIXED and len(other.blocks) > 1)
            for other in self.copies
            if other.complete and other.line in loop.lines and other.grade < WIDE
        )

    def _complete_sums(self, grade: int) -> None:
        """Settle blocks that hold the only copy of a line of which the others are known."""
        for copies in self.copies:
            missing, rest = self._missing(copies)
            if copies.grade == grade and copies.complete and len(missing) == 1 and rest >= 0:
                self.flow.learn(missing[0], rest / copies.blocks[missing[0]])
                self.flow.propagate()

    def _pass_guards(self) -> None:
        """Let nobody take branches of the assembler's own: they guard unrolled loops against no trips."""
        for number, block in enumerate(self.translation.graph.blocks):
            edges = self.flow.outgoing[number]
            own = block.end.operation.control == "branch" and block.end.line not in self.translation.splits
            if own and len(edges) == 2 and self.flow.edges.keys().isdisjoint(edges):
                self.flow.edges[edges[0]] = Fraction(0)
                self.flow.propagate()

    def _share_out(self) -> None:
        """Settle the copies that nothing else tells apart: each was executed equally often."""
        for copies in sorted(self.copies, key=lambda copies: copies.grade):
            missing, rest = self._missing(copies)
            if copies.complete and missing:
                each = max(rest, Fraction(0)) / sum(copies.blocks[number] for number in missing)
                for number in missing:
                    self.flow.learn(number, each)
                self.flow.propagate()

    def _missing(self, copies: Copies) -> tuple[list[int], Fraction]:
        """The copies that are not settled, and how many threads' executions are left for them."""
        known = self.flow.known
        done = sum(count * known[number] for number, count in copies.blocks.items() if number in known)
        missing = [number for number in copies.blocks if number not in known]
        return missing, self.counts.threads(copies.line) - Fraction(done)

    def _enter_loops(self) -> None:
        """Settle the ways into loops that are one of the PTX's: all that enter that one enter here."""
        telling = [copies for copies in self.copies if copies.grade < MOVABLE]
        for body in self.translation.graph.loops:
            found = [copies for copies in telling or self.copies if not body.isdisjoint(copies.blocks)]
            lines = {copies.line for copies in found}
            loop = next((loop for loop in self.translation.loops if lines <= loop.lines), None)
            if found and loop is not None and all(copies.blocks.keys() <= body for copies in found):
                entries = self._entries(loop)
                if entries is not None:
                    self._enter(body, entries)
        self.flow.propagate()

    def _follow_trips(self, grade: int) -> None:
        """Settle the copies that unrolling made: the one that does most trips at once runs first."""
        for copies in self.copies:
            if copies.grade == grade and copies.complete and len(copies.blocks) > 1:
                loop = next((loop for loop in self.translation.loops if copies.line in loop.lines), None)
                if loop is not None:
                    self._unroll(copies, loop)
        self.flow.propagate()

    def _unroll(self, copies: Copies, loop: PtxLoop) -> None:
        trips = self._trips(loop)
        rounds = self.counts.threads(loop.header)
        if trips is None or not rounds:
            return
        share = Fraction(self.counts.threads(copies.line), rounds)
        groups = sorted(self._group(copies), key=lambda group: -group[1])
        if len({size for _, size, _ in groups}) == len(groups):
            self._in_order(groups, trips, share)
        elif loop.header in self.counts.trips and all(size == 1 and not body for _, size, body in groups):
            self._in_turn(sorted(copies.blocks), trips, share)

    def _in_order(self, groups: Sequence[_Group], trips: Counter[int], share: Fraction) -> None:
        """Settle copies of different sizes; what they leave is for the last."""
        for blocks, size, body in groups:
            done, entered = 0, 0
            after: Counter[int] = Counter()
            for left, entries in trips.items():
                times = left // size if body else min(1, left // size)
                done += entries * times
                entered += entries if times else 0
                after[left - times * size] += entries
            trips = after
            for number in blocks if blocks is not groups[-1][0] else ():
                self.flow.learn(number, done * share)
            self._enter(body, entered)

    def _in_turn(self, blocks: Sequence[int], trips: Counter[int], share: Fraction) -> None:
        """Settle copies of one size, each of which may leave the loop: every trip is the next one's."""
        last = len(blocks) - 1
        for place, number in enumerate(blocks):
            done = sum(entries * ((left + last - place) // len(blocks)) for left, entries in trips.items())
            self.flow.learn(number, done * share)

    def _enter(self, body: frozenset[int], threads: int) -> None:
        """Settle the way into a loop, if there is but one left."""
        ways = [edge for number in body for edge in self.flow.incoming[number] if edge[0] not in body]
        left = [edge for edge in ways if edge not in self.flow.edges]
        if len(left) == 1:
            known = sum(self.flow.edges[edge] for edge in ways if edge is not left[0])
            self.flow.edges[left[0]] = max(Fraction(threads) - known, Fraction(0))

    def _group(self, copies: Copies) -> Iterator[_Group]:
        """Copies by the machine loop that runs them: blocks, copies in them, and the loop, empty if none."""
        loops = [body for body in self.translation.graph.loops if not copies.blocks.keys() <= body]
        left = dict(copies.blocks)
        for body in reversed(loops):  # outermost of those that do not hold all copies
            inside = [number for number in left if number in body]
            if inside:
                yield inside, sum(left.pop(number) for number in inside), body
        for number, count in left.items():
            yield [number], count, frozenset()

    def _trips(self, loop: PtxLoop) -> Counter[int] | None:
        """How many threads' entries of a loop did how many trips; None if counts do not tell."""
        given = self.counts.trips.get(loop.header)
        if given is not None:
            return Counter({trips: threads for trips, (_, threads) in given.items()})
        entries = self._entries(loop)
        if not entries:
            return None
        trips, more = divmod(self.counts.threads(loop.header), entries)
        return Counter({trips: entries - more, trips + 1: more})

    def _entries(self, loop: PtxLoop) -> int | None:
        """How many threads entered a loop of the PTX; None if counts do not tell."""
        ways = [edge for edge in self.ptx.incoming[loop.block] if edge[0] not in loop.body]
        if any(edge not in self.ptx.edges for edge in ways):
            return None
        return int(sum(self.ptx.edges[edge] for edge in ways))


def _flow_of_ptx(translation: Translation, counts: LineCounts) -> Flow:
    """The flow between blocks of the PTX, of which counts are known."""
    flow = Flow([block.successors for block in translation.ptx], [0])
    for number, block in enumerate(translation.ptx):
        if block.line:
            flow.learn(number, Fraction(counts.threads(block.line)))
    flow.propagate()
    return flow
