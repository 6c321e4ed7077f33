"""The first test of atomic operations, as LLVM IR: `@wg_not_stood_for`.

Most are forgotten (forgotten_atomics.py). A table by address says of which places that is known: an entry
has the address and until when, which is ALWAYS, the warps' floor of the interval between two barriers, or the
time of one warp. Whatever else comes to a place goes to the compiled functions, which drop its entry.
"""

from __future__ import annotations

from .....codegen.builder import Builder
from ... import layout
from .stamps import DECLARATIONS, WHOLE, gather

NAME = "wg_not_stood_for"


def not_stood_for(state_word: int, declarations: set[str]) -> str:
    """The definition of the function that returns which lanes of a mask are to be looked at."""
    declarations |= DECLARATIONS
    b = Builder(declarations)
    b.place("entry")
    state = b.value(f"inttoptr i64 {b.load('i64', b.offset('%counters', 8 * state_word))} to ptr")
    table = b.splat("i64", b.load("i64", b.offset(state, 8 * layout.STOOD_FOR)))
    b.emit("%warp64 = zext i32 %warp to i64")
    of_warp = b.value("shl i64 %warp64, 3")
    floor = b.splat("i64", b.load("i64", b.offset(b.offset(state, 8 * layout.FLOORS), of_warp)))
    time = b.load("i64", b.offset(b.offset(state, 8 * layout.TIMES), of_warp))
    who = b.value(f"or i64 {b.load('i64', b.offset(state, 8 * layout.TAG))}, 1")
    who = b.value(f"or i64 {who}, {b.value(f'shl i64 {time}, {layout.TIME_SHIFT}')}")
    who = b.splat("i64", b.value(f"or i64 {who}, {b.value(f'shl i64 %warp64, {layout.WARP_SHIFT}')}"))
    number = b.value(f"lshr {WHOLE} %address, splat (i64 {layout.STOOD_SHIFT})")
    slot = b.value(f"and {WHOLE} {number}, splat (i64 {layout.STOOD_SLOTS - 1})")
    at = b.value(f"add {WHOLE} {table}, {b.value(f'shl {WHOLE} {slot}, splat (i64 4)')}")
    lanes = b.value("bitcast i32 %mask to <32 x i1>")
    address = gather(b, at, lanes, "zeroinitializer")
    until = gather(b, b.value(f"add {WHOLE} {at}, splat (i64 8)"), lanes, "zeroinitializer")
    same = b.value(f"icmp eq {WHOLE} {address}, %address")
    now = b.value(f"icmp eq {WHOLE} {until}, {floor}")
    always = b.value(f"icmp eq {WHOLE} {until}, splat (i64 {layout.ALWAYS})")
    own = b.value(f"icmp eq {WHOLE} {until}, {who}")
    until_now = b.value(f"or <32 x i1> {b.value(f'or <32 x i1> {now}, {always}')}, {own}")
    known = b.value(f"and <32 x i1> {same}, {until_now}")
    rest = b.value(f"xor i32 {b.mask_bits(known)}, -1")
    b.emit(f"ret i32 {b.value(f'and i32 {rest}, %mask')}")
    body = "\n".join(b.lines)
    return f"""
define internal i32 @{NAME}(ptr %counters, i32 %mask, i32 %warp, {WHOLE} %address) noinline #0 {{
{body}
}}
"""
