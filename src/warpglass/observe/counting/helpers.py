"""The rules of rules.py as generated code: what an access costs whose pattern is known only at run time.

`@wg_row_RULE_SIZE(addresses, mask)` computes the four numbers; the counting functions add them to a site's
totals. Most accesses repeat what was met before, so every worker remembers the latest results:
`@wg_count_RULE_SIZE(totals, memory, addresses, mask)` by acting lanes, their distances from the first of them
and the place within 128 bytes, in slots that all sites of a rule and size share; where distances are known,
`@wg_count_RULE_SIZE_at(totals, memory, base, mask, distances)` by acting lanes and place.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from .atomic_code import ATOMIC_SHARED, global_rounds_row, shared_atomic_row, shared_tries_row
from .row_code import DISTINCT, PASSES, global_row, local_row, shared_row, splat

TOTALS = 4  # words of a site
SLOTS = 16
# Slots of accesses at known distances, and their words: mask and place, then the four numbers.
KNOWN_SLOTS, _KNOWN_WORDS = 64, 5
# A slot's words: its mask, the places whose numbers it knows (a bit each), distances, and numbers by place.
_MASK, _KNOWN, _DISTANCES, _NUMBERS = 0, 1, 3, 35

Helper = tuple[str, int]  # rule and bytes per lane

_DECLARATIONS = frozenset(
    {
        "declare i32 @llvm.cttz.i32(i32, i1)",
        "declare i32 @llvm.ctpop.i32(i32)",
        "declare i64 @llvm.ctpop.i64(i64)",
        "declare i64 @llvm.vector.reduce.umin.v32i64(<32 x i64>)",
        "declare i64 @llvm.vector.reduce.umax.v32i64(<32 x i64>)",
        "declare i64 @llvm.vector.reduce.or.v32i64(<32 x i64>)",
        "declare i8 @llvm.vector.reduce.umax.v32i8(<32 x i8>)",
    }
)


def counting_helpers(used: set[Helper], declarations: set[str]) -> str:
    """The definitions of every helper in use and of what they share."""
    if not used:
        return ""
    declarations |= _DECLARATIONS
    parts = [DISTINCT, PASSES, ATOMIC_SHARED]
    for rule, size in sorted(used):
        parts += [_ROWS[rule](size), _count(rule, size)]
    return "".join(parts)


def _matrix_row(count: int, size: int) -> str:
    return shared_row(f"shared_matrix{count}", size, 8 * count)


# The code of each rule of rules.py.
_ROWS: dict[str, Callable[[int], str]] = {
    "global": global_row,
    "shared_load": lambda size: shared_row("shared_load", size),
    "shared_store": lambda size: shared_row("shared_store", size),
    **{f"shared_matrix{n}": partial(_matrix_row, n) for n in (1, 2, 4)},
    "local": local_row,
    "global_atomic": lambda size: global_rounds_row("global_atomic", size, 32),
    "global_swap": lambda size: global_rounds_row("global_swap", size, 8),
    "shared_atomic": lambda size: shared_atomic_row("shared_atomic", size, 1),
    "shared_swap": lambda size: shared_atomic_row("shared_swap", size, 2),
    "shared_tries": lambda size: shared_tries_row("shared_tries", size),
}


def _period(rule: str) -> int:
    """Bytes within which an address's place makes a difference: lines are fixed, of banks only words."""
    return 128 if rule.startswith("global") else 4


def _places(rule: str, size: int) -> int:
    return max(1, _period(rule) // size)


def _slot_words(rule: str, size: int) -> int:
    return _NUMBERS + 4 * _places(rule, size)


def memory_words(helper: Helper) -> int:
    """Words that a helper remembers patterns in."""
    return SLOTS * _slot_words(*helper)


KNOWN_MEMORY = KNOWN_SLOTS * _KNOWN_WORDS  # words for one set of known distances


def _count(rule: str, size: int) -> str:
    return f"""
define internal void @wg_count_{rule}_{size}(
  ptr %totals, ptr %memory, <32 x i64> %a, i32 %mask
) noinline #0 {{
entry:
  %lane.0 = extractelement <32 x i64> %a, i32 0
  %full = icmp eq i32 %mask, -1
  br i1 %full, label %look, label %part
part:
  %none = icmp eq i32 %mask, 0
  br i1 %none, label %done, label %some
some:
  %buffer = alloca <32 x i64>, align 64
  store <32 x i64> %a, ptr %buffer
  %lane = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %lane.p = getelementptr i64, ptr %buffer, i32 %lane
  %lane.first = load i64, ptr %lane.p
  {splat("%lane.first", "lanes.first")}
  %lanes = bitcast i32 %mask to <32 x i1>
  %inside = select <32 x i1> %lanes, <32 x i64> %a, <32 x i64> %lanes.first
  br label %look
look:
  %first = phi i64 [ %lane.0, %entry ], [ %lane.first, %some ]
  %all = phi <32 x i64> [ %a, %entry ], [ %inside, %some ]
  {splat("%first", "firsts")}
  %distances = sub <32 x i64> %all, %firsts
  %end = extractelement <32 x i64> %distances, i32 31
  %middle = extractelement <32 x i64> %distances, i32 16
  %mask.wide = zext i32 %mask to i64
  %mix.0 = mul i64 %middle, 2246822507
  %mix.1 = add i64 %mix.0, %end
  %mix.2 = mul i64 %mix.1, 3266489909
  %mix.3 = add i64 %mix.2, %mask.wide
  %mix.4 = mul i64 %mix.3, -7046029254386353131
  %slot = lshr i64 %mix.4, {65 - SLOTS.bit_length()}
  %slot.p = getelementptr [{_slot_words(rule, size)} x i64], ptr %memory, i64 %slot
  %known.p = getelementptr i64, ptr %slot.p, i64 {_KNOWN}
  %distances.p = getelementptr i64, ptr %slot.p, i64 {_DISTANCES}
  %key = or i64 %mask.wide, 4294967296
  %kept = load i64, ptr %slot.p
  %before = load <32 x i64>, ptr %distances.p, align 8
  %differs = icmp ne <32 x i64> %distances, %before
  %differing = bitcast <32 x i1> %differs to i32
  %same.distances = icmp eq i32 %differing, 0
  %same.mask = icmp eq i64 %kept, %key
  %met = and i1 %same.distances, %same.mask
  br i1 %met, label %place, label %replace
replace:
  store i64 %key, ptr %slot.p
  store <2 x i64> zeroinitializer, ptr %known.p, align 8
  store <32 x i64> %distances, ptr %distances.p, align 8
  br label %place
place:
  %offset = and i64 %first, {_period(rule) - 1}
  %number = lshr i64 %offset, {min(size, _period(rule)).bit_length() - 1}
  %numbers.p = getelementptr i64, ptr %slot.p, i64 {_NUMBERS}
  %row.p = getelementptr [4 x i64], ptr %numbers.p, i64 %number
  %word = lshr i64 %number, 6
  %bits.p = getelementptr i64, ptr %known.p, i64 %word
  %bits = load i64, ptr %bits.p
  %bit.place = and i64 %number, 63
  %bit = shl i64 1, %bit.place
  %there = and i64 %bits, %bit
  %fresh = icmp eq i64 %there, 0
  br i1 %fresh, label %compute, label %add
compute:
  %computed = call <4 x i64> @wg_row_{rule}_{size}(<32 x i64> %all, i32 %mask)
  store <4 x i64> %computed, ptr %row.p, align 8
  %bits.more = or i64 %bits, %bit
  store i64 %bits.more, ptr %bits.p
  br label %add
add:
  %row = load <4 x i64>, ptr %row.p, align 8
  %before.sum = load <4 x i64>, ptr %totals, align 8
  %sum = add <4 x i64> %before.sum, %row
  store <4 x i64> %sum, ptr %totals, align 8
  br label %done
done:
  ret void
}}

define internal void @wg_count_{rule}_{size}_at(
  ptr %totals, ptr %memory, i64 %base, i32 %mask, ptr %table
) noinline #0 {{
entry:
  %none = icmp eq i32 %mask, 0
  br i1 %none, label %done, label %some
some:
  %place = and i64 %base, {_period(rule) - 1}
  %place.high = shl i64 %place, 33
  %mask.wide = zext i32 %mask to i64
  %pattern = or i64 %place.high, %mask.wide
  %key = or i64 %pattern, 4294967296
  %mix = mul i64 %key, -7046029254386353131
  %slot = lshr i64 %mix, {65 - KNOWN_SLOTS.bit_length()}
  %slot.p = getelementptr [{_KNOWN_WORDS} x i64], ptr %memory, i64 %slot
  %row.p = getelementptr i64, ptr %slot.p, i64 1
  %kept = load i64, ptr %slot.p
  %met = icmp eq i64 %kept, %key
  br i1 %met, label %add, label %compute
compute:
  {splat("%base", "bases")}
  %distances = load <32 x i64>, ptr %table, align 8
  %a = add <32 x i64> %bases, %distances
  %buffer = alloca <32 x i64>, align 64
  store <32 x i64> %a, ptr %buffer
  %lane = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %lane.p = getelementptr i64, ptr %buffer, i32 %lane
  %first = load i64, ptr %lane.p
  {splat("%first", "firsts")}
  %lanes = bitcast i32 %mask to <32 x i1>
  %all = select <32 x i1> %lanes, <32 x i64> %a, <32 x i64> %firsts
  %computed = call <4 x i64> @wg_row_{rule}_{size}(<32 x i64> %all, i32 %mask)
  store <4 x i64> %computed, ptr %row.p, align 8
  store i64 %key, ptr %slot.p
  br label %add
add:
  %row = load <4 x i64>, ptr %row.p, align 8
  %before.sum = load <4 x i64>, ptr %totals, align 8
  %sum = add <4 x i64> %before.sum, %row
  store <4 x i64> %sum, ptr %totals, align 8
  br label %done
done:
  ret void
}}
"""
