"""Counts what the first warp of each block does: of warps that share work, it seldom has the least."""

from __future__ import annotations

from collections.abc import Sequence

from ...codegen import Emission, Probe, WorkerWords
from ...program import Block, Program, Step, find_instructions


class LeaderProbe(Probe):
    """Two words per block and per predicated step, as those of execution.py, for warp 0 only."""

    def prepare(self, program: Program, words: WorkerWords) -> None:
        self._words = words
        self._blocks = words.take(2 * len(program.blocks))
        self._guards: dict[int, int] = {}  # step number -> first word

    def block(self, at: Emission, index: int, block: Block) -> None:
        self._count(at, self._blocks + 2 * index, "true")

    def guarded(self, at: Emission, step: Step) -> None:
        word = self._guards[step.number] = self._words.take(2)
        self._count(at, word, at.builder.value(f"icmp ne i32 {at.mask}, 0"))

    def _count(self, at: Emission, word: int, someone: str) -> None:
        b = at.builder
        leads = b.value("icmp eq i32 %warp, 0")
        self.add(at, word, b.value(f"zext i1 {b.value(f'and i1 {leads}, {someone}')} to i64"))
        self.add_lanes(at, word + 1, b.value(f"select i1 {leads}, i32 {at.mask}, i32 0"))

    def steps(self, program: Program, words: Sequence[int]) -> dict[int, tuple[int, int]]:
        """By number of a step, how often a block's first warp ran it, and with how many lanes in all."""
        found: dict[int, tuple[int, int]] = {}
        for index, steps in enumerate(find_instructions(program.blocks)):
            own = tuple(words[self._blocks + 2 * index : self._blocks + 2 * index + 2])
            for step in steps:
                word = self._guards.get(step.number)
                lanes = own[1] if word is None else words[word + 1]
                found[step.number] = own[0], lanes
        return found
