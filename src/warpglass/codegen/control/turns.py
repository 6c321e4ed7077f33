"""Turns of blocks, as LLVM IR: a block has its turn once all blocks before it have ended.

All workers of a launch share the place of the block whose turn it is. It grows when a block ends, which
waits for its turn too if nothing in it has. Blocks begin in order, so the oldest always has its turn, and
waiting ends. It also ends, without a turn, when the launch stops or an earlier block has faulted. Where one
thread runs blocks that wait for each other, it is every block's turn from the start.

Where most of a block has to wait, further workers only take cache lines from each other. So the last one of
those that are left takes no more blocks once it has waited for a good part of several.
"""

from __future__ import annotations

from ..builder import Builder
from ..context import SLOT
from ..machine.target import time_stamp

_HELPER = """
define internal i1 @wg_take_turn(ptr %context) noinline #0 {{
entry:
  %place.p = getelementptr i64, ptr %context, i64 {place}
  %place = load i64, ptr %place.p
  %turn.w = getelementptr i64, ptr %context, i64 {turn}
  %turn = load ptr, ptr %turn.w
  %first = load atomic i64, ptr %turn acquire, align 8
  %at.once = icmp sge i64 %first, %place
  br i1 %at.once, label %had, label %slow
had:
  ret i1 true
slow:
  %begun = call i64 @{time_stamp}()
  %stop.w = getelementptr i64, ptr %context, i64 {stop}
  %stop = load ptr, ptr %stop.w
  %limit.w = getelementptr i64, ptr %context, i64 {limit}
  %limit = load ptr, ptr %limit.w
  %give.w = getelementptr i64, ptr %context, i64 {give_way}
  %give = load ptr, ptr %give.w
  br label %look
look:
  %looked = phi i32 [ 0, %slow ], [ %more, %on ], [ %more, %give_way ]
  %now = load atomic i64, ptr %turn acquire, align 8
  %mine = icmp sge i64 %now, %place
  br i1 %mine, label %taken, label %wait
taken:
  %waited.p = getelementptr i64, ptr %context, i64 {waited}
  %before = load i64, ptr %waited.p
  %ended = call i64 @{time_stamp}()
  %took = sub i64 %ended, %begun
  %waited = add i64 %before, %took
  store i64 %waited, ptr %waited.p
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

# Says whether a worker that is about to take a block is to take no more, and remembers what the last block
# was like.
_SPARE = """
define internal i1 @wg_is_spare(ptr %context) noinline #0 {{
entry:
  %number.p = getelementptr i64, ptr %context, i64 {number}
  %number = load i64, ptr %number.p
  %one = icmp eq i64 %number, 0
  br i1 %one, label %stay, label %look
look:
  %now = call i64 @{time_stamp}()
  %begun.p = getelementptr i64, ptr %context, i64 {begun}
  %begun = load i64, ptr %begun.p
  store i64 %now, ptr %begun.p
  %waited.p = getelementptr i64, ptr %context, i64 {waited}
  %waited = load i64, ptr %waited.p
  store i64 0, ptr %waited.p
  %crew.w = getelementptr i64, ptr %context, i64 {crew}
  %crew.p = load ptr, ptr %crew.w
  %crew = load atomic i64, ptr %crew.p monotonic, align 8
  %known.p = getelementptr i64, ptr %context, i64 {known_crew}
  %known = load i64, ptr %known.p
  store i64 %crew, ptr %known.p
  %crowded.p = getelementptr i64, ptr %context, i64 {crowded}
  %crowded = load i64, ptr %crowded.p
  %length = sub i64 %now, %begun
  %times = mul i64 %waited, {share}
  %long = icmp ugt i64 %times, %length
  %step = select i1 %long, i64 1, i64 -1
  %stepped = add i64 %crowded, %step
  %counted = call i64 @llvm.smax.i64(i64 %stepped, i64 0)
  %same = icmp eq i64 %crew, %known
  %found = select i1 %same, i64 %counted, i64 0
  store i64 %found, ptr %crowded.p
  %often = icmp sge i64 %found, {often}
  %behind = add i64 %number, 1
  %last = icmp eq i64 %behind, %crew
  %spare = and i1 %often, %last
  br i1 %spare, label %leave, label %stay
leave:
  store atomic i64 %number, ptr %crew.p monotonic, align 8
  ret i1 true
stay:
  ret i1 false
}}
"""
# Blocks, more than others, of which a worker has waited for more than 1/_SHARE, and then leaves.
_OFTEN, _SHARE = 4, 3

# How often to look before the processor is offered to other threads: some microseconds.
_PATIENCE = 2000


def turn_helpers(declarations: set[str]) -> str:
    """The definitions of `@wg_take_turn`, which waits and says whether the block has its turn, and of
    `@wg_is_spare`."""
    declarations |= {f"declare i64 @{time_stamp()}()", "declare i64 @llvm.smax.i64(i64, i64)"}
    words = SLOT | {"time_stamp": time_stamp()}
    return _HELPER.format(patience=_PATIENCE, **words) + _SPARE.format(often=_OFTEN, share=_SHARE, **words)


def take_turn(b: Builder) -> None:
    """Wait for the block's turn; mostly it has that already, which is no call."""
    turn = b.load("ptr", b.offset("%context", 8 * SLOT["turn"]))
    now = b.load("atomic i64", turn, " acquire, align 8")
    place = b.load("i64", b.offset("%context", 8 * SLOT["place"]))
    wait, on = b.label("wait"), b.label("turn")
    b.branch(b.value(f"icmp slt i64 {now}, {place}"), wait, on, unlikely=True)
    b.place(wait)
    b.call("i1", "wg_take_turn", [("ptr", "%context")])
    b.jump(on)
    b.place(on)


def end_early() -> str:
    """What the block loop does where a block has faulted: what it has deferred is done in its turn."""
    return """
  %ends_in_turn = call i1 @wg_take_turn(ptr %context)
  br i1 %ends_in_turn, label %apply_early, label %fail
apply_early:
  call void @wg_apply_deferred(ptr %context)
  br label %fail
fail:"""


def leave_if_spare() -> str:
    """What the block loop does before it takes a block; goes on at `take_turns`, or at `finished`."""
    return """
  %spare = call i1 @wg_is_spare(ptr %context)
  br i1 %spare, label %finished, label %take_turns
take_turns:"""


def pass_turn(*, defers: bool) -> str:
    """What the block loop does when the block has ended; goes on at `turn_passed`, or at `stopped`.

    `defers` says that sums may have been left until now.
    """
    apply = "\n  call void @wg_apply_deferred(ptr %context)" if defers else ""
    return f"""
  %had_turn = call i1 @wg_take_turn(ptr %context)
  br i1 %had_turn, label %pass_turn, label %stopped
pass_turn:{apply}
  %turn.w = getelementptr i64, ptr %context, i64 {SLOT["turn"]}
  %turn = load ptr, ptr %turn.w
  %turn.now = load atomic i64, ptr %turn monotonic, align 8
  %turn.after = add i64 %place, 1
  %turn.grows = icmp slt i64 %turn.now, %turn.after
  %turn.next = select i1 %turn.grows, i64 %turn.after, i64 %turn.now
  store atomic i64 %turn.next, ptr %turn release, align 8
  br label %turn_passed
turn_passed:"""
