"""Warps that go together, one of which faults: those before it begin again without it.

Warp by warp, the first fault is that of the first warp that has one, and the warps before it have come to
their ends. Together, a later warp may fault earlier. So the lanes of the warps before it begin again without
the others, and what they come to is theirs: their ends, or an earlier warp's fault. That is possible while
nothing has been stored (parting_warps.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...program import Program, Step
from ..builder import WIDTH, Builder
from ..context import DONE, FAULT, SLOT


class BeginAgain:
    """Emits what a warp function needs for that."""

    def __init__(self, b: Builder, program: Program):
        self._b = b
        self._blocks = range(len(program.blocks))

    def declare(self) -> list[str]:
        """The stack slots: whether something was stored, and whether a lane has faulted."""
        return [f"  {name} = alloca i1\n  store i1 false, ptr {name}" for name in ("%stored", "%faulted")]

    def note(self) -> None:
        """In front of a store."""
        self._b.store("i1", "true", "%stored")

    def ended(self) -> str:
        """What the function returns when all lanes have ended."""
        return self._b.value(f"select i1 {self._b.load('i1', '%faulted')}, i32 {FAULT}, i32 {DONE}")

    def begin(self, leave: Callable[[], None]) -> None:
        """Behind a fault: begin again, where that is possible; `leave` forgets which loops lanes were in."""
        b = self._b
        lane = b.load("i64", b.offset("%context", 8 * SLOT["fault_lane"]))
        first = b.value(f"and i64 {lane}, {-WIDTH}")
        if b.width != 64:
            first = b.value(f"{'trunc' if b.width < 64 else 'zext'} i64 {first} to {b.lanes}")
        before = b.value(f"sub {b.lanes} {b.value(f'shl {b.lanes} 1, {first}')}, 1")
        lanes = b.value(f"and {b.lanes} %start_mask, {before}")
        unseen = b.value(f"xor i1 {b.load('i1', '%stored')}, true")
        b.branch(b.value(f"and i1 {b.someone(lanes)}, {unseen}"), "again", "failed")
        b.place("again")
        b.store("i1", "true", "%faulted")
        for index in self._blocks:
            b.store(b.lanes, "0", f"%lanes_{index}")
        leave()
        b.store(b.lanes, lanes, "%lanes_0")
        b.jump("block_0")
        b.place("failed")


def first_store(steps: Sequence[Step]) -> int:
    """Where the first of some steps is that stores; their number if there is none."""
    accesses = [step.match.load_or_store for step in steps]
    return next((k for k, access in enumerate(accesses) if access is not None and access.writes), len(steps))
