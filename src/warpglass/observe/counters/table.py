"""The table of counters: each has Nsight Compute's name, what it means, and a formula over what was measured.

A file of this folder declares the counters of one subject:

    @counter("smsp__inst_executed.sum", "warp instructions executed", machine=True)
    def inst_executed(m):
        return sum(tally.issued for tally in m.tallies)

`m` is a Measured: a whole launch, or the part of it that one source line did. A counter with `machine=True`
takes its number from the machine code that ptxas made of the kernel, where that is known (sass/), and else
from the PTX, which ptxas restructures: its label says which.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ..counting import Tally

EXACT, PTX_LEVEL, MODELLED, MEASURED = "exact", "ptx-level", "modelled", "measured"


@dataclass(frozen=True)
class Measured:
    """What the formulas may use.

    `machine` has numbers that were derived from the machine code, by counter name; `labels` how good each of
    them is; `launch` what follows from the launch configuration alone. `translated` says that memory accesses
    which ptxas merges or removes have been counted as the machine does.
    """

    tallies: tuple[Tally, ...]
    machine: Mapping[str, float]
    labels: Mapping[str, str]
    launch: Mapping[str, float]
    translated: bool
    read: frozenset[str]  # registers that some instruction of the kernel reads

    @cached_property
    def _rows(self) -> dict[tuple[str, str], list[int]]:
        rows: dict[tuple[str, str], list[int]] = {}
        for tally in self.tallies:
            for (space, write), row in tally.accesses.items():
                total = rows.setdefault((space, _kind(tally, write, self.read)), [0, 0, 0, 0])
                for k in range(4):
                    total[k] += row[k]
        return rows

    def memory(self, space: str, kind: str, column: int) -> int:
        """A column of the accesses of a kind ("ld", "st", "atom", "red", "ldgsts") to a state space."""
        row = self._rows.get((space, kind))
        return 0 if row is None else row[column]

    def issued(self, space: str, kind: str) -> int:
        """Warp instructions of a kind of access to a state space, those without acting lanes included."""
        return sum(
            tally.issued
            for tally in self.tallies
            for place, write in tally.accesses
            if place == space and _kind(tally, write, self.read) == kind
        )


# What an access's instruction does, where its direction does not tell.
_KINDS = {"atom": "atom", "red": "red", "cp": "ldgsts"}


def _kind(tally: Tally, write: bool, read: frozenset[str]) -> str:
    kind = _KINDS.get(tally.step.instruction.opcode, "st" if write else "ld")
    if kind == "atom" and read.isdisjoint(tally.step.writes):
        return "red"  # ptxas takes the form without a result if nobody reads it
    return kind


Formula = Callable[[Measured], float]


@dataclass(frozen=True, slots=True)
class Counter:
    """One counter of Nsight Compute."""

    name: str
    text: str
    formula: Formula
    machine: bool  # the machine code decides, where it is known
    rewritten: bool  # ptxas may merge or remove what is counted

    def value(self, m: Measured) -> float:
        """The number, 0 where nothing happened."""
        if self.machine and self.name in m.machine:
            return float(m.machine[self.name])
        return float(self.formula(m))

    def label(self, m: Measured) -> str:
        """How good the number is: exact, ptx-level or modelled."""
        if self.machine:
            return m.labels.get(self.name, MODELLED) if self.name in m.machine else PTX_LEVEL
        return PTX_LEVEL if self.rewritten and not m.translated else EXACT


COUNTERS: dict[str, Counter] = {}


def add(name: str, text: str, formula: Formula, *, machine: bool = False, rewritten: bool = False) -> None:
    """Declare a counter."""
    COUNTERS[name] = Counter(name, text, formula, machine, rewritten)


def counter(
    name: str, text: str, *, machine: bool = False, rewritten: bool = False
) -> Callable[[Formula], Formula]:
    """Declare a counter by decorating its formula."""

    def declare(formula: Formula) -> Formula:
        add(name, text, formula, machine=machine, rewritten=rewritten)
        return formula

    return declare


def ratio(a: float, b: float, scale: float = 1.0) -> float:
    """`scale` times a over b, 0 where b is 0."""
    return scale * a / b if b else 0.0
