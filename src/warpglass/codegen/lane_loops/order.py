"""The order in which lanes go through a loop one after the other: mostly those of fewest rounds first.

A processor foresees the end of a loop that has as many rounds as the one before, and goes on with the next
lane while the last one's results are still under way. As they come, the rows of a sparse matrix end in a
surprise each, which costs as much as several rounds. But as they come, they also lie one behind the other in
memory. That is worth more where there are more than a few rounds, unless several lanes go at once.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..builder import Builder, constant_vector
from ..machine.target import packs_bytes

# Numbers of rounds up to which lanes are put down together: all of one round, then all of two ...
_FEW = 8


def order_helper(declarations: set[str], width: int) -> str:
    """`@wg_order_lanes`: puts the numbers of a mask's lanes, bytes, in the order of their rounds (i64).

    If some have more than a few, and no `%several` go at once, lanes stay as they are. Behind those of the
    mask come the others; there is room for twice as many. Where rounds are more than a few, a lane's place is
    how many keys are below its own: its rounds, as far as they have room, and its number.
    """
    b = Builder(declarations, width)
    bits, key = width.bit_length() - 1, 16
    keys, words, most = b.vector(f"i{key}"), b.vector("i64"), (1 << key - bits) - 1
    rounds = b.load(words, "%rounds", ", align 64")
    rounds = b.intrinsic("umin", "i64", rounds, f"splat (i64 {most - 1})", lanes=width)
    active = b.mask_vector("%mask")
    chosen = f"{b.vector('i1')} {active}"
    rounds = b.value(f"select {chosen}, {words} {rounds}, {words} splat (i64 {most})")
    short = b.value(f"trunc {words} {rounds} to {keys}")
    many = b.value(f"icmp ugt {keys} {short}, splat (i{key} {_FEW})")
    many = b.someone(b.votes(many, "%mask"))
    if packs_bytes() and width in (16, 32, 64):  # of which LLVM makes one instruction
        b.branch(many, "long", "few")
        b.place("few")
        of_each = (b.value(f"icmp eq {keys} {short}, splat (i{key} {n})") for n in range(1, _FEW + 1))
        _put_down(b, (*of_each, b.value(f"icmp ugt {keys} {short}, splat (i{key} {_FEW})")))
        b.jump("done")
        b.place("long")
        b.branch("%several", "many", "stay")
        b.place("stay")
        _put_down(b, (active, b.value(f"xor {chosen}, splat (i1 true)")))
        b.jump("done")
    else:
        alike = b.value(f"select {chosen}, {keys} zeroinitializer, {keys} {short}")
        stay = b.value(f"and i1 {many}, {b.value('xor i1 %several, true')}")
        short = b.value(f"select i1 {stay}, {keys} {alike}, {keys} {short}")
        b.jump("many")
    b.place("many")
    high = b.value(f"shl {keys} {short}, splat (i{key} {bits})")
    every = b.value(f"or {keys} {high}, {constant_vector(f'i{key}', range(width))}")
    b.store(keys, every, "%keys", ", align 64")
    b.jump("lanes")
    b.place("lanes")
    lane = b.phi("i64", ("0", "many"), ("%next", "lanes"))
    own = b.splat(f"i{key}", b.load(f"i{key}", b.value(f"getelementptr i{key}, ptr %keys, i64 {lane}")))
    below = b.mask_bits(b.value(f"icmp ult {keys} {every}, {own}"))
    place = b.call(b.lanes, f"llvm.ctpop.{b.lanes}", [(b.lanes, below)])
    to = b.value(f"getelementptr i8, ptr %order, {b.lanes} {place}")
    b.store("i8", b.value(f"trunc i64 {lane} to i8"), to)
    b.emit(f"%next = add i64 {lane}, 1")
    b.branch(b.value(f"icmp ult i64 %next, {width}"), "lanes", "done")
    body = "\n".join(b.lines)
    return f"""
define internal void @wg_order_lanes(ptr %rounds, {b.lanes} %mask, i1 %several, ptr %order) noinline #0 {{
entry:
  %keys = alloca {keys}, align 64
{body}
done:
  ret void
}}
"""


def _put_down(b: Builder, groups: Iterable[str]) -> None:
    """Put down the numbers of lanes, of one group (a vector of i1) behind those of another."""
    numbers, whole = constant_vector("i8", range(b.width)), b.vector("i8")
    place = "%order"
    for group in groups:
        args = [(whole, numbers), (b.vector("i1"), group), (whole, "poison")]
        packed = b.call(whole, f"llvm.experimental.vector.compress.{b.suffix('i8')}", args)
        b.store(whole, packed, place, ", align 1")
        count = b.call(b.lanes, f"llvm.ctpop.{b.lanes}", [(b.lanes, b.mask_bits(group))])
        place = b.value(f"getelementptr i8, ptr {place}, {b.lanes} {count}")
