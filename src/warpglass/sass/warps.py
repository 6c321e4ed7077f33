"""How many warps ran each block of the machine code, once its threads are known.

Belongs here: nothing but this question. Warps are not conserved, since one that parts is executed on both
sides until its threads meet at a BSYNC. Where warps are together, a block is executed by as many as its PTX
lines were; where they have parted, by one for each group of threads that comes in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

from .conservation import Flow
from .counts import LineCounts
from .evidence import Copies, find_spins
from .graph import LEAVE
from .translate import Translation


def count_warps(
    translation: Translation, counts: LineCounts, copies: Sequence[Copies], threads: Sequence[Fraction]
) -> tuple[Fraction, ...]:
    """Return the warps that ran each block of `translation.graph`."""
    return tuple(_Solver(translation, counts, copies, threads).solve())


class _Solver:
    """Solves for the warps that run each block, once its threads are known."""

    def __init__(
        self,
        translation: Translation,
        counts: LineCounts,
        copies: Sequence[Copies],
        threads: Sequence[Fraction],
    ):
        self.blocks = translation.graph.blocks
        self.headers = translation.graph.headers
        self.counts = counts
        self.threads = threads
        self.spins = find_spins(translation)
        self.by_block: dict[int, list[Copies]] = {}
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
                found[number] = self.counts.partings(end.line) // total[end.line]
        return found

    def solve(self) -> list[Fraction]:
        """The warps of each block.

        Where warps are together, they are as many as of the PTX line, and so they are on each side of a
        branch; threads that have parted come to what follows one group after the other, which only the flow
        tells.
        """
        for number, line in self.spins.items():
            if line in self.counts.rounds:
                self.flow.learn(number, Fraction(self.counts.rounds[line][0]))
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
        return [self.flow.known.get(number, self._by_lines(number)) for number in range(len(self.blocks))]

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
