"""Probes: what observers put into the generated code.

A probe names how many 64-bit counters it needs and emits IR at the events it cares about; every event method
does nothing by default, so a probe is as small as what it watches. Its counters are summed over all worker
threads after the launch. Probes see the same values as the code itself: an address is a lane value of any
form (values.py), and `mask` names the i32 of the lanes that act.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..program import Barrier, Block, Branch
from .access import Site
from .builder import Builder
from .values import Value


@dataclass(frozen=True, slots=True)
class Emission:
    """Where an event happens: the builder to emit with, and the acting lanes' mask."""

    builder: Builder
    mask: str


class Probe:
    """An observer's part in the generated code; subclasses override the events they want."""

    counters = 0  # 64-bit counters needed; the program may have changed this in `prepare`
    first = 0  # index of the probe's first counter, set by the code generator

    def prepare(self, blocks: tuple[Block, ...]) -> None:
        """Called once before emission: a probe that counts per block or per step sizes itself here."""

    def block(self, at: Emission, index: int, block: Block) -> None:
        """Lanes start a basic block."""

    def access(self, at: Emission, site: Site, address: Value) -> None:
        """Lanes are about to load or store; the address is within its state space."""

    def branch(self, at: Emission, end: Branch, taken: str) -> None:
        """Lanes branch; `taken` names the i32 mask of those whose predicate holds."""

    def barrier(self, at: Emission, end: Barrier) -> None:
        """Lanes arrive at a barrier."""

    def add(self, at: Emission, counter: int, amount: str) -> None:
        """Add an i64 to one of the probe's counters."""
        b = at.builder
        place = b.offset("%counters", 8 * (self.first + counter))
        b.store("i64", b.value(f"add i64 {b.load('i64', place)}, {amount}"), place)
