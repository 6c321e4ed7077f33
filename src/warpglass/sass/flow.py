"""How often each block of the machine code was executed, from counts by PTX line.

Belongs here: nothing but this question. Threads are conserved: what enters a block leaves it. Instructions
that ptxas cannot move across branches tell how many threads ran their block, because they were executed as
often as their PTX line. A line that stands in several blocks was copied: by unrolling, where the trips of the
loop say how often the copies ran, or by duplication of what follows a branch, where the flow of threads does.

Evidence comes in grades; each grade only decides about blocks that better ones and the flow left open.

Warps are not conserved, since one that parts is executed on both sides until its threads meet at a BSYNC. A
block is executed by as many warps as its PTX lines were; one where threads come together from several sides
before they meet, by as many as come in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from .conservation import Flow
from .counts import LineCounts
from .decode import Instruction
from .graph import LEAVE, MachineBlock
from .operations import FLOPS
from .translate import PtxLoop, Translation

_GRADES = _FIXED, _COMPUTED, _MOVABLE = range(3)
_COMPUTE = FLOPS.keys() - {"HFMA2"}  # which also makes constants
# Operations that say nothing about where their line is executed.
_PLACED_ANYWHERE = ("MOV", "UMOV", "LDC", "ULDC", "LDCU", "CS2R", "S2R", "S2UR", "NOP", "BSSY", "BSYNC")


@dataclass(frozen=True, slots=True)
class BlockCount:
    """Executions of one block by threads and by warps."""

    threads: Fraction
    warps: Fraction


@dataclass(frozen=True, slots=True)
class _Copies:
    """Where a line's most telling operation stands: how many times in each block.

    `complete` tells whether a copy is executed whenever the line is: of a branch, unrolling drops some.
    """

    line: int
    grade: int
    blocks: Mapping[int, int]
    complete: bool


def count_blocks(translation: Translation, counts: LineCounts) -> tuple[BlockCount, ...]:
    """Return the executions of each block of `translation.graph`."""
    copies = tuple(_find_copies(translation))
    threads = _Threads(translation, counts, copies).solve()
    return _Warps(translation, counts, copies, threads).solve()


def _find_copies(translation: Translation) -> Iterator[_Copies]:
    by_line: dict[int, list[tuple[int, str, int]]] = {}
    for number, block in enumerate(translation.graph.blocks):
        for item in block.instructions if not block.rare else ():
            grade = _grade(item, block, translation)
            if grade is not None:
                by_line.setdefault(item.line, []).append((grade, item.name, number))
    for line, found in by_line.items():
        if any(name in _COMPUTE for _, name, _ in found):  # a division or root, which has one MUFU
            found = [(_COMPUTED if name == "MUFU" else grade, name, number) for grade, name, number in found]
        best = min(grade for grade, _, _ in found)
        total = Counter(name for grade, name, _ in found if grade == best)
        telling = min(total, key=lambda name: total[name])
        places = Counter(number for grade, name, number in found if (grade, name) == (best, telling))
        yield _Copies(line, best, places, telling not in ("BRA", "EXIT"))


def _grade(item: Instruction, block: MachineBlock, translation: Translation) -> int | None:
    """How much an instruction tells about its block; None if nothing."""
    control = item.operation.control
    if item is block.end and item.conditional and control in ("branch", "exit"):
        return _FIXED if item.line in translation.splits else None
    if item.guard is not None or item.name in _PLACED_ANYWHERE or control in ("branch", "exit", "call"):
        return None
    if item.line in translation.calls:  # moves of parameters, wherever they belong
        return None
    if item.access or control == "barrier" or item.operation.kind == "inter_thread_communication":
        return _FIXED
    return _COMPUTED if item.name in _COMPUTE else _MOVABLE


class _Threads:
    """Solves for the threads that run each block."""

    def __init__(self, translation: Translation, counts: LineCounts, copies: Sequence[_Copies]):
        self.translation = translation
        self.counts = counts
        self.copies = copies
        blocks = translation.graph.blocks
        entries = [number for number, block in enumerate(blocks) if block.entry]
        self.flow = Flow([block.successors for block in blocks], entries)
        self.ptx = _flow_of_ptx(translation, counts)

    def solve(self) -> list[Fraction]:
        """The threads of each block."""
        blocks = self.translation.graph.blocks
        for number, block in enumerate(blocks):
            if block.rare:
                self.flow.learn(number, Fraction(0))
            if block.entry and self.translation.starts[block.function]:
                start = self.translation.starts[block.function]
                self.flow.learn(number, Fraction(self.counts.threads(start)))
        self.flow.propagate()
        self._vote(_FIXED)
        self._enter_loops()
        for grade in _GRADES:
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
            if copies.grade == grade and len(copies.blocks) == 1:
                ((number, count),) = copies.blocks.items()
                threads = Fraction(self.counts.threads(copies.line), count)
                votes.setdefault(number, Counter())[threads] += 1
        for number, found in votes.items():
            threads, most = found.most_common(1)[0]
            if 2 * most > found.total():
                self.flow.learn(number, threads)
        self.flow.propagate()

    def _complete_sums(self, grade: int) -> None:
        """Settle blocks that hold the only copy of a line of which the others are known."""
        for copies in self.copies:
            missing, rest = self._missing(copies)
            if copies.grade == grade and copies.complete and len(missing) == 1 and rest >= 0:
                self.flow.learn(missing[0], rest / copies.blocks[missing[0]])
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

    def _missing(self, copies: _Copies) -> tuple[list[int], Fraction]:
        """The copies that are not settled, and how many threads' executions are left for them."""
        known = self.flow.known
        done = sum(count * known[number] for number, count in copies.blocks.items() if number in known)
        missing = [number for number in copies.blocks if number not in known]
        return missing, self.counts.threads(copies.line) - Fraction(done)

    def _enter_loops(self) -> None:
        """Settle the ways into loops that are one of the PTX's: all that enter that one enter here."""
        telling = [copies for copies in self.copies if copies.grade < _MOVABLE]
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

    def _unroll(self, copies: _Copies, loop: PtxLoop) -> None:
        groups = sorted(self._group(copies), key=lambda group: -group[1])
        if len({size for _, size, _ in groups}) < len(groups):
            return  # not unrolled but duplicated: the flow decides
        rounds = self.counts.threads(loop.header)
        share = Fraction(self.counts.threads(copies.line), rounds) if rounds else Fraction(0)
        left = self._trips(loop, rounds)
        for blocks, size, body in groups:
            done, entered = Fraction(0), 0
            after: Counter[int] = Counter()
            for trips, entries in left.items():
                times = trips // size if body else min(1, trips // size)
                done += entries * times
                entered += entries if times else 0
                after[trips - times * size] += entries
            left = after
            for number in blocks:
                self.flow.learn(number, done * share)
            self._enter(body, entered)

    def _enter(self, body: frozenset[int], threads: int) -> None:
        """Settle the way into a loop, if there is but one."""
        ways = [edge for number in body for edge in self.flow.incoming[number] if edge[0] not in body]
        if len(ways) == 1:
            self.flow.edges.setdefault(ways[0], Fraction(threads))

    def _group(self, copies: _Copies) -> Iterator[tuple[list[int], int, frozenset[int]]]:
        """Copies by the machine loop that runs them: blocks, copies in them, and the loop, empty if none."""
        loops = [body for body in self.translation.graph.loops if not copies.blocks.keys() <= body]
        left = dict(copies.blocks)
        for body in reversed(loops):  # outermost of those that do not hold all copies
            inside = [number for number in left if number in body]
            if inside:
                yield inside, sum(left.pop(number) for number in inside), body
        for number, count in left.items():
            yield [number], count, frozenset()

    def _trips(self, loop: PtxLoop, rounds: int) -> Counter[int]:
        """How many threads' entries of a loop did how many trips."""
        given = self.counts.trips.get(loop.header)
        if given is not None:
            return Counter({trips: threads for trips, (_, threads) in given.items()})
        entries = self._entries(loop)
        if not entries:
            return Counter()
        trips, more = divmod(rounds, entries)
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


class _Warps:
    """Solves for the warps that run each block, once its threads are known."""

    def __init__(
        self,
        translation: Translation,
        counts: LineCounts,
        copies: Sequence[_Copies],
        threads: Sequence[Fraction],
    ):
        self.blocks = translation.graph.blocks
        self.headers = translation.graph.headers
        self.counts = counts
        self.threads = threads
        self.by_block: dict[int, list[_Copies]] = {}
        for found in sorted(copies, key=lambda found: found.grade):
            for number in found.blocks:
                self.by_block.setdefault(number, []).append(found)
        met = [target for block in self.blocks if block.meets for target in block.successors]
        entries = [number for number, block in enumerate(self.blocks) if block.entry]
        successors = [(LEAVE,) if block.meets else block.successors for block in self.blocks]
        self.starts = {*entries, *met} - {LEAVE}
        self.flow = Flow(successors, self.starts, self._parted())

    def _parted(self) -> Mapping[int, int]:
        """How often warps parted at the end of each block: shared out where a branch was copied."""
        found: dict[int, int] = {}
        total: Counter[int] = Counter()
        ends = {number: block.end for number, block in enumerate(self.blocks) if block.end.conditional}
        for number, end in ends.items():
            total[end.line] += 1 if self.threads[number] else 0
        for number, end in ends.items():
            if self.threads[number]:
                found[number] = self.counts.parted.get(end.line, 0) // total[end.line]
        return found

    def solve(self) -> tuple[BlockCount, ...]:
        """Threads and warps of each block.

        Where warps are together, they are as many as of the PTX line, and so they are on each side of a
        branch; threads that have parted come to what follows one group after the other, which only the flow
        tells.
        """
        for number in self.starts | self.headers:
            self.flow.learn(number, self._by_lines(number))
        for number, together in enumerate(self._together()):
            if together:
                self.flow.learn(number, self._by_lines(number))
        self.flow.propagate()
        for number in range(len(self.blocks)):
            if len(self.flow.incoming[number]) == 1 and not self.blocks[number].meets:
                self.flow.learn(number, self._by_lines(number))
                self.flow.propagate()
        return tuple(
            BlockCount(threads, self.flow.known.get(number, self._by_lines(number)))
            for number, threads in enumerate(self.threads)
        )

    def _together(self) -> list[bool]:
        """Whether no threads can have parted since they met."""
        parted = {number for number, times in self.flow.born.items() if times}
        work = [target for number in parted for _, target in self.flow.outgoing[number]]
        apart: set[int] = set()
        while work:
            number = work.pop()
            if number != LEAVE and number not in apart:
                apart.add(number)
                work += [target for _, target in self.flow.outgoing[number]]
        return [number not in apart for number in range(len(self.blocks))]

    def _by_lines(self, number: int) -> Fraction:
        """Warps by the line that fits the block's threads best: as many of them as of the line's."""
        threads = self.threads[number]
        if not threads:
            return Fraction(0)
        exact: list[Fraction] = []
        scaled: list[Fraction] = []
        for found in self.by_block.get(number, ()):
            line = self.counts.threads(found.line)
            if line:
                warps = Fraction(self.counts.warps(found.line), line) * threads
                (exact if line == threads * found.blocks[number] else scaled).append(warps)
        return next(iter(exact or scaled), threads / 32)
