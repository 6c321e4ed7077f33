"""Atomic operations on memory, as LLVM IR: one outlined function per operation, type and number of elements.

The active lanes take their turn in lane order; each address is tried against the site's range first. What
is done to an element is element_changes.py's. In a launch on one thread nobody can come between.
"""

from __future__ import annotations

from ...isa.types import BITS
from ..builder import Builder, widened
from ..context import READ, SITE_WORDS, SLOT, WRITE
from ..runtime import endings
from .atomic_forms import Atomic
from .element_changes import ElementChange

_HELPER = """
define internal i1 @{name}(
  ptr %context, i64 %site, i1 %generic, {lanes} %mask, ptr %addresses, ptr %values, ptr %others
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
  %none = icmp eq {lanes} %mask, 0
  br i1 %none, label %done, label %lanes
lanes:
  %rest = phi {lanes} [ %mask, %entry ], [ %rest.next, %acted ]
  %lane = call {lanes} @llvm.cttz.{lanes}({lanes} %rest, i1 true)
  %lane.wide = {lane_wide}
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
  %minus = sub {lanes} %rest, 1
  %rest.next = and {lanes} %rest, %minus
  %last = icmp eq {lanes} %rest.next, 0
  br i1 %last, label %done, label %lanes
done:
{done}
fault:
{fault}}}
"""


def atomic_helper(atomic: Atomic, declarations: set[str], width: int, *, refusing: bool) -> str:
    """An operation's function: old elements go where the operands came from; true after a fault.

    `refusing` says that a lane that may not access its address is left out.
    """
    declarations.add("declare i64 @llvm.fshr.i64(i64, i64, i64)")
    declarations.add(f"declare i{width} @llvm.cttz.i{width}(i{width}, i1)")
    size = BITS[atomic.type] // 8 * atomic.count
    builder = Builder(declarations, width)
    for element in range(atomic.count):
        _Element(builder, atomic, element).act()
    return _HELPER.format(
        name=atomic.name,
        lanes=builder.lanes,
        lane_wide=widened("%lane", width),
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
        self.type = atomic.type
        size = BITS[atomic.type] // 8
        self._change = ElementChange(builder, atomic.change, atomic.type, builder.offset("%p", number * size))
        buffers = ("%values", "%others")[: atomic.operands]
        self.kept = [self._operand(buffer, number * builder.width * size) for buffer in buffers]

    def _operand(self, buffer: str, start: int) -> str:
        """Where an operand's lane lies."""
        first = self.builder.offset(buffer, start)
        return self.builder.value(f"getelementptr {self.type}, ptr {first}, i64 %lane.wide")

    def act(self) -> None:
        """Replace the element; the old one goes where the first operand was."""
        b = self.builder
        given = [b.load(self.type, place) for place in self.kept]
        b.store(self.type, self._change.either("%alone", given), self.kept[0])
