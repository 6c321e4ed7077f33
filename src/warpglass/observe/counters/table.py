"""The table of counters: each has Nsight Compute's name, what it means, and a formula over what was measured.

A file of this folder declares the counters of one subject, here with a single one:

    declare(
        Subject.INSTRUCTIONS,
        {"smsp__inst_executed.sum": ("warp instructions executed", "inst", _issued)},
    )

`m` is a Measured: a whole launch, or the part of it that one source line did. A counter with `machine=True`
takes its number from the machine code that ptxas made of the kernel, where that is known (sass/), and else
from the PTX, which ptxas restructures: its label says which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ...models.memory_rules import MODERN, MemoryRules
from ...records.profile import Subject
from ..counting import Cost, Rule, Tally, choose_rule

EXACT, PTX_LEVEL, MODELLED, MEASURED = "exact", "ptx-level", "modelled", "measured"


@dataclass(frozen=True)
class Measured:
    """What the formulas may use.

    `machine` has numbers that were derived from the machine code, by counter name; `labels` how good each of
    them is; `launch` what follows from the launch configuration alone. `translated` says that memory accesses
    which ptxas merges or removes have been counted as the machine does. `asked` collects what formulas use.
    """

    tallies: tuple[Tally, ...]
    machine: Mapping[str, float]
    labels: Mapping[str, str]
    launch: Mapping[str, float]
    translated: bool
    read: frozenset[str]  # registers that some instruction of the kernel reads
    scattered: frozenset[int] = frozenset()  # lines of accesses that the machine may make in more parts
    memory_rules: MemoryRules = MODERN
    asked: set[tuple[str, str, int]] = field(default_factory=set[tuple[str, str, int]])

    @cached_property
    def _rows(self) -> dict[tuple[str, str], list[int]]:
        rows: dict[tuple[str, str], list[int]] = {}
        for tally in self.tallies:
            for (space, write), row in tally.accesses.items():
                for kind, columns in _columns(tally, space, write, self.read, row):
                    total = rows.setdefault((space, kind), [0] * 5)
                    for k in range(5):
                        total[k] += columns[k]
        return rows

    def memory(self, space: str, kind: str, column: int) -> int:
        """A column of the accesses of a kind ("ld", "st", "atom", "red", "ldgsts", "ldsm") to a state space.

        Columns 0 to 3 are those of the rules (counting/rules.py), column 4 has the bank conflicts of shared
        memory.
        """
        self.asked.add((space, kind, column))
        row = self._rows.get((space, kind))
        return 0 if row is None else row[column]

    @cached_property
    def _certainty(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """By space and kind, how certain each column is, where it is not exact."""
        found: dict[tuple[str, str], tuple[str, ...]] = {}
        for tally in self.tallies:
            for (space, write), row in tally.accesses.items():
                if not any(row):
                    continue
                sure = _sure(tally, space, write, self.scattered, self.memory_rules)
                for kind, _ in _columns(tally, space, write, self.read, row):
                    before = found.get((space, kind), (EXACT,) * 5)
                    found[space, kind] = tuple(
                        max(p, key=_ORDER.index) for p in zip(before, sure, strict=True)
                    )
        return found

    def certainty(self, formula: Formula) -> str:
        """How certain what a formula asks for is."""
        self.asked.clear()
        formula(self)
        labels = [self._certainty.get((s, k), (EXACT,) * 5)[column] for s, k, column in self.asked]
        return max(labels, key=_ORDER.index, default=EXACT)

    def issued(self, space: str, kind: str) -> int:
        """Warp instructions of a kind of access to a state space, those without acting lanes included."""
        return sum(
            tally.issued
            for tally in self.tallies
            for place, write in tally.accesses
            if place == space and _kind(tally, write, self.read) == kind
        )


_ORDER = (EXACT, PTX_LEVEL, MODELLED)


def _sure(
    tally: Tally, space: str, write: bool, scattered: frozenset[int], memory: MemoryRules
) -> tuple[str, ...]:
    """How certain each column of an instruction's accesses is; by another generation's rule, nothing is."""
    rule = choose_rule(tally.step.match, space, write)
    if rule == Rule.SHARED_CAS_LOOP or (rule != Rule.GLOBAL and not memory.other_accesses):
        return (MODELLED,) * 5
    if rule in _ROUNDS and tally.threads > tally.warps:
        return (EXACT, MODELLED, MODELLED, EXACT, EXACT)
    return (PTX_LEVEL if tally.step.instruction.line in scattered else EXACT,) * 5


_ROUNDS = (Rule.GLOBAL_ATOMIC, Rule.GLOBAL_CAS64)  # rules that fit regular patterns, and random ones nearly

# What an access's instruction does, where its direction does not tell.
_KINDS = {"atomic": "atom", "reduction": "red", "copy": "ldgsts", "matrix load": "ldsm"}


def _kind(tally: Tally, write: bool, read: frozenset[str]) -> str:
    kind = _KINDS.get(tally.step.match.row.access or "", "st" if write else "ld")
    if kind == "atom" and read.isdisjoint(tally.step.writes):
        return "red"  # ptxas takes the form without a result if nobody reads it
    return kind


def _columns(
    tally: Tally, space: str, write: bool, read: frozenset[str], row: Cost
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The kinds of access that the machine makes of one, with the columns of each."""
    kind = _kind(tally, write, read)
    first, waves, least, size = row
    match choose_rule(tally.step.match, space, write):
        case Rule.SHARED_CAS_LOOP:  # an exchange takes two wavefronts and has no conflicts
            yield "ld", (first, least, first, size, least - first)
            yield kind, (2 * first, 2 * first, 2 * first, size, 0)
        case Rule.SHARED_CAS:  # of its two passes, conflicts count once
            yield kind, (*row, (waves - least) // 2)
        case _:
            yield kind, (*row, waves - least)


Formula = Callable[[Measured], float]


@dataclass(frozen=True, slots=True)
class Counter:
    """One counter of Nsight Compute."""

    name: str
    text: str
    subject: Subject
    unit: str  # Nsight Compute's: "byte", "sector", ...; "" for plain numbers
    formula: Formula | None  # None: it can only be simulated
    machine: bool  # the machine code decides, where it is known
    rewritten: bool  # ptxas may merge or remove what is counted
    modelled: bool = False  # the hardware also counts what is not counted here

    def known(self, m: Measured) -> bool:
        """Whether there is a number at all."""
        return self.formula is not None or self.name in m.machine

    def value(self, m: Measured) -> float:
        """The number, 0 where nothing happened."""
        if self.machine and self.name in m.machine:
            return float(m.machine[self.name])
        assert self.formula is not None, "only known counters have a value"
        return float(self.formula(m))

    def label(self, m: Measured) -> str:
        """How good the number is: exact, ptx-level or modelled."""
        if self.machine:
            return m.labels.get(self.name, MODELLED) if self.name in m.machine else PTX_LEVEL
        if self.formula is None or self.modelled:
            return MODELLED
        sure = m.certainty(self.formula)
        return max(sure, PTX_LEVEL, key=_ORDER.index) if self.rewritten and not m.translated else sure


COUNTERS: dict[str, Counter] = {}
Row = tuple[str, str, Formula | None]  # what a counter means, its unit, its formula


def declare(
    subject: Subject,
    rows: Mapping[str, Row],
    *,
    machine: bool = False,
    rewritten: bool = False,
    modelled: bool = False,
) -> None:
    """Declare the counters of `rows`, by name. Without a formula they need a simulation's numbers."""
    for name, (text, unit, formula) in rows.items():
        COUNTERS[name] = Counter(name, text, subject, unit, formula, machine, rewritten, modelled)


def ratio(a: float, b: float, scale: float = 1.0) -> float:
    """`scale` times a over b, 0 where b is 0."""
    return scale * a / b if b else 0.0
