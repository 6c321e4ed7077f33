"""Counts conditional branches: where the lanes of a warp part, and how many jump."""

from __future__ import annotations

from ...codegen import Emission, Probe, Words
from ...program import Branch, Program


class BranchProbe(Probe):
    """Two words per conditional branch: executions at which lanes part, and lanes that jump."""

    def prepare(self, program: Program, words: Words) -> None:
        self._words = words
        self.words: dict[int, int] = {}  # step number -> first word

    def branch(self, at: Emission, end: Branch, taken: str, together: bool) -> None:
        b = at.builder
        word = self.words[end.step.number] = self._words.take(2)
        self.add_lanes(at, word + 1, taken)
        if together:
            return
        some = b.value(f"icmp ne i32 {taken}, 0")
        not_all = b.value(f"icmp ne i32 {taken}, {at.mask}")
        parted = b.value(f"and i1 {some}, {not_all}")
        self.add(at, word, b.value(f"zext i1 {parted} to i64"))

    def of_step(self, number: int, words: list[int]) -> tuple[int, int]:
        """Executions of a branch at which lanes parted, and lanes that jumped; zeros for any other step."""
        word = self.words.get(number)
        return (0, 0) if word is None else (words[word], words[word + 1])
