"""Counts how often each basic block runs, in warps and in threads, and who acts at predicated steps."""

from __future__ import annotations

from collections.abc import Sequence

from ...codegen import Emission, Probe, WorkerWords
from ...program import Block, Program, Step


class ExecutionProbe(Probe):
    """Two words per block and per predicated step: warps with at least one acting lane, and lanes."""

    def prepare(self, program: Program, words: WorkerWords) -> None:
        self._words, self._program = words, program
        self.blocks = words.take(2 * len(program.blocks))
        self.guards: dict[int, int] = {}  # step number -> first word
        self.full: set[int] = set()  # blocks that always run with all 32 lanes: their lanes need no counting

    def block(self, at: Emission, index: int, block: Block) -> None:
        if index in self._program.cluster_waits:
            return  # how often a warp looks says nothing of a GPU
        word = self.blocks + 2 * index
        self.add(at, word, "1")
        if at.mask == "-1":
            self.full.add(index)
        else:
            self.add_lanes(at, word + 1, at.mask)

    def guarded(self, at: Emission, step: Step) -> None:
        word = self.guards[step.number] = self._words.take(2)
        someone = at.builder.value(f"icmp ne i32 {at.mask}, 0")
        self.add(at, word, at.builder.value(f"zext i1 {someone} to i64"))
        self.add_lanes(at, word + 1, at.mask)

    def of_block(self, index: int, words: Sequence[int]) -> tuple[int, int]:
        """Warps and lanes that ran a block."""
        warps, lanes = words[self.blocks + 2 * index : self.blocks + 2 * index + 2]
        return warps, 32 * warps if index in self.full else lanes

    def of_step(self, number: int, words: Sequence[int]) -> tuple[int, int] | None:
        """Warps and lanes whose predicate held at a step; None for a step without a predicate."""
        word = self.guards.get(number)
        return None if word is None else (words[word], words[word + 1])
