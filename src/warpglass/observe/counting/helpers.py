"""What is called where a pattern of access is known only at run time: it adds the rule's numbers to a site's.

Most accesses are what the same site met lately, so that is compared first, in place where sites are few
(`@wg_count_RULE_SIZE`): the acting lanes, their distances from lane 0, and the place within 128 bytes; where
distances are known (`_at`), lanes and place. Beyond that, every worker remembers results (`@wg_look_...`): by
distances, in slots that all sites of a rule and size share, or by lanes and place. The rest is computed
(row_code.py, atomic_code.py). `@wg_dense_SIZE` computes them from
the mask's bits: for lanes side by side in global memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from .atomic_code import ATOMIC_SHARED, global_rounds_row, shared_atomic_row, shared_tries_row
from .row_code import DISTINCT, PASSES, global_row, local_row, row, shared_row, splat

TOTALS = 4  # words of a site whose accesses have constant numbers
# A site remembers several accesses, behind its totals: the numbers of each, its key, its distances.
_ENTRIES, _KNOWN_ENTRIES, _KEY, _BEFORE = 8, 32, 4, 5
KNOWN_SITE = TOTALS + _KNOWN_ENTRIES * _BEFORE  # words of a site where distances are known
INLINED = 24  # sites up to which their code is put in place, which costs time to compile
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
        "declare i32 @llvm.vector.reduce.or.v32i32(<32 x i32>)",
        "declare i8 @llvm.vector.reduce.umax.v32i8(<32 x i8>)",
    }
)


def counting_helpers(used: set[Helper], inlined: bool, declarations: set[str]) -> str:
    """The definitions of every helper in use, and of what they share."""
    if not used:
        return ""
    declarations |= _DECLARATIONS
    parts = [DISTINCT, PASSES, ATOMIC_SHARED]
    for rule, size in sorted(used):
        parts += [_ROWS[rule](size), _look(rule, size), _count(rule, size, inlined)]
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


def _distance(rule: str) -> tuple[str, int]:
    """The type in which distances between lanes are compared, and its bytes."""
    return ("i64", 8) if rule.startswith("global") else ("i32", 4)


def site_words(helper: Helper) -> int:
    """Words of a site at which distances between lanes are not known."""
    return TOTALS + _ENTRIES * _entry_words(helper[0])


def _entry_words(rule: str) -> int:
    return _BEFORE + 32 * _distance(rule)[1] // 8


def memory_words(helper: Helper) -> int:
    """Words that a helper remembers patterns in."""
    return SLOTS * _slot_words(*helper)


KNOWN_MEMORY = KNOWN_SLOTS * _KNOWN_WORDS  # words for one set of known distances


def _count(rule: str, size: int, inlined: bool) -> str:
    """The code at every site: compare with what was met there lately."""
    word, _ = _distance(rule)
    narrow = "" if word == "i64" else f"\n  %distances = trunc <32 x i64> %distances.all to <32 x {word}>"
    more = "add i64 %step, 0" if word == "i64" else f"zext {word} %step to i64"
    all_ = "distances" if word == "i64" else "distances.all"
    return f"""
define internal void @wg_count_{rule}_{size}(
  ptr %site, ptr %memory, <32 x i64> %given, i32 %mask
) {_linkage(inlined)} #0 {{
  %a = freeze <32 x i64> %given
  %lane.0 = extractelement <32 x i64> %a, i32 0
  {splat("%lane.0", "lanes.0")}
  %{all_} = sub <32 x i64> %a, %lanes.0{narrow}
  %step = extractelement <32 x {word}> %distances, i32 1
  {_key(rule, "%lane.0", more)}
  %before.p = getelementptr i64, ptr %row.p, i64 {_BEFORE}
  %before = load <32 x {word}>, ptr %before.p, align 8
  %differs = icmp ne <32 x {word}> %distances, %before
  %differing = bitcast <32 x i1> %differs to i32
  %others = and i32 %differing, %mask
  %same = icmp eq i32 %others, 0
  %met = and i1 %same, %same.key
  br i1 %met, label %add, label %look
look:
  store <32 x {word}> %distances, ptr %before.p, align 8
  store i64 %key, ptr %key.p
  call void @wg_look_{rule}_{size}(ptr %row.p, ptr %memory, <32 x i64> %a, i32 %mask)
  br label %add
add:
  {_ADD}
  ret void
}}

define internal void @wg_count_{rule}_{size}_at(
  ptr %site, ptr %memory, i64 %base, i32 %mask, ptr %table
) {_linkage(inlined)} #0 {{
  {_key(rule, "%base")}
  br i1 %same.key, label %add, label %look
look:
  store i64 %key, ptr %key.p
  call void @wg_look_{rule}_{size}_at(ptr %row.p, ptr %memory, i64 %base, i32 %mask, i64 %key, ptr %table)
  br label %add
add:
  {_ADD}
  ret void
}}
"""


def _linkage(inlined: bool) -> str:
    return "alwaysinline" if inlined else "noinline"


def _key(rule: str, address: str, more: str = "") -> str:
    """A number for the acting lanes and the place, which is never 0, and whether its entry has it.

    Where distances are not known, the entry depends on one of them, too: `more`.
    """
    entries, words = (_ENTRIES, _entry_words(rule)) if more else (_KNOWN_ENTRIES, _BEFORE)
    return f"""%place = and i64 {address}, {_period(rule) - 1}
  %place.high = shl i64 %place, 33
  %mask.wide = zext i32 %mask to i64
  %pattern = or i64 %place.high, %mask.wide
  %key = or i64 %pattern, 4294967296
  %more = {more or "add i64 0, 0"}
  %mixed = mul i64 %more, 2246822507
  %mix.key = add i64 %key, %mixed
  %mix = mul i64 %mix.key, -7046029254386353131
  %entry = lshr i64 %mix, {65 - entries.bit_length()}
  %entries.p = getelementptr i64, ptr %site, i64 {TOTALS}
  %row.p = getelementptr [{words} x i64], ptr %entries.p, i64 %entry
  %key.p = getelementptr i64, ptr %row.p, i64 {_KEY}
  %last = load i64, ptr %key.p
  %same.key = icmp eq i64 %last, %key"""


_ADD = """%row = load <4 x i64>, ptr %row.p, align 8
  %before.sum = load <4 x i64>, ptr %site, align 8
  %sum = add <4 x i64> %before.sum, %row
  store <4 x i64> %sum, ptr %site, align 8"""


def dense_helper(size: int, inlined: bool) -> str:
    """The numbers of lanes side by side, from the bits of their mask alone; sizes of 4 to 16 bytes."""

    def groups(name: str, bytes_: int) -> str:
        """How many aligned pieces of so many bytes the lanes touch."""
        count = bytes_ // size
        lines = [
            f"%{name}.at = and i64 %base, {bytes_ - 1}",
            f"%{name}.lanes = lshr i64 %{name}.at, {size.bit_length() - 1}",
            f"%{name}.0 = shl i64 %wide, %{name}.lanes",
        ]
        steps = count.bit_length() - 1
        for k in range(steps):
            lines.append(f"%{name}.s{k} = lshr i64 %{name}.{k}, {1 << k}")
            lines.append(f"%{name}.{k + 1} = or i64 %{name}.{k}, %{name}.s{k}")
        starts = sum(1 << place for place in range(0, 64, count))
        lines.append(f"%{name}.starts = and i64 %{name}.{steps}, {starts - (1 << 64 if starts >> 63 else 0)}")
        lines.append(f"%{name} = call i64 @llvm.ctpop.i64(i64 %{name}.starts)")
        return "\n  ".join(lines)

    return f"""
define internal void @wg_dense_{size}(ptr %site, i64 %base, i32 %mask) {_linkage(inlined)} #0 {{
  {_key("global", "%base")}
  br i1 %same.key, label %add, label %look
look:
  %wide = zext i32 %mask to i64
  {groups("sectors", 32)}
  {groups("lines", 128)}
  %someone = icmp ne i32 %mask, 0
  %requests = zext i1 %someone to i64
  %lanes = call i64 @llvm.ctpop.i64(i64 %wide)
  %bytes = shl i64 %lanes, {size.bit_length() - 1}
  {row(["%requests", "%sectors", "%lines", "%bytes"], "%computed")}
  store <4 x i64> %computed, ptr %row.p, align 8
  store i64 %key, ptr %key.p
  br label %add
add:
  {_ADD}
  ret void
}}
"""


def _look(rule: str, size: int) -> str:
    """What a site does not remember: search what was met at any, and compute what was not."""
    return f"""
define internal void @wg_look_{rule}_{size}(
  ptr %found, ptr %memory, <32 x i64> %a, i32 %mask
) noinline #0 {{
entry:
  %lane.0 = extractelement <32 x i64> %a, i32 0
  %full = icmp eq i32 %mask, -1
  br i1 %full, label %look, label %part
part:
  %none = icmp eq i32 %mask, 0
  br i1 %none, label %nobody, label %some
nobody:
  store <4 x i64> zeroinitializer, ptr %found, align 8
  ret void
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
  store <4 x i64> %row, ptr %found, align 8
  ret void
}}

define internal void @wg_look_{rule}_{size}_at(
  ptr %found, ptr %memory, i64 %base, i32 %mask, i64 %key, ptr %table
) noinline #0 {{
entry:
  %none = icmp eq i32 %mask, 0
  br i1 %none, label %nobody, label %some
nobody:
  store <4 x i64> zeroinitializer, ptr %found, align 8
  ret void
some:
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
  store <4 x i64> %row, ptr %found, align 8
  ret void
}}
"""
