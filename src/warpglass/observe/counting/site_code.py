"""What is called where the cost of an access shows at run time only: it adds the four numbers to a site's.

Most accesses are what the same site met lately, so that is compared first, in place where sites are few
(`@wg_count`): the acting lanes, their distances from lane 0, and the place within the rule's period; where
distances are known (`@wg_count_at`), lanes and place. What a site does not remember, the compiled rules
compute (native.py).
"""

from __future__ import annotations

from .native import SYMBOL
from .rules import SLOTS, Rule

TOTALS = 4  # words of a site's sums
# A site remembers several accesses, behind its totals: the numbers of each, its key, its distances.
_ENTRIES, _KEY, _BEFORE = 32, 4, 5
KNOWN_SITE = TOTALS + _ENTRIES * _BEFORE  # words of a site where distances are known
# Of the hash that finds an entry: a de Bruijn sequence, so that no two powers of two meet, and what a search
# found to keep apart the warps of a reduction or a scan, whose lanes halve while their distance doubles.
_STEP_FACTOR, _MASK_FACTOR = 78977527, -1333110269
INLINED = 24  # sites up to which their code is put in place, which costs time to compile


def distance_bits(rule: Rule) -> int:
    """The width in which distances between lanes are compared: those of global memory may be large."""
    return 64 if rule.is_global else 32


def site_words(bits: int) -> int:
    """Words of a site that compares distances of so many bits."""
    return TOTALS + _ENTRIES * _entry_words(bits)


def _entry_words(bits: int) -> int:
    return _BEFORE + bits // 2


def site_code(inlined: bool) -> str:
    """The definitions of everything that is called at sites."""
    linkage = "alwaysinline" if inlined else "noinline"
    return f"""
declare void @{SYMBOL}(ptr, i64, ptr, i64, i64, ptr) nonlazybind

define internal void @wg_cost(
  ptr %row, i64 %rule, i64 %size, <32 x i64> %a, i32 %mask
) noinline cold #0 {{
  %addresses = alloca <32 x i64>, align 64
  %work = alloca [{SLOTS + 1} x i64], align 64
  store <32 x i64> %a, ptr %addresses
  %wide = zext i32 %mask to i64
  call void @{SYMBOL}(ptr %row, i64 %rule, ptr %addresses, i64 %wide, i64 %size, ptr %work)
  ret void
}}

define internal void @wg_cost_at(
  ptr %row, i64 %rule, i64 %size, i64 %base, ptr %table, i32 %mask
) noinline cold #0 {{
  {_splat("%base", "bases")}
  %distances = load <32 x i64>, ptr %table, align 8
  %a = add <32 x i64> %bases, %distances
  call void @wg_cost(ptr %row, i64 %rule, i64 %size, <32 x i64> %a, i32 %mask)
  ret void
}}

{"".join(_count(bits, linkage) for bits in (32, 64))}
define internal void @wg_count_at(
  ptr %site, i64 %rule, i64 %size, i64 %period, i64 %base, i32 %mask, ptr %table
) {linkage} #0 {{
  {_find("%base", "0", _BEFORE)}
  br i1 %same.key, label %add, label %compute
compute:
  store i64 %key, ptr %key.p
  call void @wg_cost_at(ptr %row.p, i64 %rule, i64 %size, i64 %base, ptr %table, i32 %mask)
  br label %add
add:
  {_ADD}
  ret void
}}
"""


def _count(bits: int, linkage: str) -> str:
    """`@wg_count` for distances of so many bits."""
    word = f"i{bits}"
    narrow = "" if bits == 64 else f"\n  %distances = trunc <32 x i64> %distances.all to <32 x {word}>"
    whole = "distances" if bits == 64 else "distances.all"
    return f"""
define internal void @wg_count_{bits}(
  ptr %site, i64 %rule, i64 %size, i64 %period, <32 x i64> %given, i32 %mask
) {linkage} #0 {{
  %a = freeze <32 x i64> %given
  %lane.0 = extractelement <32 x i64> %a, i32 0
  {_splat("%lane.0", "lanes.0")}
  %{whole} = sub <32 x i64> %a, %lanes.0{narrow}
  %lane.1 = extractelement <32 x i64> %a, i32 1
  %step = sub i64 %lane.1, %lane.0
  %step.low = trunc i64 %step to i32
  {_find("%lane.0", "%step.low", _entry_words(bits))}
  %before.p = getelementptr i64, ptr %row.p, i64 {_BEFORE}
  %before = load <32 x {word}>, ptr %before.p, align 8
  %differs = icmp ne <32 x {word}> %distances, %before
  %differing = bitcast <32 x i1> %differs to i32
  %others = and i32 %differing, %mask
  %same = icmp eq i32 %others, 0
  %met = and i1 %same, %same.key
  br i1 %met, label %add, label %compute
compute:
  store <32 x {word}> %distances, ptr %before.p, align 8
  store i64 %key, ptr %key.p
  call void @wg_cost(ptr %row.p, i64 %rule, i64 %size, <32 x i64> %a, i32 %mask)
  br label %add
add:
  {_ADD}
  ret void
}}
"""


def _splat(value: str, into: str) -> str:
    """Instructions that put an i64 into every lane of a vector."""
    return f"""%{into}.one = insertelement <32 x i64> poison, i64 {value}, i32 0
  %{into} = shufflevector <32 x i64> %{into}.one, <32 x i64> poison, <32 x i32> zeroinitializer"""


def _find(address: str, step: str, words: int) -> str:
    """The entry for the acting lanes and the place, by a key that is never 0, and whether it has them.

    Which entry that is depends on a distance, too; places of words within 128 bytes never share one.
    """
    return f"""%within = sub i64 %period, 1
  %place = and i64 {address}, %within
  %place.high = shl i64 %place, 33
  %mask.wide = zext i32 %mask to i64
  %pattern = or i64 %place.high, %mask.wide
  %key = or i64 %pattern, 4294967296
  %mix.step = mul i32 {step}, {_STEP_FACTOR}
  %mix.mask = mul i32 %mask, {_MASK_FACTOR}
  %mixed.step = lshr i32 %mix.step, {33 - _ENTRIES.bit_length()}
  %mixed.mask = lshr i32 %mix.mask, {33 - _ENTRIES.bit_length()}
  %mixed = add i32 %mixed.step, %mixed.mask
  %place.low = trunc i64 %place to i32
  %word = lshr i32 %place.low, 2
  %number = add i32 %mixed, %word
  %entry = and i32 %number, {_ENTRIES - 1}
  %entries.p = getelementptr i64, ptr %site, i64 {TOTALS}
  %row.p = getelementptr [{words} x i64], ptr %entries.p, i32 %entry
  %key.p = getelementptr i64, ptr %row.p, i64 {_KEY}
  %last = load i64, ptr %key.p
  %same.key = icmp eq i64 %last, %key"""


_ADD = """%row = load <4 x i64>, ptr %row.p, align 8
  %before.sum = load <4 x i64>, ptr %site, align 8
  %sum = add <4 x i64> %before.sum, %row
  store <4 x i64> %sum, ptr %site, align 8"""
