"""Probes see every event once: what they count is what the one-thread-at-a-time interpreter counts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from tests.engines import CPU_ENGINES, engine_mode
from tests.generators.kernels import random_kernel
from warpglass.codegen import Emission, Probe, WorkerWords
from warpglass.codegen.memory.sites import Site
from warpglass.codegen.values.value import Value
from warpglass.engine.cpu.backend import CpuBackend
from warpglass.engine.launch.backend import Launch
from warpglass.program import Block, Branch, Program
from warpglass.source.compiled import Compiled

from .interpreter import Interpreter


class CountingProbe(Probe):
    """Counts threads per block, per taken branch and per access; branches and accesses by step number."""

    def prepare(self, program: Program, words: WorkerWords) -> None:
        """A counter for each block, then two for each step."""
        self.blocks = program.blocks
        self.steps = 1 + max((step.number for block in self.blocks for step in steps_of(block)), default=0)
        words.take(len(self.blocks) + 2 * self.steps)

    def block(self, at: Emission, index: int, block: Block) -> None:
        self.add_lanes(at, index, at.mask)

    def branch(self, at: Emission, end: Branch, taken: str, together: bool) -> None:
        self.add_lanes(at, len(self.blocks) + end.step.number, taken)

    def access(self, at: Emission, site: Site, address: Value) -> None:
        self.add_lanes(at, len(self.blocks) + self.steps + site.step, at.mask)


@dataclass(frozen=True)
class Counting:
    """The instrument that watches with one CountingProbe."""

    def probes(self, program: Program) -> tuple[Probe, ...]:
        return (CountingProbe(),)


def steps_of(block: Block) -> list[Any]:
    """The steps of a block with its terminator's."""
    return [*block.steps, *([block.end.step] if isinstance(block.end, Branch) else [])]


@pytest.mark.sampled(quick=6, ci=2)
@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("seed", range(12))
def test_counts_are_the_interpreters(seed: int, engine: str):
    made = random_kernel(seed + 500, size=20)
    instrument = Counting()
    compiled = Compiled(made.text, "k", f"probed {engine}", "ptx")
    with engine_mode(engine):
        _, seen = CpuBackend().observe(
            Launch(compiled, made.grid, made.block, tuple(made.arguments())), instrument
        )
    (probe,), totals = seen.probes, seen.totals
    assert isinstance(probe, CountingProbe)
    interpreter = Interpreter(made.text)
    interpreter.run(made.grid, made.block, made.arguments())
    counts = interpreter.counts
    for index, block in enumerate(probe.blocks):
        for step in steps_of(block):
            if block.steps or step.control == "branch":
                assert totals[index] == counts.executed[step.number], f"block {index}, {step.instruction}"
        if isinstance(block.end, Branch):
            number = block.end.step.number
            assert totals[len(probe.blocks) + number] == counts.taken[number], block.end
    accesses = Counter(
        {number: int(n) for number, n in enumerate(totals[len(probe.blocks) + probe.steps :]) if n}
    )
    assert accesses == +counts.accesses
