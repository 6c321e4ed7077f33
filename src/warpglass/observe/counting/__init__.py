"""The instrument that counts a launch: how often each instruction ran, with how many lanes, at what cost.

One probe a file: execution (blocks and predicated steps), branches, accesses. `Counting().read(observed)`
turns their words into one Tally per instruction; the counters of observe/counters/ are sums over tallies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...codegen import Probe
from ...models.memory_rules import MODERN, MemoryRules
from ...program import Program, Step, find_instructions
from .accesses import AccessProbe, Rewritten
from .branches import BranchProbe
from .choice import choose_rule
from .execution import ExecutionProbe
from .rules import Cost, Rule

__all__ = ["Cost", "Counting", "Rewritten", "Rule", "Tally", "choose_rule"]

Place = tuple[str, bool]  # state space, and whether it is written


@dataclass(frozen=True, slots=True)
class Tally:
    """What one instruction of the program did over a launch.

    `issued` counts warps that came to it, `active` their lanes; `warps` those with at least one lane whose
    predicate holds, `threads` such lanes. `accesses` has the four numbers of rules.py for each state space
    and direction; `divergent` counts executions of a branch at which lanes parted.
    """

    step: Step
    issued: int
    active: int
    warps: int
    threads: int
    divergent: int = 0
    accesses: Mapping[Place, Cost] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Counting:
    """The instrument, told what the machine does otherwise than the PTX says."""

    rewritten: Rewritten = field(default_factory=Rewritten)
    memory: MemoryRules = MODERN

    def probes(self, program: Program) -> Sequence[Probe]:
        """One probe of each kind."""
        return ExecutionProbe(), BranchProbe(), AccessProbe(self.rewritten, self.memory)

    @staticmethod
    def read(program: Program, probes: Sequence[Probe], totals: np.ndarray) -> tuple[Tally, ...]:
        """A tally for each instruction, in the program's order."""
        execution, branches, accesses = probes
        assert isinstance(execution, ExecutionProbe)
        assert isinstance(branches, BranchProbe)
        assert isinstance(accesses, AccessProbe)
        words: list[int] = totals.tolist()
        ran = [execution.of_block(index, words) for index in range(len(program.blocks))]
        # A guarded instruction may have a block of its own, behind a branch: there it acts.
        acting = {
            step.number: warps_and_threads
            for block, warps_and_threads in zip(program.blocks, ran, strict=True)
            for step in block.all_steps
        }
        rows = accesses.sums(words, acting)
        return tuple(
            Tally(
                step,
                *came,
                *(execution.of_step(step.number, words) or acting[step.number]),
                branches.of_step(step.number, words),
                rows.get(step.number, {}),
            )
            for came, steps in zip(ran, find_instructions(program.blocks), strict=True)
            for step in steps
        )
