"""Loads of 16 bytes a lane from anywhere: one load for each lane, whose elements are then sorted by number.

A gather loads each element of each lane on its own, four times as often for a `float4`. Where gathers are
quick they are still the faster: of three used elements of four, by two fifths on Sapphire Rapids. With loads
for each lane instead, this took half the time.
"""

from __future__ import annotations

from ...isa.types import BITS
from ..builder import Builder, vector
from ..machine.target import gathers_quickly

QUAD = 16  # bytes
NOTHING = f"@wg_nothing = internal constant [{QUAD} x i8] zeroinitializer, align {QUAD}\n"


def is_quad(type_: str, count: int) -> bool:
    """Whether so many elements of a type are loaded in this way."""
    return count > 1 and BITS[type_] * count == 8 * QUAD and not gathers_quickly()


def quad_name(type_: str) -> str:
    """The name of the function for elements of a type."""
    return f"wg_quads_{type_}"


def quad_helper(type_: str, width: int) -> str:
    """`@wg_quads_T`: the elements at checked host addresses, all lanes' first ones first, to the buffer.

    Lanes that do not act get zeros.
    """
    b = Builder(set(), width)
    pointers, count = b.vector("ptr"), 8 * QUAD // BITS[type_]
    nothing = b.splat("ptr", "%nothing")
    places = b.value(
        f"select {b.vector('i1')} {b.mask_vector('%mask')}, {pointers} %at, {pointers} {nothing}"
    )
    b.store(f"volatile {pointers}", places, "%apart", ", align 64")
    one = vector(type_, count)
    loads = [
        b.load(one, b.load("volatile ptr", b.offset("%apart", 8 * lane)), ", align 1")
        for lane in range(width)
    ]
    whole = b.joined(type_, loads, count)
    for k in range(count):
        element = b.shuffle(type_, width * count, whole, range(k, width * count, count))
        b.store(b.vector(type_), element, b.offset("%buffer", k * width * BITS[type_] // 8), ", align 64")
    body = "\n".join(b.lines)
    return f"""
define internal void @{quad_name(type_)}({pointers} %at, {b.lanes} %mask, ptr %buffer) noinline #0 {{
  %nothing = getelementptr i8, ptr @wg_nothing, i64 0
  %apart = alloca {pointers}, align 64
{body}
  ret void
}}
"""
