"""Sectors that are on their way from memory, as LLVM IR: who asks for one meanwhile waits for it.

The engine runs blocks one after the other; a GPU runs those of a wave at the same time. Warps of a wave that
have made as many accesses stand at about the same place of the kernel, so a sector that one of them has asked
for is not there yet when another one asks: a stamp is made of a block's wave and the number of accesses that
its warp has made. A table has the lines fetched last, with the stamp of who asked for each sector.

Halves of 64 bytes of DRAM that are fetched one soon after the other move together, as the requests wait side
by side: the table says as well which sectors have been fetched alone, and when, in fetches from DRAM.
"""

from __future__ import annotations

_LINES = 1 << 17  # that the table has at most, as many as 16 MiB: of lines with one place the last one
_WARPS = 64  # of a block
# An entry: the line, stamps of its sectors (i32: wave, accesses, in bit 0 whether from DRAM), and of sectors
# that were fetched alone last the time << 4 | which.
_ENTRY = 4
_SLOTS = 1  # of the warps, behind the clock: the block's number and 1, and the accesses made
_ENTRIES = _SLOTS + 2 * _WARPS
_WAVE = 20  # its first bit in a stamp
TABLE_WORDS = _ENTRIES + _ENTRY * _LINES
NEAR = 4096  # fetches from DRAM between two halves that still move together

# @wg_cache_stamp: of an access of a warp. @wg_fetch: a line's entry. @wg_wait: whether an access meets
# sectors on their way: 0, 2 (from the second level), 3 (from DRAM). @wg_fetched: sectors start on their way.
# @wg_lone: how many more sectors of DRAM move alone when these are fetched; fewer if halves join.
FETCHES = f"""
define internal i32 @wg_cache_stamp(ptr %table, i64 %block, i32 %wave, i32 %warp) noinline #0 {{
  %slot = and i32 %warp, {_WARPS - 1}
  %owner.p = getelementptr [2 x i64], ptr %table, i32 %slot
  %owner.q = getelementptr i64, ptr %owner.p, i64 {_SLOTS}
  %made.p = getelementptr i64, ptr %owner.q, i64 1
  %owner = load i64, ptr %owner.q
  %own = add i64 %block, 1
  %same = icmp eq i64 %owner, %own
  %before = load i64, ptr %made.p
  %more = add i64 %before, 1
  %made = select i1 %same, i64 %more, i64 1
  store i64 %own, ptr %owner.q
  store i64 %made, ptr %made.p
  %high = shl i32 %wave, {_WAVE}
  %short = trunc i64 %made to i32
  %twice = shl i32 %short, 1
  %low = and i32 %twice, {(1 << _WAVE) - 1}
  %stamp = or i32 %high, %low
  ret i32 %stamp
}}
define internal ptr @wg_fetch(ptr %table, i64 %line) alwaysinline #0 {{
  %mix.1 = lshr i64 %line, {_LINES.bit_length() - 1}
  %mix.2 = xor i64 %mix.1, %line
  %which = and i64 %mix.2, {_LINES - 1}
  %entries = getelementptr i64, ptr %table, i64 {_ENTRIES}
  %entry = getelementptr [{_ENTRY} x i64], ptr %entries, i64 %which
  ret ptr %entry
}}
define internal i32 @wg_wait(ptr %table, i64 %line, i64 %sectors, i32 %stamp) noinline #0 {{
  %entry = call ptr @wg_fetch(ptr %table, i64 %line)
  %asked = load i64, ptr %entry
  %which = call i64 @llvm.cttz.i64(i64 %sectors, i1 true)
  %stamps = getelementptr i64, ptr %entry, i64 1
  %stamp.p = getelementptr i32, ptr %stamps, i64 %which
  %its = load i32, ptr %stamp.p
  %far = and i32 %its, 1
  %when = xor i32 %its, %far
  %same.line = icmp eq i64 %asked, %line
  %same.time = icmp eq i32 %when, %stamp
  %meets = and i1 %same.line, %same.time
  %kind = or i32 %far, 2
  %found = select i1 %meets, i32 %kind, i32 0
  ret i32 %found
}}
define internal void @wg_fetched(ptr %table, i64 %line, i64 %sectors, i32 %stamp, i32 %far) noinline #0 {{
entry:
  %entry.p = call ptr @wg_fetch(ptr %table, i64 %line)
  %asked = load i64, ptr %entry.p
  %same = icmp eq i64 %asked, %line
  br i1 %same, label %mark, label %replace
replace:
  store i64 %line, ptr %entry.p
  %rest = getelementptr i64, ptr %entry.p, i64 1
  store <3 x i64> zeroinitializer, ptr %rest, align 8
  br label %mark
mark:
  %stamps.p = getelementptr i64, ptr %entry.p, i64 1
  %stamps = load <4 x i32>, ptr %stamps.p, align 8
  %new = or i32 %stamp, %far
  %one = insertelement <4 x i32> poison, i32 %new, i32 0
  %all = shufflevector <4 x i32> %one, <4 x i32> poison, <4 x i32> zeroinitializer
  %bits = trunc i64 %sectors to i4
  %asked.for = bitcast i4 %bits to <4 x i1>
  %differ = xor <4 x i32> %stamps, %all
  %later = icmp uge <4 x i32> %differ, splat (i32 {1 << _WAVE})
  %from = and <4 x i32> %stamps, splat (i32 1)
  %from.near = icmp eq <4 x i32> %from, zeroinitializer
  %may.one = or <4 x i1> %later, %from.near
  %is.far = icmp ne i32 %far, 0
  %far.one = insertelement <4 x i1> poison, i1 %is.far, i32 0
  %far.all = shufflevector <4 x i1> %far.one, <4 x i1> poison, <4 x i32> zeroinitializer
  %may = or <4 x i1> %may.one, %far.all
  %which = and <4 x i1> %may, %asked.for
  %next = select <4 x i1> %which, <4 x i32> %all, <4 x i32> %stamps
  store <4 x i32> %next, ptr %stamps.p, align 8
  ret void
}}
define internal i64 @wg_lone(ptr %table, i64 %line, i64 %sectors) noinline #0 {{
  %clock = load i64, ptr %table
  %now = add i64 %clock, 1
  store i64 %now, ptr %table
  %others = call i64 @wg_others(i64 %sectors)
  %not.others = xor i64 %others, 15
  %lone = and i64 %sectors, %not.others
  %entry = call ptr @wg_fetch(ptr %table, i64 %line)
  %lone.p = getelementptr i64, ptr %entry, i64 3
  %kept = load i64, ptr %lone.p
  %then = lshr i64 %kept, 4
  %past = sub i64 %now, %then
  %near = icmp ule i64 %past, {NEAR}
  %waiting.any = and i64 %kept, 15
  %waiting = select i1 %near, i64 %waiting.any, i64 0
  %halves = call i64 @wg_others(i64 %waiting)
  %joined = and i64 %lone, %halves
  %left = xor i64 %lone, %joined
  %met = call i64 @wg_others(i64 %joined)
  %not.met = xor i64 %met, 15
  %old = and i64 %waiting, %not.met
  %still = or i64 %left, %old
  %high = shl i64 %now, 4
  %next = or i64 %high, %still
  store i64 %next, ptr %lone.p
  %plus = call i64 @llvm.ctpop.i64(i64 %left)
  %minus = call i64 @llvm.ctpop.i64(i64 %joined)
  %more = sub i64 %plus, %minus
  ret i64 %more
}}
define internal i64 @wg_others(i64 %sectors) alwaysinline #0 {{
  %up = shl i64 %sectors, 1
  %odd = and i64 %up, 10
  %down = lshr i64 %sectors, 1
  %even = and i64 %down, 5
  %others = or i64 %odd, %even
  ret i64 %others
}}
"""
