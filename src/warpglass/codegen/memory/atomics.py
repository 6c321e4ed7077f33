"""Atomic operations on memory, as LLVM IR: one outlined function per operation, type and number of elements.

The active lanes take their turn in lane order; each address is tried against the site's range first. What
LLVM has an instruction for (`atomicrmw`, `cmpxchg`) uses it. Any other change of an element is the same
vocabulary as everywhere, on one lane: the element is read, changed and exchanged until nobody has come
between. Elements of 128 bits are changed under a lock, since the instruction for them wants an aligned host
address. In a launch on one thread nobody can come between, and elements are read and written.
"""

from __future__ import annotations

from ...isa.lanes import Update
from ...isa.types import BITS
from ..builder import Builder
from ..context import READ, SITE_WORDS, SLOT, WRITE
from ..lanes.fast import FastLanes
from ..runtime import endings
from ..shape import BlockShape, Promises
from ..values.value import UNIFORM, Value
from .access import Atomic
from .local import LocalMemory
from .warp_atomics import WarpAtomics, changed, is_plain

_HELPER = """
define internal i1 @{name}(
  ptr %context, i64 %site, i1 %generic, i32 %mask, ptr %addresses, ptr %values, ptr %others
) noinline #0 {{
entry:
  %sites.p = getelementptr i64, ptr %context, i64 {sites}
  %sites = load ptr, ptr %sites.p
  %site.p = getelementptr [{site_words} x i64], ptr %sites, i64 %site
  %limit.p = getelementptr i64, ptr %site.p, i64 1
  %delta.p = getelementptr i64, ptr %site.p, i64 2
  %alone.p = getelementptr i64, ptr %context, i64 {alone}
  %alone.word = load i64, ptr %alone.p
  %alone = icmp ne i64 %alone.word, 0
  %none = icmp eq i32 %mask, 0
  br i1 %none, label %done, label %lanes
lanes:
  %rest = phi i32 [ %mask, %entry ], [ %rest.next, %acted ]
  %lane = call i32 @llvm.cttz.i32(i32 %rest, i1 true)
  %lane.wide = zext i32 %lane to i64
  %address.p = getelementptr i64, ptr %addresses, i64 %lane.wide
  %address = load i64, ptr %address.p
  %low = load i64, ptr %site.p
  %limit = load i64, ptr %limit.p
  %distance = sub i64 %address, %low
  %element = call i64 @llvm.fshr.i64(i64 %distance, i64 %distance, i64 {shift})
  %near = icmp ult i64 %element, %limit
  br i1 %near, label %known, label %search
known:
  %delta.known = load i64, ptr %delta.p
  br label %act
search:
  %range = call ptr @wg_find_range(ptr %context, i64 %address, i64 {size}, i64 {need}, i1 %generic)
  %missing = icmp eq ptr %range, null
  br i1 %missing, label %fault, label %remember
remember:
  %base = load i64, ptr %range
  store i64 %base, ptr %site.p
  %bytes.p = getelementptr i64, ptr %range, i64 1
  %bytes = load i64, ptr %bytes.p
  %elements = lshr i64 %bytes, {shift}
  store i64 %elements, ptr %limit.p
  %found.p = getelementptr i64, ptr %range, i64 2
  %delta.found = load i64, ptr %found.p
  store i64 %delta.found, ptr %delta.p
  br label %act
act:
  %delta = phi i64 [ %delta.known, %known ], [ %delta.found, %remember ]
  %host = add i64 %address, %delta
  %p = inttoptr i64 %host to ptr
{act}
  br label %acted
acted:
  %minus = sub i32 %rest, 1
  %rest.next = and i32 %rest, %minus
  %last = icmp eq i32 %rest.next, 0
  br i1 %last, label %done, label %lanes
done:
{done}
fault:
{fault}}}
"""
_LOCK = "@wg_wide_lock = internal global i32 0"
_WIDEST = 64  # bits that every host can exchange at any address


def atomic_helper(atomic: Atomic, declarations: set[str], *, refusing: bool) -> str:
    """An operation's function: old elements go where the operands came from; true after a fault.

    `refusing` says that a lane that may not access its address is left out.
    """
    declarations.add("declare i64 @llvm.fshr.i64(i64, i64, i64)")
    size = BITS[atomic.type] // 8 * atomic.count
    builder = Builder(declarations)
    for element in range(atomic.count):
        _Element(builder, atomic, element).act()
    return _HELPER.format(
        name=atomic.name,
        size=size,
        shift=size.bit_length() - 1,
        need=READ | WRITE if atomic.writes else READ,
        act="\n".join(builder.lines),
        sites=SLOT["sites"],
        alone=SLOT["alone"],
        site_words=SITE_WORDS,
        **endings("acted" if refusing else ""),
    )


class _Element:
    """One of the neighbouring elements that a lane replaces."""

    def __init__(self, builder: Builder, atomic: Atomic, number: int):
        self.builder = builder
        self.change = atomic.change
        self.type = atomic.type
        size = BITS[atomic.type] // 8
        self.place = builder.offset("%p", number * size)
        buffers = ("%values", "%others")[: atomic.operands]
        self.kept = [self._operand(buffer, number * 32 * size) for buffer in buffers]

    def _operand(self, buffer: str, start: int) -> str:
        """Where an operand's lane lies."""
        first = self.builder.offset(buffer, start)
        return self.builder.value(f"getelementptr {self.type}, ptr {first}, i64 %lane.wide")

    def act(self) -> None:
        """Replace the element; the old one goes where the first operand was."""
        b = self.builder
        given = [b.load(self.type, place) for place in self.kept]
        alone, together, done = b.label("alone"), b.label("together"), b.label("replaced")
        b.branch("%alone", alone, together)
        b.place(alone)
        b.store(self.type, self._undisturbed(given), self.kept[0])
        b.jump(done)
        b.place(together)
        b.store(self.type, self._among_others(given), self.kept[0])
        b.jump(done)
        b.place(done)

    def _undisturbed(self, given: list[str]) -> str:
        """The old element, where no other thread comes to memory."""
        b, change = self.builder, self.change
        old = b.load(self.type, self.place, ", align 1")
        if isinstance(change, Update):
            new = self._changed(change, old, given) if change.writes else ""
        elif change == "cmpxchg":
            equal = b.value(f"icmp eq {self.type} {old}, {given[0]}")
            new = b.value(f"select i1 {equal}, {self.type} {given[1]}, {self.type} {old}")
        elif is_plain(change):
            new = changed(b, change, self.type, old, given[0])
        else:
            return self._among_others(given)
        if new:
            b.store(self.type, new, self.place, ", align 1")
        return old

    def _among_others(self, given: list[str]) -> str:
        """The old element, replaced at one time for all threads."""
        if isinstance(self.change, Update):
            replace = self._under_lock if BITS[self.type] > _WIDEST else self._until_undisturbed
            return replace(self.change, given)
        if self.change == "cmpxchg":
            return self._exchange(*given)[0]
        changing = f"atomicrmw {self.change} ptr {self.place}, {self.type} {given[0]} seq_cst"
        return self.builder.value(changing)

    def _exchange(self, expected: str, new: str) -> tuple[str, str]:
        """What was there, and an i1 that holds if it was what was expected and has been replaced."""
        b = self.builder
        pair = b.value(f"cmpxchg ptr {self.place}, {self.type} {expected}, {self.type} {new} seq_cst seq_cst")
        whole = f"{{ {self.type}, i1 }}"
        return b.value(f"extractvalue {whole} {pair}, 0"), b.value(f"extractvalue {whole} {pair}, 1")

    def _until_undisturbed(self, change: Update, given: list[str]) -> str:
        b = self.builder
        start, again, attempt, on = (b.label(hint) for hint in ("read", "again", "attempt", "on"))
        b.jump(start)
        b.place(start)
        first = b.load(f"atomic {self.type}", self.place, f" monotonic, align {BITS[self.type] // 8}")
        seen = b.name("seen")
        b.jump(again)
        b.place(again)
        old = b.phi(self.type, (first, start), (seen, attempt))
        new = self._changed(change, old, given)
        b.jump(attempt)
        b.place(attempt)
        found, done = self._exchange(old, new)
        b.emit(f"{seen} = bitcast {self.type} {found} to {self.type}")
        b.branch(done, on, again)
        b.place(on)
        return old

    def _under_lock(self, change: Update, given: list[str]) -> str:
        b = self.builder
        b.declarations.add(_LOCK)
        spin, on = b.label("spin"), b.label("locked")
        b.jump(spin)
        b.place(spin)
        taken = b.value("atomicrmw xchg ptr @wg_wide_lock, i32 1 acquire")
        b.branch(b.value(f"icmp eq i32 {taken}, 0"), on, spin)
        b.place(on)
        old = b.load(self.type, self.place, ", align 1")
        if change.writes:
            b.store(self.type, self._changed(change, old, given), self.place, ", align 1")
        b.store("atomic i32", "0", "@wg_wide_lock", " release, align 4")
        return old

    def _changed(self, change: Update, old: str, given: list[str]) -> str:
        access = WarpAtomics(self.builder)
        lane = FastLanes(access, LocalMemory(access, 0), BlockShape((1, 1, 1)), Promises((1, 1, 1)))
        values = [Value(self.type, name, UNIFORM) for name in (old, *given)]
        return lane.exact(change.make(lane, *values)).ir
