"""What a loop of known rounds (rounds.py) leaves in registers, computed for all lanes in front of it.

Counters and addresses move on evenly up to the last round, and what the last one makes of them takes its own
instructions: they are run on the registers as that round begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from ...isa.types import LLVM_TYPE
from ...program import Program, Step
from ..lanes.fast import FastLanes
from ..operands import Symbols
from ..path_bounds.analysis import COMPUTING
from ..registers import Registers
from ..steps import Steps
from ..values.value import Value
from .find import LaneLoop
from .rounds import Rounds


def computed(step: Step) -> bool:
    """Whether a step does no more than compute registers that it names."""
    row = step.match.row
    return step.instruction.guard is None and row.computes and row.unit in COMPUTING


def find_ends(program: Program, loop: LaneLoop, rounds: Rounds) -> dict[str, frozenset[int]]:
    """The integers that a loop writes whose last values need no loads: the steps that compute each."""
    found: dict[str, frozenset[int]] = {}
    for name in loop.written:
        if LLVM_TYPE[program.registers[name]] in ("i32", "i64"):
            steps = _steps_for(program, loop, rounds, name)
            if steps is not None:
                found[name] = steps
    return found


def _steps_for(program: Program, loop: LaneLoop, rounds: Rounds, name: str) -> frozenset[int] | None:
    wanted, numbers = {name}, set[int]()
    for step in reversed(program.blocks[loop.header].steps):
        if not wanted.isdisjoint(step.writes):
            if not computed(step):
                return None
            numbers.add(step.number)
            wanted = (wanted - set(step.writes)) | step.reads
    return frozenset(numbers) if wanted & loop.written <= set(rounds.paces) else None


class Ahead:
    """Registers as they will be; stands in for Registers. Those not in `values` are as they are."""

    def __init__(self, now: Registers, values: dict[str, Value]):
        self._now = now
        self.types: Mapping[str, str] = now.types
        self.values = values

    def read(self, name: str) -> Value:
        """What one holds."""
        return self.values[name] if name in self.values else self._now.read(name)


class AheadSteps(Steps):
    """Runs steps on such registers."""

    def __init__(self, lanes: FastLanes, ahead: Ahead, symbols: Symbols):
        super().__init__(lanes, cast(Registers, ahead), symbols)
        self._ahead = ahead

    def _write_one(
        self, name: str, fitted: Value, mask: str, condition: Value | None, blend: frozenset[str]
    ) -> None:
        self._ahead.values[name] = fitted


def emit_ends(
    steps: Sequence[Step],
    names: Iterable[str],
    rounds: Rounds,
    lanes: FastLanes,
    registers: Registers,
    symbols: Symbols,
    after: str,
) -> dict[str, Value]:
    """What registers that steps compute will hold after so many rounds (i64) behind the first one."""
    b = lanes.builder
    counts = {"i64": Value("i64", after)}
    counts["i32"] = Value("i32", b.value(f"trunc {b.vector('i64')} {after} to {b.vector('i32')}"))
    ahead = Ahead(registers, {})
    for name in sorted({name for step in steps for name in step.reads} & set(rounds.paces)):
        type_ = registers.types[name]
        moved = lanes.mul(counts[type_], lanes.constant(type_, rounds.paces[name]))
        ahead.values[name] = lanes.add(registers.read(name), moved)
    run = AheadSteps(lanes, ahead, symbols)
    for step in steps:
        run.run(step, "-1", frozenset())
    return {name: ahead.read(name) for name in names}
