"""The first test of atomic operations, as LLVM IR: `@wg_not_stood_for`.

Most are forgotten (forgotten_atomics.py). A table by address says of which places that is known: an entry
has the address and until when, which is ALWAYS, the warps' floor of the interval between two barriers, or the
time of one warp. Whatever else comes to a place goes to the compiled functions, which drop its entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import layout
from .writer import WHOLE, Writer

if TYPE_CHECKING:
    from ...instrumentation import Instrumentation

NAME = "wg_not_stood_for"


def not_stood_for(code: Instrumentation, declarations: set[str]) -> str:
    """The definition of the function that returns which lanes of a mask are to be looked at."""
    writer = Writer(code, declarations)
    b = writer.b
    writer.start()
    table = writer.splat(writer.word(layout.STOOD_FOR))
    floor = writer.splat(writer.by_warp(layout.FLOORS))
    who = writer.splat(b.value(f"or i64 {writer.who()}, 1"))
    number = b.value(f"lshr {WHOLE} %address, splat (i64 {layout.STOOD_SHIFT})")
    slot = b.value(f"and {WHOLE} {number}, splat (i64 {layout.STOOD_SLOTS - 1})")
    at = b.value(f"add {WHOLE} {table}, {b.value(f'shl {WHOLE} {slot}, splat (i64 4)')}")
    lanes = b.value("bitcast i32 %mask to <32 x i1>")
    address = writer.gather(at, lanes, "zeroinitializer")
    until = writer.gather(b.value(f"add {WHOLE} {at}, splat (i64 8)"), lanes, "zeroinitializer")
    same = b.value(f"icmp eq {WHOLE} {address}, %address")
    if code.exact:  # what others have of the same size, in all memory or in that of this block
        near = b.value(f"or i64 {writer.word(layout.TAG)}, {layout.CHAINED_NEAR}")
        marks = [b.value(f"or i64 {one}, %log") for one in (str(layout.CHAINED), near)]
        ends = [b.value(f"icmp eq {WHOLE} {until}, {writer.splat(one)}") for one in marks]
    else:
        ends = [b.value(f"icmp eq {WHOLE} {until}, {one}") for one in (floor, who)]
        ends.append(b.value(f"icmp eq {WHOLE} {until}, splat (i64 {layout.ALWAYS})"))
    until_now = ends[0]
    for one in ends[1:]:
        until_now = b.value(f"or <32 x i1> {until_now}, {one}")
    known = b.value(f"and <32 x i1> {same}, {until_now}")
    rest = b.value(f"xor i32 {b.mask_bits(known)}, -1")
    b.emit(f"ret i32 {b.value(f'and i32 {rest}, %mask')}")
    return writer.define(f"i32 @{NAME}(ptr %counters, i32 %mask, i32 %warp, {WHOLE} %address, i64 %log)")
