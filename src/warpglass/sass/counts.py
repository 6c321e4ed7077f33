"""What is known of a run at the level of PTX: the input of estimate.py.

Belongs here: records of counts by PTX line, and how counts of the program's steps become them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..program import Program, find_instructions
from .choices import MARK


@dataclass(frozen=True, slots=True)
class LineCounts:
    """Counts of one run by PTX line; every line with an instruction of the kernel has a row in `executed`.

    `executed`: executions by warps with at least one active thread, and by threads whose guard holds.
    `parted`: executions of a conditional branch at which the threads of a warp parted.
    `chosen`: of a `selp`, the threads for which its predicate held, from a run of marked PTX (choices.py).
    `trips`: of a loop, named by the line of its first instruction, how often its body ran per entry:
    {times: (warps, threads)}. Without it, every entry is taken to run the loop equally often.
    `rounds`: of an atomic operation on shared memory in floating point, which machine code tries until no
    other thread interferes: the tries of warps and of threads. Without it, the first try is taken to succeed.
    """

    executed: Mapping[int, tuple[int, int]]
    parted: Mapping[int, int] = field(default_factory=dict[int, int])
    chosen: Mapping[int, int] = field(default_factory=dict[int, int])
    trips: Mapping[int, Mapping[int, tuple[int, int]]] = field(
        default_factory=dict[int, Mapping[int, tuple[int, int]]]
    )
    rounds: Mapping[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])

    def warps(self, line: int) -> int:
        """Executions of a line by warps; 0 where it has no row."""
        return self.executed.get(line, (0, 0))[0]

    def partings(self, line: int) -> int:
        """Executions at which a warp parted: of a branch, or of tries that failed for some of its threads."""
        tries, _ = self.rounds.get(line, (0, 0))
        return self.parted.get(line, 0) + max(tries - self.warps(line), 0) * bool(tries)

    def threads(self, line: int) -> int:
        """Executions of a line by threads; 0 where it has no row."""
        return self.executed.get(line, (0, 0))[1]


def by_line(
    program: Program,
    steps: Mapping[int, tuple[int, int, int]],
    rounds: Mapping[int, tuple[int, int]] | None = None,
) -> LineCounts:
    """Counts by PTX line from those by number of a step: warps, threads, and warps that parted.

    `rounds` are those of LineCounts.

    Copies of a called function add up. Of several instructions in one line the most executed one stands for
    it, so that a line that is one block's counts once.
    """
    warps, threads, parted = Counter[int](), Counter[int](), Counter[int]()
    chosen = Counter[int]()
    for instructions in find_instructions(program.blocks):
        found: dict[int, tuple[int, int]] = {}
        for step in instructions:
            line = step.instruction.line
            issued, active, apart = steps.get(step.number, (0, 0, 0))
            if step.writes and step.writes[0].startswith(MARK):
                chosen[line] += active
                continue
            before = found.get(line, (0, 0))
            found[line] = (max(before[0], issued), max(before[1], active))
            parted[line] += apart
        for line, (issued, active) in found.items():
            warps[line] += issued
            threads[line] += active
    executed = {line: (warps[line], threads[line]) for line in warps}
    return LineCounts(executed, dict(+parted), dict(chosen), rounds=rounds or {})
