"""The clock that kernels may read: how many instructions the warps of a block have issued.

The count is kept in the context and only in kernels that read it. It grows along every path, so waiting for a
time to come ends, and it is the same in every run.
"""

from __future__ import annotations

from ...isa.specials import reads_clock
from ...program import Program, Step
from ...ptx import tree
from ..builder import Builder
from ..context import SLOT


class Clock:
    """Adds up the instructions of one program's basic blocks."""

    def __init__(self, builder: Builder, program: Program):
        self.builder = builder
        self.readers = clock_readers(program)
        self._unseen = 0

    def issue(self, step: Step) -> None:
        """A step is about to run: if it reads the clock, count what ran before it."""
        self._unseen += 1
        if step.number in self.readers:
            self.count()

    def count(self, ends: bool = False) -> None:
        """Bring the clock up to date; `ends` counts the instruction that ends a block."""
        issued, self._unseen = self._unseen + ends, 0
        if self.readers and issued:
            b = self.builder
            b.store("i64", b.value(f"add i64 {read_clock(b)}, {issued}"), _place(b))


def clock_readers(program: Program) -> frozenset[int]:
    """The steps of a program, by their numbers, that read the clock."""
    steps = (step for block in program.blocks for step in block.steps)
    return frozenset(step.number for step in steps if _reads(step.instruction))


def read_clock(b: Builder) -> str:
    """The clock's value, an i64."""
    return b.load("i64", _place(b))


def _place(b: Builder) -> str:
    return b.offset("%context", 8 * SLOT["clock"])


def _reads(instruction: tree.Instruction) -> bool:
    return any(type(one) is tree.Special and reads_clock(one.name) for one in instruction.operands)
