"""Sums that a block leaves for its end, as LLVM IR: there they are done in its turn, in the order they had.

Sums of floats have the order of the blocks (program/turns.py). If nothing else in a kernel accesses the
arrays, nobody sees when a block adds, so a block need not wait for its turn at its first sum: addresses,
which are checked, and operands are kept (row_changes.py), and blocks run side by side up to their ends. Where
a block has more than there is room for, or an address has to be looked up, it takes its turn there, does what
it has kept, and goes on in its turn. Whether a launch may defer is engine/cpu/launch_plan.py's to say.
"""

from __future__ import annotations

from ...isa.lanes import Update
from ..builder import Builder
from ..context import SLOT
from ..machine.target import time_stamp
from .element_changes import ElementChange

_HELPERS = """
define internal i1 @wg_come_to_turn(ptr %context) noinline #0 {{
  %room.p = getelementptr i64, ptr %context, i64 {deferred_room}
  %room = load i64, ptr %room.p
  %defers = icmp ne i64 %room, 0
  br i1 %defers, label %later, label %now
later:
  ret i1 true
now:
  %had = call i1 @wg_take_turn(ptr %context)
  ret i1 %had
}}

define internal void @wg_stop_deferring(ptr %context) noinline #0 {{
  %room.p = getelementptr i64, ptr %context, i64 {deferred_room}
  %room = load i64, ptr %room.p
  %defers = icmp ne i64 %room, 0
  br i1 %defers, label %now, label %end
now:
  %had = call i1 @wg_take_turn(ptr %context)
  call void @wg_apply_deferred(ptr %context)
  store i64 0, ptr %room.p
  br label %end
end:
  ret void
}}

define internal void @wg_apply_deferred(ptr %context) noinline #0 {{
entry:
  %most.p = getelementptr i64, ptr %context, i64 {deferred_most}
  %most = load i64, ptr %most.p
  %room.p = getelementptr i64, ptr %context, i64 {deferred_room}
  store i64 %most, ptr %room.p
  %count.p = getelementptr i64, ptr %context, i64 {deferred_count}
  %count = load i64, ptr %count.p
  store i64 0, ptr %count.p
  %none = icmp eq i64 %count, 0
  br i1 %none, label %end, label %some
some:
  %begun = call i64 @{time_stamp}()
  %addresses.p = getelementptr i64, ptr %context, i64 {deferred}
  %addresses = load ptr, ptr %addresses.p
  %operands = getelementptr i64, ptr %addresses, i64 %most
  %alone.p = getelementptr i64, ptr %context, i64 {alone}
  %alone.word = load i64, ptr %alone.p
  %alone = icmp ne i64 %alone.word, 0
  br label %next
next:
  %i = phi i64 [ 0, %some ], [ %i.next, %changed ]
  %address.p = getelementptr ptr, ptr %addresses, i64 %i
  %place = load ptr, ptr %address.p
  %operand.p = getelementptr i64, ptr %operands, i64 %i
  %operand = load {type}, ptr %operand.p
{change}
  br label %changed
changed:
  %i.next = add i64 %i, 1
  %over = icmp eq i64 %i.next, %count
  br i1 %over, label %done, label %next
done:
  %ended = call i64 @{time_stamp}()
  %took = sub i64 %ended, %begun
  %part = udiv i64 %took, {part}
  %waited.p = getelementptr i64, ptr %context, i64 {waited}
  %waited = load i64, ptr %waited.p
  %waited.now = add i64 %waited, %part
  store i64 %waited.now, ptr %waited.p
  br label %end
end:
  ret void
}}
"""

# The part of the time for sums that counts as waiting (turns.py): others wait meanwhile, and where sums are
# most of what blocks do, they take several times as long if threads take cache lines from each other.
_PART = 3


def deferred_helpers(change: Update, type_: str, declarations: set[str]) -> str:
    """The functions by which blocks come to deferred sums, and do them: `change` on elements of a type."""
    builder = Builder(declarations)
    # Global memory's are the only ones.
    ElementChange(builder, change, type_, "%place").either("%alone", ["%operand", "0"])
    return _HELPERS.format(
        type=type_, change="\n".join(builder.lines), part=_PART, time_stamp=time_stamp(), **SLOT
    )
