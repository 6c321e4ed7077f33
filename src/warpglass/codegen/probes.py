"""Probes: what observers put into the generated code.

A probe emits IR at the events it cares about; every event method does nothing by default, so a probe is as
small as what it watches. It takes 64-bit words of memory, which every worker thread has for itself, before or
during emission: totals are summed over the workers after the launch. Probes see the same values as the code
itself: an address is a value of any form (values/value.py), `mask` names the i32 of the lanes that act.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ..program import Barrier, Block, Branch, Program, Step
from .builder import Builder
from .values.value import Value

if TYPE_CHECKING:
    from .lanes.reference import ReferenceLanes
    from .memory.sites import Site


@dataclass(frozen=True, slots=True)
class Emission:
    """Where an event happens: the lanes vocabulary to emit with, and the acting lanes' mask.

    `values` are what a store is about to write, or what a load has read, one for each neighbouring element.
    """

    lanes: ReferenceLanes
    mask: str
    values: tuple[Value, ...] = ()

    @property
    def builder(self) -> Builder:
        """What instructions are emitted with."""
        return self.lanes.builder


class WorkerWords:
    """Hands out 64-bit words of each worker's memory, as to probes; a new launch finds them zero."""

    def __init__(self) -> None:
        self.size = 0

    def take(self, count: int) -> int:
        """Reserve words; returns the index of the first."""
        first = self.size
        self.size += count
        return first


class Probe:
    """An observer's part in the generated code; subclasses override the events they want.

    `alone` asks for all blocks in order on one thread, `any_order` for code whose blocks and warps the engine
    may run in another order, `refuses` for accesses out of bounds to be left out, so that the kernel goes on,
    `judges_reads` for loads only by threads that use what they load.
    """

    alone = False
    any_order = False
    refuses = False
    judges_reads = False

    def prepare(self, program: Program, words: WorkerWords) -> None:
        """Called once before emission; `words` may be asked for memory now and at every event."""

    def block(self, at: Emission, index: int, block: Block) -> None:
        """Lanes start a basic block."""

    def guarded(self, at: Emission, step: Step) -> None:
        """Lanes whose predicate holds are about to run a predicated step; `at.mask` may be empty."""

    def step(self, at: Emission, step: Step, sources: Sequence[Value | tuple[Value, ...]]) -> None:
        """Lanes are about to run a step that has a meaning, on these sources."""

    def access(self, at: Emission, site: Site, address: Value) -> None:
        """Lanes are about to load or store at an address that nobody has checked yet."""

    def loaded(self, at: Emission, site: Site) -> None:
        """Lanes have loaded `at.values`, or have replaced them by an atomic operation."""

    def refused(self, at: Emission, site: Site, number: int) -> None:
        """Some lanes of an access, the one of this number, may not make it: the context says which.

        Control may leave for the fault label; if it goes on, these lanes have read zero or written nothing.
        """

    def branch(self, at: Emission, end: Branch, taken: str, together: bool) -> None:
        """Lanes branch; `taken` names the i32 mask of those whose predicate holds.

        `together` says that they are known to be all or none.
        """

    def go(self, at: Emission, source: int, target: int, read: Callable[[str], Value]) -> None:
        """Lanes go from the end of a block to another; `read` gives a predicate that it has written."""

    def barrier(self, at: Emission, end: Barrier, others: Mapping[int, str]) -> None:
        """Lanes arrive at a barrier; `others` has the masks of those that stand in front of other blocks."""

    def resume(self, at: Emission) -> None:
        """A warp goes on behind a barrier, with all lanes that have waited for it."""

    def arrive(self, at: Emission, barrier: str, count: str | None, *, wait: bool) -> None:
        """Lanes arrive at a barrier whose arrivals are counted; id and count are i32 scalars."""

    def park(self, at: Emission, step: Step, members: Value, others: str) -> None:
        """Lanes wait at an instruction with a member mask while `others`, an i32, are elsewhere."""

    def meet(self, at: Emission, step: Step, members: Value) -> None:
        """Lanes whose members have come run an instruction with a member mask."""

    def exchange(self, at: Emission, sources: Value) -> None:
        """Lanes read the registers of other lanes, by number."""

    def fence(self, at: Emission, step: Step) -> None:
        """Lanes pass a step that does nothing here: a fence, a wait for copies, a hint."""

    def helpers(self, declarations: set[str]) -> str:
        """IR of the functions and tables that the emitted code uses; called once, after emission."""
        return ""

    @staticmethod
    def place(at: Emission, word: int) -> str:
        """A pointer to one of the probe's words."""
        return at.builder.offset("%counters", 8 * word)

    def add(self, at: Emission, word: int, amount: str) -> None:
        """Add an i64 to one of the probe's words."""
        b = at.builder
        place = self.place(at, word)
        b.store("i64", b.value(f"add i64 {b.load('i64', place)}, {amount}"), place)

    def add_lanes(self, at: Emission, word: int, mask: str) -> None:
        """Add the number of lanes in a mask to one of the probe's words."""
        if mask == "-1":
            self.add(at, word, "32")
            return
        count = at.builder.call("i32", "llvm.ctpop.i32", [("i32", mask)])
        self.add(at, word, at.builder.value(f"zext i32 {count} to i64"))


class Instrument(Hashable, Protocol):
    """What a launch is to be watched with: equal instruments share compiled code."""

    def probes(self, program: Program) -> Sequence[Probe]:
        """Fresh probes for one version of a kernel's code."""
        ...
