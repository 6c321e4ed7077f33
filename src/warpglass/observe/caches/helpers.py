"""The simulated caches as LLVM IR.

A set is an array of ways, the latest used first. A way of the first level holds `line << 4 | valid`, of the
second `line << 8 | dirty << 4 | valid`, with one bit per sector; 0 is an empty way.
"""

from __future__ import annotations

from ...codegen.context import LOCAL_WINDOW, SHARED_WINDOW
from ...models.caches import Geometry
from ...models.memory_rules import FirstLevel
from .fetches import FETCHES

# The fields of models.caches.Traffic, in the order in which they lie in memory.
COUNTS = (
    "l1_sectors",
    "l1_hits",
    "l2_reads",
    "l2_writes",
    "l2_atomics",
    "l2_hits",
    "dram_reads",
    "dram_writes",
    "l2_lines",
    "lone_reads",
    "lone_writes",
    "l1_waits",
    "dram_waits",
    "first_l1",
    "first_l2",
    "first_dram",
)

_DECLARATIONS = frozenset(
    {
        "declare i32 @llvm.cttz.i32(i32, i1)",
        "declare i64 @llvm.cttz.i64(i64, i1)",
        "declare i64 @llvm.ctpop.i64(i64)",
        "declare i64 @llvm.vector.reduce.or.v32i64(<32 x i64>)",
    }
)


def cache_helpers(used: set[str], geometry: Geometry, declarations: set[str]) -> str:
    """The definitions for the kinds of access in use: "read", "bypass", "write", "atomic"."""
    if not used:
        return ""
    declarations |= _DECLARATIONS
    first = _find("l1", geometry.l1_sets, geometry.l1_ways, 4, write_back=False)
    second = _find("l2", geometry.l2_sets, geometry.l2_ways, 8, write_back=True)
    walks = "".join(_walk(kind, geometry) for kind in sorted(used))
    return _ADD + FETCHES + _LONE_READ + first + second + _L2_READ + _L2_WRITE + walks


def _count(name: str) -> int:
    return COUNTS.index(name)


def _add_lone_writes(sectors: str) -> str:
    """Count the sectors of a line whose neighbour in the same 64 bytes does not move with them."""
    return f"""%lone.next = lshr i64 {sectors}, 1
  %lone.differ = xor i64 {sectors}, %lone.next
  %lone = and i64 %lone.differ, 5
  call void @wg_cache_add(ptr %counts, i64 {_count("lone_writes")}, i64 %lone)"""


_ADD = """
define internal void @wg_farthest(ptr %worst, i32 %level) alwaysinline #0 {
  %before = load i32, ptr %worst
  %more = icmp ugt i32 %level, %before
  %after = select i1 %more, i32 %level, i32 %before
  store i32 %after, ptr %worst
  ret void
}
define internal void @wg_cache_add(ptr %counts, i64 %which, i64 %sectors) alwaysinline #0 {
  %n = call i64 @llvm.ctpop.i64(i64 %sectors)
  %p = getelementptr i64, ptr %counts, i64 %which
  %before = load i64, ptr %p
  %after = add i64 %before, %n
  store i64 %after, ptr %p
  ret void
}
"""


def _find(level: str, sets: int, ways: int, shift: int, *, write_back: bool) -> str:
    """`@wg_LEVEL_find(cache, line, insert)`: a pointer to the line's way, moved to the front of its set.

    If the line is not there it takes the place of the last, if it may be inserted; null if not.
    """
    evict = (
        f"""%dirty.high = lshr i64 %last, 4
  %dirty = and i64 %dirty.high, 15
  call void @wg_cache_add(ptr %counts, i64 {_count("dram_writes")}, i64 %dirty)
  {_add_lone_writes("%dirty")}
  br label %shift"""
        if write_back
        else "br label %shift"
    )
    return f"""
define internal ptr @wg_{level}_find(ptr %counts, ptr %cache, i64 %line, i1 %insert) noinline #0 {{
entry:
  %mix.1 = lshr i64 %line, {sets.bit_length() - 1}
  %mix.2 = lshr i64 %line, {2 * (sets.bit_length() - 1)}
  %mix.3 = xor i64 %mix.1, %mix.2
  %mix.4 = xor i64 %mix.3, %line
  %set = and i64 %mix.4, {sets - 1}
  %ways = getelementptr [{ways} x i64], ptr %cache, i64 %set
  br label %look
look:
  %way = phi i64 [ 0, %entry ], [ %way.next, %other ]
  %way.p = getelementptr i64, ptr %ways, i64 %way
  %found = load i64, ptr %way.p
  %tag = lshr i64 %found, {shift}
  %same = icmp eq i64 %tag, %line
  br i1 %same, label %shift, label %other
other:
  %way.next = add i64 %way, 1
  %more = icmp ult i64 %way.next, {ways}
  br i1 %more, label %look, label %absent
absent:
  br i1 %insert, label %evict, label %nothing
nothing:
  ret ptr null
evict:
  %last.p = getelementptr i64, ptr %ways, i64 {ways - 1}
  %last = load i64, ptr %last.p
  {evict}
shift:
  %from = phi i64 [ %way, %look ], [ {ways - 1}, %evict ]
  %front = phi i64 [ %found, %look ], [ 0, %evict ]
  %fresh = shl i64 %line, {shift}
  %is.fresh = icmp eq i64 %front, 0
  %head = select i1 %is.fresh, i64 %fresh, i64 %front
  br label %move
move:
  %k = phi i64 [ %from, %shift ], [ %k.less, %one ]
  %end = icmp eq i64 %k, 0
  br i1 %end, label %place, label %one
one:
  %k.less = sub i64 %k, 1
  %before.p = getelementptr i64, ptr %ways, i64 %k.less
  %before = load i64, ptr %before.p
  %here.p = getelementptr i64, ptr %ways, i64 %k
  store i64 %before, ptr %here.p
  br label %move
place:
  store i64 %head, ptr %ways
  ret ptr %ways
}}
"""


# Sectors that come from DRAM without their neighbours, less those that had come so and now have theirs.
_LONE_READ = f"""
define internal void @wg_lone_read(ptr %counts, ptr %table, i64 %line, i64 %sectors) noinline #0 {{
  %more = call i64 @wg_lone(ptr %table, i64 %line, i64 %sectors)
  %p = getelementptr i64, ptr %counts, i64 {_count("lone_reads")}
  %before = load i64, ptr %p
  %after = add i64 %before, %more
  store i64 %after, ptr %p
  ret void
}}
"""

_L2_READ = f"""
define internal i32 @wg_l2_read(
  ptr %counts, ptr %l2, ptr %table, i64 %line, i64 %sectors, i32 %stamp
) noinline #0 {{
entry:
  call void @wg_cache_add(ptr %counts, i64 {_count("l2_reads")}, i64 %sectors)
  call void @wg_cache_add(ptr %counts, i64 {_count("l2_lines")}, i64 1)
  %way = call ptr @wg_l2_find(ptr %counts, ptr %l2, i64 %line, i1 true)
  %before = load i64, ptr %way
  %hits = and i64 %before, %sectors
  call void @wg_cache_add(ptr %counts, i64 {_count("l2_hits")}, i64 %hits)
  %misses = xor i64 %hits, %sectors
  call void @wg_cache_add(ptr %counts, i64 {_count("dram_reads")}, i64 %misses)
  %after = or i64 %before, %sectors
  store i64 %after, ptr %way
  %there = icmp eq i64 %misses, 0
  br i1 %there, label %found, label %missed
found:
  %wait = call i32 @wg_wait(ptr %table, i64 %line, i64 %sectors, i32 %stamp)
  %far = icmp eq i32 %wait, 3
  br i1 %far, label %waits, label %near
waits:
  call void @wg_cache_add(ptr %counts, i64 {_count("dram_waits")}, i64 %hits)
  ret i32 2
near:
  call void @wg_fetched(ptr %table, i64 %line, i64 %sectors, i32 %stamp, i32 0)
  ret i32 1
missed:
  call void @wg_fetched(ptr %table, i64 %line, i64 %misses, i32 %stamp, i32 1)
  call void @wg_lone_read(ptr %counts, ptr %table, i64 %line, i64 %misses)
  ret i32 2
}}
"""

# A write needs nothing from DRAM, a sector knows which bytes it has; an atomic reads what it changes.
_L2_WRITE = f"""
define internal void @wg_l2_write(
  ptr %counts, ptr %l2, ptr %table, i64 %line, i64 %sectors, i1 %atomic
) noinline #0 {{
entry:
  %which = select i1 %atomic, i64 {_count("l2_atomics")}, i64 {_count("l2_writes")}
  call void @wg_cache_add(ptr %counts, i64 %which, i64 %sectors)
  call void @wg_cache_add(ptr %counts, i64 {_count("l2_lines")}, i64 1)
  %way = call ptr @wg_l2_find(ptr %counts, ptr %l2, i64 %line, i1 true)
  %before = load i64, ptr %way
  %hits = and i64 %before, %sectors
  %absent = xor i64 %hits, %sectors
  %found = select i1 %atomic, i64 %hits, i64 %sectors
  call void @wg_cache_add(ptr %counts, i64 {_count("l2_hits")}, i64 %found)
  %fetched = select i1 %atomic, i64 %absent, i64 0
  call void @wg_cache_add(ptr %counts, i64 {_count("dram_reads")}, i64 %fetched)
  %dirty = shl i64 %sectors, 4
  %marks = or i64 %sectors, %dirty
  %after = or i64 %before, %marks
  store i64 %after, ptr %way
  %nothing = icmp eq i64 %fetched, 0
  br i1 %nothing, label %done, label %missed
missed:
  call void @wg_fetched(ptr %table, i64 %line, i64 %fetched, i32 0, i32 1)
  call void @wg_lone_read(ptr %counts, ptr %table, i64 %line, i64 %fetched)
  br label %done
done:
  ret void
}}
"""

_ACT = {
    "read": f"""call void @wg_cache_add(ptr %counts, i64 {_count("l1_sectors")}, i64 %sectors)
  %way = call ptr @wg_l1_find(ptr %counts, ptr %l1, i64 %line, i1 true)
  %before = load i64, ptr %way
  %hits = and i64 %before, %sectors
  call void @wg_cache_add(ptr %counts, i64 {_count("l1_hits")}, i64 %hits)
  %after = or i64 %before, %sectors
  store i64 %after, ptr %way
  %misses = xor i64 %hits, %sectors
  %some = icmp ne i64 %hits, 0
  br i1 %some, label %look, label %beyond
look:
  %wait = call i32 @wg_wait(ptr %table, i64 %line, i64 %hits, i32 %stamp)
  %waits = icmp ne i32 %wait, 0
  %late = select i1 %waits, i64 %hits, i64 0
  call void @wg_cache_add(ptr %counts, i64 {_count("l1_waits")}, i64 %late)
  %far = icmp eq i32 %wait, 3
  %later = select i1 %far, i64 %hits, i64 0
  call void @wg_cache_add(ptr %counts, i64 {_count("dram_waits")}, i64 %later)
  %level = lshr i32 %wait, 1
  %dram = and i32 %wait, 1
  %from = add i32 %level, %dram
  call void @wg_farthest(ptr %worst, i32 %from)
  br label %beyond
beyond:
  %all.there = icmp eq i64 %misses, 0
  br i1 %all.there, label %next, label %go_on
go_on:
  %brought = call i32 @wg_l2_read(ptr %counts, ptr %l2, ptr %table, i64 %line, i64 %misses, i32 %stamp)
  call void @wg_farthest(ptr %worst, i32 %brought)
  br label %next""",
    "write": f"""call void @wg_cache_add(ptr %counts, i64 {_count("l1_sectors")}, i64 %sectors)
  %way = call ptr @wg_l1_find(ptr %counts, ptr %l1, i64 %line, i1 false)
  %missing = icmp eq ptr %way, null
  br i1 %missing, label %go_on, label %update
update:
  %before = load i64, ptr %way
  %hits = and i64 %before, %sectors
  call void @wg_cache_add(ptr %counts, i64 {_count("l1_hits")}, i64 %hits)
  AFTERWARDS
  br label %go_on
go_on:
  call void @wg_l2_write(ptr %counts, ptr %l2, ptr %table, i64 %line, i64 %sectors, i1 false)
  br label %next""",
    # Strong loads, and those that ask for it, do not look at the first level.
    "bypass": f"""call void @wg_cache_add(ptr %counts, i64 {_count("l1_sectors")}, i64 %sectors)
  %brought = call i32 @wg_l2_read(ptr %counts, ptr %l2, ptr %table, i64 %line, i64 %sectors, i32 %stamp)
  call void @wg_farthest(ptr %worst, i32 %brought)
  br label %next""",
    "atomic": """call void @wg_l2_write(ptr %counts, ptr %l2, ptr %table, i64 %line, i64 %sectors, i1 true)
  br label %next""",
}


# What a store leaves of a line that the first level has: before 7.0 nothing.
_DROP = """%dropped = and i64 %before, -16
  store i64 %dropped, ptr %way"""


# How far an access of a block's first warp had to go.
_FIRST = f"""br i1 %leads, label %first, label %done
first:
  %far.off = load i32, ptr %worst
  %far.wide = zext i32 %far.off to i64
  %which = add i64 %far.wide, {_count("first_l1")}
  call void @wg_cache_add(ptr %counts, i64 %which, i64 1)
  br label %done"""


def _walk(kind: str, geometry: Geometry) -> str:
    """`@wg_cached_KIND`: an access of a warp, line by line; of loads whole lines, where those are kept."""
    filled = 15 if kind == "read" and geometry.first_level is FirstLevel.LINES else 0
    act = _ACT[kind].replace("AFTERWARDS", "" if geometry.keeps_stored else _DROP)
    return f"""
define internal void @wg_cached_{kind}(
  ptr %counts, ptr %l1, ptr %l2, ptr %table, <32 x i64> %a, i32 %mask, i1 %generic, i32 %stamp, i1 %leads
) noinline #0 {{
entry:
  %buffer = alloca <32 x i64>, align 64
  %worst = alloca i32, align 4
  store i32 0, ptr %worst
  %lines = lshr <32 x i64> %a, splat (i64 7)
  %numbers.all = lshr <32 x i64> %a, splat (i64 5)
  %numbers = and <32 x i64> %numbers.all, splat (i64 3)
  %marks = shl <32 x i64> splat (i64 1), %numbers
  store <32 x i64> %lines, ptr %buffer
  br i1 %generic, label %sort, label %test
sort:
  %window = lshr <32 x i64> %a, splat (i64 48)
  %shared = icmp eq <32 x i64> %window, splat (i64 {SHARED_WINDOW >> 48})
  %local = icmp eq <32 x i64> %window, splat (i64 {LOCAL_WINDOW >> 48})
  %elsewhere = or <32 x i1> %shared, %local
  %elsewhere.bits = bitcast <32 x i1> %elsewhere to i32
  %here = xor i32 %elsewhere.bits, -1
  %mask.global = and i32 %mask, %here
  br label %test
test:
  %start = phi i32 [ %mask, %entry ], [ %mask.global, %sort ]
  %none = icmp eq i32 %start, 0
  br i1 %none, label %done, label %take
take:
  %rest = phi i32 [ %start, %test ], [ %rest.next, %next ]
  %lane = call i32 @llvm.cttz.i32(i32 %rest, i1 true)
  %line.p = getelementptr i64, ptr %buffer, i32 %lane
  %line = load i64, ptr %line.p
  %one = insertelement <32 x i64> poison, i64 %line, i32 0
  %same = shufflevector <32 x i64> %one, <32 x i64> poison, <32 x i32> zeroinitializer
  %equal = icmp eq <32 x i64> %lines, %same
  %equal.bits = bitcast <32 x i1> %equal to i32
  %group = and i32 %equal.bits, %rest
  %rest.next = xor i32 %rest, %group
  %members = bitcast i32 %group to <32 x i1>
  %own = select <32 x i1> %members, <32 x i64> %marks, <32 x i64> zeroinitializer
  %wanted = call i64 @llvm.vector.reduce.or.v32i64(<32 x i64> %own)
  %sectors = or i64 %wanted, {filled}
  {act}
next:
  %more = icmp ne i32 %rest.next, 0
  br i1 %more, label %take, label %end
end:
  {_FIRST if kind in ("read", "bypass") else "br label %done"}
done:
  ret void
}}
"""
