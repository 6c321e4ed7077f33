"""Code that follows undefined bytes through registers: from loads over moves and choices to what uses them.

Every register that is followed (value_uses.py) has two words for each lane of each warp: which bytes of it
are undefined, with the place of the load and the size of the element, and the address that they come from. A
load leaves what it has found undefined in the lanes' notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....codegen import Emission, WorkerWords
from ....codegen.values.value import Value
from ....program import Step
from .. import layout
from ..emit import where
from ..value_uses import Uses, is_move, register_name
from .propagation import use

if TYPE_CHECKING:
    from ..instrumentation import Instrumentation

_LANES = "<32 x i64>"
_ROW = 32  # words of a warp
_ALIGNED = ", align 8"
_NOTHING = ("zeroinitializer", "zeroinitializer")


class ShadowRegisters:
    """The code for one kernel."""

    def __init__(self, code: Instrumentation, uses: Uses, words: WorkerWords):
        self._code = code
        self._uses = uses
        self.notes = words.take(_ROW)
        self._first = {name: words.take(2 * _ROW * layout.WARPS) for name in sorted(uses.carried)}

    def loaded(self, at: Emission, step: Step, addresses: str, place: int, size: int) -> None:
        """A load has noted what it finds undefined: `size` are the bytes of an element."""
        b = at.builder
        at_notes = b.offset("%counters", 8 * self.notes)
        for number, name in self._uses.loaded(step).items():
            notes = b.load(_LANES, at_notes, _ALIGNED)
            shifted = b.value(f"lshr {_LANES} {notes}, splat (i64 {number * size})")
            own = b.value(f"and {_LANES} {shifted}, splat (i64 {(1 << size) - 1})")
            some = b.value(f"icmp ne {_LANES} {own}, zeroinitializer")
            space = layout.SPACES[step.match.state_space]
            origin = (
                place << layout.CARRIED_PLACE | size << layout.CARRIED_SIZE | space << layout.CARRIED_SPACE
            )
            told = b.value(f"or {_LANES} {own}, splat (i64 {origin})")
            bits = b.value(f"select <32 x i1> {some}, {_LANES} {told}, {_LANES} zeroinitializer")
            start = b.value(f"add {_LANES} {addresses}, splat (i64 {number * size})")
            self._put(at, name, bits, start)
        b.store(_LANES, "zeroinitializer", at_notes, _ALIGNED)

    def stored(self, at: Emission, step: Step, size: int) -> str | None:
        """The undefined bytes of what a store copies, elements of `size` bytes; None if none is followed."""
        b = at.builder
        copied = self._uses.stored(step)
        found = "zeroinitializer"
        for number, name in copied.items():
            bits, _ = self._held(at, name)
            own = b.value(f"and {_LANES} {bits}, splat (i64 {(1 << size) - 1})")
            up = b.value(f"shl {_LANES} {own}, splat (i64 {number * size})")
            found = b.value(f"or {_LANES} {found}, {up}")
        return found if copied else None

    def step(self, at: Emission, step: Step, sources: Sequence[Value | tuple[Value, ...]]) -> None:
        """A step is about to run on its sources."""
        for name in sorted(self._uses.used(step)):
            self._use(at, name, step)
        targets = [name for name in step.writes if name in self._uses.carried]
        if not targets or (step.match.row.access == "load" and step.match.state_space in layout.SPACES):
            return
        held = self._moved(at, step, sources) if is_move(step) else _NOTHING
        for name in targets:
            self._put(at, name, *held)

    def _moved(
        self, at: Emission, step: Step, sources: Sequence[Value | tuple[Value, ...]]
    ) -> tuple[str, str]:
        """What is known of the value that a move or a choice passes on."""
        b = at.builder
        operands = step.instruction.operands[1 : 3 if step.match.row.operation == "selection" else 2]
        first, *second = (self._held(at, register_name(operand)) for operand in operands)
        if not second:
            return first
        chosen = sources[2]
        assert isinstance(chosen, Value), "a predicate"
        taken = at.lanes.as_vector(chosen).ir
        bits, address = (
            b.value(f"select <32 x i1> {taken}, {_LANES} {one}, {_LANES} {other}")
            for one, other in zip(first, second[0], strict=True)
        )
        return bits, address

    def _use(self, at: Emission, name: str, step: Step) -> None:
        """Find a use of a register that has undefined bytes."""
        b = at.builder
        bits, _ = self._held(at, name)
        some = b.mask_bits(b.value(f"icmp ne {_LANES} {bits}, zeroinitializer"))
        found = b.value(f"and i32 {some}, {at.mask}")
        with where(b, b.value(f"icmp ne i32 {found}, 0"), unlikely=True):
            rows = [b.value(f"ptrtoint ptr {row} to i64") for row in self._rows(at, name)]
            mask, warp = self._code.wide(at, found), self._code.warp(at)
            self._code.call(at, use, warp, mask, *rows, str(self._code.place_of(step)))

    # ------------------------------------------------------------------------------------ rows
    def _rows(self, at: Emission, name: str) -> tuple[str, str]:
        """Where a register's two words are for the lanes of this warp."""
        b = at.builder
        warp = b.value(f"mul i64 {b.value('zext i32 %warp to i64')}, {8 * _ROW}")
        first = b.offset(b.offset("%counters", 8 * self._first[name]), warp)
        return first, b.offset(first, 8 * _ROW * layout.WARPS)

    def _held(self, at: Emission, name: str) -> tuple[str, str]:
        if name not in self._first:
            return _NOTHING
        bits, address = (at.builder.load(_LANES, row, _ALIGNED) for row in self._rows(at, name))
        return bits, address

    def _put(self, at: Emission, name: str, *held: str) -> None:
        b = at.builder
        lanes = b.mask_vector(at.mask)
        for row, new in zip(self._rows(at, name), held, strict=True):
            old = b.load(_LANES, row, _ALIGNED)
            kept = b.value(f"select <32 x i1> {lanes}, {_LANES} {new}, {_LANES} {old}")
            b.store(_LANES, kept, row, _ALIGNED)
