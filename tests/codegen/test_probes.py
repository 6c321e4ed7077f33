"""Probes see every event once: what they count is what the one-thread-at-a-time interpreter counts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.engines import CPU_ENGINES, engine_mode
from warpglass.codegen import Emission, KernelCode, Probe, generate
from warpglass.codegen.access import Site
from warpglass.codegen.values import Value
from warpglass.engine import prepared
from warpglass.engine.backend import Launch
from warpglass.engine.cpu import CpuBackend
from warpglass.program import Block, Branch
from warpglass.source.compiled import Compiled

from .interpreter import Interpreter
from .random_kernels import random_kernel


class CountingProbe(Probe):
    """Counts threads per block, per taken branch and per access; branches and accesses by step number."""

    def prepare(self, blocks: tuple[Block, ...]) -> None:
        """A counter for each block, then two for each step."""
        self.blocks = blocks
        self.steps = 1 + max((step.number for block in blocks for step in steps_of(block)), default=0)
        self.counters = len(blocks) + 2 * self.steps

    def block(self, at: Emission, index: int, block: Block) -> None:
        self._count(at, index, at.mask)

    def branch(self, at: Emission, end: Branch, taken: str) -> None:
        self._count(at, len(self.blocks) + end.step.number, taken)

    def access(self, at: Emission, site: Site, address: Value) -> None:
        self._count(at, len(self.blocks) + self.steps + site.step, at.mask)

    def _count(self, at: Emission, counter: int, mask: str) -> None:
        lanes = at.builder.call("i32", "llvm.ctpop.i32", [("i32", mask)])
        self.add(at, counter, at.builder.value(f"zext i32 {lanes} to i64"))


def steps_of(block: Block) -> list[Any]:
    """The steps of a block with its terminator's."""
    return [*block.steps, *([block.end.step] if isinstance(block.end, Branch) else [])]


@pytest.mark.parametrize("engine", CPU_ENGINES)
@pytest.mark.parametrize("seed", range(12))
def test_counts_are_the_interpreters(seed: int, engine: str, monkeypatch: pytest.MonkeyPatch):
    made = random_kernel(seed + 500, size=20)
    probe = CountingProbe()

    def with_probe(*args: Any, **options: Any) -> KernelCode:
        return generate(*args, probes=(probe,), **options)

    monkeypatch.setattr(prepared, "generate", with_probe)
    compiled = Compiled(made.text, "k", f"probed {engine}", "ptx")
    with engine_mode(engine):
        CpuBackend().run(Launch(compiled, made.grid, made.block, tuple(made.arguments())))
    totals = _totals(prepared.prepare(compiled))
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


def _totals(ready: prepared.Prepared) -> np.ndarray:
    (executable,) = ready._executables.values()
    return np.sum([worker._counters for worker in executable._workers], axis=0)
