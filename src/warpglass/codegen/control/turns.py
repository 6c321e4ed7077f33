"""Turns of blocks, as LLVM IR: a block has its turn once all blocks before it have ended.

All workers of a launch share the place of the block whose turn it is. It grows when a block ends, which
waits for its turn too if nothing in it has. Blocks begin in order, so the oldest always has its turn, and
waiting ends. It also ends, without a turn, when the launch stops or an earlier block has faulted. Where one
thread runs blocks that wait for each other, it is every block's turn from the start.
"""

from __future__ import annotations

from ..context import SLOT

_HELPER = """
define internal i1 @wg_take_turn(ptr %context) noinline #0 {{
entry:
  %place.p = getelementptr i64, ptr %context, i64 {place}
  %place = load i64, ptr %place.p
  %turn.w = getelementptr i64, ptr %context, i64 {turn}
  %turn = load ptr, ptr %turn.w
  %stop.w = getelementptr i64, ptr %context, i64 {stop}
  %stop = load ptr, ptr %stop.w
  %limit.w = getelementptr i64, ptr %context, i64 {limit}
  %limit = load ptr, ptr %limit.w
  %give.w = getelementptr i64, ptr %context, i64 {give_way}
  %give = load ptr, ptr %give.w
  br label %look
look:
  %looked = phi i32 [ 0, %entry ], [ %more, %on ], [ %more, %give_way ]
  %now = load atomic i64, ptr %turn acquire, align 8
  %mine = icmp sge i64 %now, %place
  br i1 %mine, label %taken, label %wait
taken:
  ret i1 true
wait:
  %stopping = load volatile i32, ptr %stop
  %asked = icmp ne i32 %stopping, 0
  %first_bad = load volatile i64, ptr %limit
  %late = icmp sge i64 %place, %first_bad
  %halt = or i1 %asked, %late
  br i1 %halt, label %over, label %on
over:
  ret i1 false
on:
  %more = add i32 %looked, 1
  %patient = icmp ult i32 %more, {patience}
  br i1 %patient, label %look, label %give_way
give_way:
  call void %give()
  br label %look
}}
"""

# How often to look before the processor is offered to other threads: some microseconds.
_PATIENCE = 2000


def turn_helper() -> str:
    """The definition of `@wg_take_turn`, which waits and says whether the block has its turn."""
    words = ("place", "turn", "stop", "limit", "give_way")
    return _HELPER.format(patience=_PATIENCE, **{word: SLOT[word] for word in words})


def pass_turn() -> str:
    """What the block loop does when the block has ended; goes on at `turn_passed`, or at `stopped`."""
    return f"""
  %had_turn = call i1 @wg_take_turn(ptr %context)
  br i1 %had_turn, label %pass_turn, label %stopped
pass_turn:
  %turn.w = getelementptr i64, ptr %context, i64 {SLOT["turn"]}
  %turn = load ptr, ptr %turn.w
  %turn.now = load atomic i64, ptr %turn monotonic, align 8
  %turn.after = add i64 %place, 1
  %turn.grows = icmp slt i64 %turn.now, %turn.after
  %turn.next = select i1 %turn.grows, i64 %turn.after, i64 %turn.now
  store atomic i64 %turn.next, ptr %turn release, align 8
  br label %turn_passed
turn_passed:"""
