"""Barriers with ids, counts and votes, as LLVM IR: what generated code calls, and the block loop's part.

Lanes that arrive and wait note that they do; once all lanes of their warp have stopped, the warp adds its 32
threads to the barrier's count, however many parts it came in, and notes the barrier's generation. Its lanes
that wait there may go on once the generation has changed. A barrier with a count opens when so many threads
have arrived, one without when all warps of the block that have not ended have. If no warp can run and none
opens, the block is deadlocked. Kernels whose barriers are all `bar.sync 0` need none of this (kernel.py).
"""

from __future__ import annotations

from ...program import Barrier, Program
from ..context import BARRIER_WORDS, BARRIERS, SLOT

# What a warp's word of a barrier says of the lanes there: counted already, or still to be.
_WAITING, _ARRIVING = 1, 2

# Where the tables are: barriers, and what warps wait for; and the rows of `%id` and `%warp` in them.
_TABLES = f"""  %barriers.p = getelementptr i64, ptr %context, i64 {SLOT["barriers"]}
  %barriers = load ptr, ptr %barriers.p
  %waits.p = getelementptr i64, ptr %context, i64 {SLOT["waits"]}
  %waits = load ptr, ptr %waits.p
"""
_ROWS = f"""  %number = and i32 %id, {BARRIERS - 1}
  %b = getelementptr [{BARRIER_WORDS} x i32], ptr %barriers, i32 %number
  %w.first = mul i32 %warp, {BARRIERS}
  %w.number = add i32 %w.first, %number
  %w = getelementptr [2 x i32], ptr %waits, i32 %w.number
"""

_HELPERS = """
define internal void @wg_open_barrier(ptr %b) noinline #0 {{
  %generation.p = getelementptr i32, ptr %b, i32 1
  %held.p = getelementptr i32, ptr %b, i32 3
  %total.p = getelementptr i32, ptr %b, i32 4
  %generation = load i32, ptr %generation.p
  %held = load i32, ptr %held.p
  %total = load i32, ptr %total.p
  %parity = and i32 %generation, 1
  %twice = shl i32 %parity, 1
  %place = add i32 %twice, 5
  %kept.held = getelementptr i32, ptr %b, i32 %place
  store i32 %held, ptr %kept.held
  %kept.total = getelementptr i32, ptr %kept.held, i32 1
  store i32 %total, ptr %kept.total
  store i32 0, ptr %held.p
  store i32 0, ptr %total.p
  store i32 0, ptr %b
  %next = add i32 %generation, 1
  store i32 %next, ptr %generation.p
  ret void
}}
define internal void @wg_arrive(
  ptr %context, i32 %warp, i32 %id, i32 %count, i32 %mask, i32 %votes, i1 %wait
) noinline #0 {{
entry:
{tables}{rows}  %expected.p = getelementptr i32, ptr %b, i32 2
  store i32 %count, ptr %expected.p
  %held.p = getelementptr i32, ptr %b, i32 3
  %held = load i32, ptr %held.p
  %for = call i32 @llvm.ctpop.i32(i32 %votes)
  %held.next = add i32 %held, %for
  store i32 %held.next, ptr %held.p
  %total.p = getelementptr i32, ptr %b, i32 4
  %total = load i32, ptr %total.p
  %here = call i32 @llvm.ctpop.i32(i32 %mask)
  %total.next = add i32 %total, %here
  store i32 %total.next, ptr %total.p
  br i1 %wait, label %note, label %count_now
note:
  %w.waits = getelementptr i32, ptr %w, i32 1
  store i32 {arriving}, ptr %w.waits
  ret void
count_now:
  call void @wg_count_arrival(ptr %b)
  ret void
}}
define internal void @wg_count_arrival(ptr %b) noinline #0 {{
entry:
  %before = load i32, ptr %b
  %arrived = add i32 %before, 32
  store i32 %arrived, ptr %b
  %expected.p = getelementptr i32, ptr %b, i32 2
  %expected = load i32, ptr %expected.p
  %counting = icmp ne i32 %expected, 0
  %enough = icmp uge i32 %arrived, %expected
  %opens = and i1 %counting, %enough
  br i1 %opens, label %open, label %done
open:
  call void @wg_open_barrier(ptr %b)
  br label %done
done:
  ret void
}}
define internal void @wg_announce(ptr %context, i32 %warp) noinline #0 {{
entry:
{tables}  %w.first = mul i32 %warp, {count}
  br label %next
next:
  %number = phi i32 [ 0, %entry ], [ %number.next, %on ]
  %w.number = add i32 %w.first, %number
  %w = getelementptr [2 x i32], ptr %waits, i32 %w.number
  %w.waits = getelementptr i32, ptr %w, i32 1
  %state = load i32, ptr %w.waits
  %is.new = icmp eq i32 %state, {arriving}
  br i1 %is.new, label %arrive, label %on
arrive:
  %b = getelementptr [{words} x i32], ptr %barriers, i32 %number
  %generation.p = getelementptr i32, ptr %b, i32 1
  %generation = load i32, ptr %generation.p
  store i32 %generation, ptr %w
  store i32 {waiting}, ptr %w.waits
  call void @wg_count_arrival(ptr %b)
  br label %on
on:
  %number.next = add i32 %number, 1
  %more = icmp ult i32 %number.next, {count}
  br i1 %more, label %next, label %done
done:
  ret void
}}
define internal i64 @wg_barrier_votes(ptr %context, i32 %warp, i32 %id) noinline #0 {{
{tables}{rows}  %generation = load i32, ptr %w
  %parity = and i32 %generation, 1
  %twice = shl i32 %parity, 1
  %place = add i32 %twice, 5
  %kept.held = getelementptr i32, ptr %b, i32 %place
  %held = load i32, ptr %kept.held
  %kept.total = getelementptr i32, ptr %kept.held, i32 1
  %total = load i32, ptr %kept.total
  %low = zext i32 %held to i64
  %wide = zext i32 %total to i64
  %high = shl i64 %wide, 32
  %both = or i64 %low, %high
  ret i64 %both
}}
define internal i1 @wg_waits_at(ptr %context, i32 %warp, i32 %id) noinline #0 {{
  %waits.p = getelementptr i64, ptr %context, i64 {waits}
  %waits = load ptr, ptr %waits.p
  %number = and i32 %id, {last}
  %w.first = mul i32 %warp, {count}
  %w.number = add i32 %w.first, %number
  %w = getelementptr [2 x i32], ptr %waits, i32 %w.number
  %w.waits = getelementptr i32, ptr %w, i32 1
  %waiting = load i32, ptr %w.waits
  %does = icmp sgt i32 %waiting, 0
  ret i1 %does
}}
define internal i1 @wg_is_held(ptr %context, i32 %warp) noinline #0 {{
entry:
{tables}  %w.first = mul i32 %warp, {count}
  br label %next
next:
  %number = phi i32 [ 0, %entry ], [ %number.next, %on ]
  %held = phi i1 [ true, %entry ], [ %held.next, %on ]
  %w.number = add i32 %w.first, %number
  %w = getelementptr [2 x i32], ptr %waits, i32 %w.number
  %noted = load i32, ptr %w
  %w.waits = getelementptr i32, ptr %w, i32 1
  %waiting = load i32, ptr %w.waits
  %waits.here = icmp eq i32 %waiting, {waiting}
  %b = getelementptr [{words} x i32], ptr %barriers, i32 %number
  %generation.p = getelementptr i32, ptr %b, i32 1
  %generation = load i32, ptr %generation.p
  %open = icmp ne i32 %generation, %noted
  %goes = and i1 %waits.here, %open
  br i1 %goes, label %release, label %on
release:
  store i32 0, ptr %w.waits
  br label %on
on:
  %stays = xor i1 %goes, true
  %held.next = and i1 %held, %stays
  %number.next = add i32 %number, 1
  %more = icmp ult i32 %number.next, {count}
  br i1 %more, label %next, label %done
done:
  ret i1 %held.next
}}
define internal i1 @wg_open_barriers(ptr %context, i32 %live) noinline #0 {{
entry:
  %barriers.p = getelementptr i64, ptr %context, i64 {barriers}
  %barriers = load ptr, ptr %barriers.p
  %everyone = mul i32 %live, 32
  br label %next
next:
  %number = phi i32 [ 0, %entry ], [ %number.next, %on ]
  %opened = phi i1 [ false, %entry ], [ %opened.next, %on ]
  %b = getelementptr [{words} x i32], ptr %barriers, i32 %number
  %arrived = load i32, ptr %b
  %expected.p = getelementptr i32, ptr %b, i32 2
  %expected = load i32, ptr %expected.p
  %some = icmp ne i32 %arrived, 0
  %for.all = icmp eq i32 %expected, 0
  %enough = icmp uge i32 %arrived, %everyone
  %x = and i1 %some, %for.all
  %opens = and i1 %x, %enough
  br i1 %opens, label %open, label %on
open:
  call void @wg_open_barrier(ptr %b)
  br label %on
on:
  %opened.next = or i1 %opened, %opens
  %number.next = add i32 %number, 1
  %more = icmp ult i32 %number.next, {count}
  br i1 %more, label %next, label %done
done:
  ret i1 %opened.next
}}
"""


def names_barriers(program: Program) -> bool:
    """Whether a program arrives at a barrier other than `bar.sync 0`: then at that one too it is counted."""
    return any(step.control == "arrive" for block in program.blocks for step in block.steps) or any(
        isinstance(block.end, Barrier) and not block.end.step.match.row.steers for block in program.blocks
    )


def barrier_helpers(declarations: set[str]) -> str:
    """The helpers' definitions."""
    declarations.add("declare i32 @llvm.ctpop.i32(i32)")
    return _HELPERS.format(
        barriers=SLOT["barriers"],
        waits=SLOT["waits"],
        words=BARRIER_WORDS,
        count=BARRIERS,
        last=BARRIERS - 1,
        tables=_TABLES,
        rows=_ROWS,
        arriving=_ARRIVING,
        waiting=_WAITING,
    )
