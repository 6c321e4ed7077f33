"""Counts conditional branches at which the lanes of a warp part."""

from __future__ import annotations

from collections.abc import Sequence

from ...codegen import Emission, Probe, WorkerWords
from ...program import Branch, Program


class BranchProbe(Probe):
    """One word per conditional branch: executions at which some lanes jump and others do not."""

    def prepare(self, program: Program, words: WorkerWords) -> None:
        self._words = words
        self.words: dict[int, int] = {}  # step number -> word

    def branch(self, at: Emission, end: Branch, taken: str, together: bool) -> None:
        if together:
            return
        b = at.builder
        word = self.words[end.step.number] = self._words.take(1)
        some = b.value(f"icmp ne i32 {taken}, 0")
        not_all = b.value(f"icmp ne i32 {taken}, {at.mask}")
        parted = b.value(f"and i1 {some}, {not_all}")
        self.add(at, word, b.value(f"zext i1 {parted} to i64"))

    def of_step(self, number: int, words: Sequence[int]) -> int:
        """Executions of a branch at which lanes parted; 0 for any other step."""
        word = self.words.get(number)
        return 0 if word is None else words[word]
