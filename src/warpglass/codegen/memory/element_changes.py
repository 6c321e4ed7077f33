"""The change of one element in memory by an atomic operation, as LLVM IR.

What LLVM has an instruction for (`atomicrmw`, `cmpxchg`) uses it. Any other change is the same vocabulary as
everywhere, on one lane: the element is read, changed and exchanged until nobody has come between. Elements of
128 bits are changed under a lock, since the instruction for them wants an aligned host address. Where nobody
can come between, elements are read and written.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...isa.lanes import Update
from ...isa.types import BITS
from ..builder import Builder
from ..lanes.fast import FastLanes
from ..shape import BlockShape, Promises
from ..values.value import Value
from .local import LocalMemory
from .warp_atomics import WIDEST, WarpAtomics, changed

# What often leaves an element as it is.
_MAY_KEEP = frozenset(("and", "or", "max", "min", "umax", "umin"))
_LOCK = "@wg_wide_lock = internal global i32 0"


class ElementChange:
    """Emits what an operation, an Update or by LLVM's name, does to the element of some type at a place."""

    def __init__(self, builder: Builder, change: str | Update, type_: str, place: str):
        self.builder = builder
        self._change = change
        self._type = type_
        self._place = place

    def either(self, alone: str, given: Sequence[str]) -> str:
        """The old element; the i1 `alone` says that no other thread comes to memory."""
        b = self.builder
        undisturbed, together, done = b.label("alone"), b.label("together"), b.label("replaced")
        b.branch(alone, undisturbed, together)
        found: list[tuple[str, str]] = []
        for label, replace in ((undisturbed, self.undisturbed), (together, self.among_others)):
            b.place(label)
            old, end = replace(given), b.label("changed")
            found.append((old, end))
            b.jump(end)
            b.place(end)
            b.jump(done)
        b.place(done)
        return b.phi(self._type, *found)

    def undisturbed(self, given: Sequence[str]) -> str:
        """The old element, where no other thread comes to memory."""
        b = self.builder
        old = b.load(self._type, self._place, ", align 1")
        if not isinstance(self._change, Update) or self._change.writes:
            b.store(self._type, self._changed(old, given), self._place, ", align 1")
        return old

    def among_others(self, given: Sequence[str]) -> str:
        """The old element, replaced at one time for all threads."""
        if isinstance(self._change, Update):
            replace = self._under_lock if BITS[self._type] > WIDEST else self._until_undisturbed
            return replace(self._change, given)
        if self._change == "cmpxchg":
            return self._exchange(*given)[0]
        if self._change in _MAY_KEEP:
            return self._if_changed(self._change, given)
        return self._by_instruction(self._change, given)

    def _by_instruction(self, change: str, given: Sequence[str]) -> str:
        changing = f"atomicrmw {change} ptr {self._place}, {self._type} {given[0]} seq_cst"
        return self.builder.value(changing)

    def _if_changed(self, change: str, given: Sequence[str]) -> str:
        """The same if that changes the element; else it is only read, and other threads keep their copies."""
        b, type_ = self.builder, self._type
        start, writes, done = b.label("read"), b.label("writes"), b.label("kept")
        b.jump(start)
        b.place(start)
        seen = b.load(f"atomic {type_}", self._place, f" acquire, align {BITS[type_] // 8}")
        new = changed(b, change, type_, seen, given[0])
        b.branch(b.value(f"icmp eq {type_} {new}, {seen}"), done, writes)
        b.place(writes)
        old = self._by_instruction(change, given)
        b.jump(done)
        b.place(done)
        return b.phi(type_, (seen, start), (old, writes))

    def _exchange(self, expected: str, new: str) -> tuple[str, str]:
        """What was there, and an i1 that holds if it was what was expected and has been replaced."""
        b, type_ = self.builder, self._type
        pair = b.value(f"cmpxchg ptr {self._place}, {type_} {expected}, {type_} {new} seq_cst seq_cst")
        whole = f"{{ {type_}, i1 }}"
        return b.value(f"extractvalue {whole} {pair}, 0"), b.value(f"extractvalue {whole} {pair}, 1")

    def _until_undisturbed(self, change: Update, given: Sequence[str]) -> str:
        b, type_ = self.builder, self._type
        start, again, attempt, on = (b.label(hint) for hint in ("read", "again", "attempt", "on"))
        b.jump(start)
        b.place(start)
        first = b.load(f"atomic {type_}", self._place, f" monotonic, align {BITS[type_] // 8}")
        seen = b.name("seen")
        b.jump(again)
        b.place(again)
        old = b.phi(type_, (first, start), (seen, attempt))
        new = self._changed(old, given)
        b.jump(attempt)
        b.place(attempt)
        found, done = self._exchange(old, new)
        b.emit(f"{seen} = bitcast {type_} {found} to {type_}")
        b.branch(done, on, again)
        b.place(on)
        return old

    def _under_lock(self, change: Update, given: Sequence[str]) -> str:
        b = self.builder
        b.declarations.add(_LOCK)
        spin, on = b.label("spin"), b.label("locked")
        b.jump(spin)
        b.place(spin)
        taken = b.value("atomicrmw xchg ptr @wg_wide_lock, i32 1 acquire")
        b.branch(b.value(f"icmp eq i32 {taken}, 0"), on, spin)
        b.place(on)
        old = self.undisturbed(given)
        b.store("atomic i32", "0", "@wg_wide_lock", " release, align 4")
        return old

    def _changed(self, old: str, given: Sequence[str]) -> str:
        b, change, type_ = self.builder, self._change, self._type
        if isinstance(change, Update):
            return self._updated(change, old, given)
        if change == "cmpxchg":
            equal = b.value(f"icmp eq {type_} {old}, {given[0]}")
            return b.value(f"select i1 {equal}, {type_} {given[1]}, {type_} {old}")
        return changed(b, change, type_, old, given[0])

    def _updated(self, change: Update, old: str, given: Sequence[str]) -> str:
        b, type_ = self.builder, self._type
        access = WarpAtomics(b)
        shape = BlockShape((1, 1, 1), width=b.width)
        lane = FastLanes(access, LocalMemory(access, 0), shape, Promises((1, 1, 1)))
        values = [Value(type_, name, lane.same) for name in (old, *given)]
        if change.usual is None:
            return lane.exact(change.make(lane, *values)).ir
        usual, holds = change.usual(lane, *values)
        name, short, long, done = lane.exact(usual).ir, b.label("usual"), b.label("whole"), b.label("new")
        b.jump(short)
        b.place(short)
        b.branch(b.value(f"xor i1 {holds.ir}, true"), long, done, unlikely=True)
        b.place(long)
        whole = lane.exact(change.make(lane, *values)).ir
        end = b.label("made")
        b.jump(end)
        b.place(end)
        b.jump(done)
        b.place(done)
        return b.phi(type_, (name, short), (whole, end))
