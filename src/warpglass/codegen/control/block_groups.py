"""Several blocks side by side along x that run together: a warp has a row of each of them.

Fewer blocks may be left, in the grid's row or for this worker: then the lanes of the others never act.

Block by block, the first fault is that of the first block that has one, and the blocks before it have come to
their ends. Together, a later block may fault earlier. So the lanes of the blocks before it go through the
same warp again, and through those that follow: what they have stored they store once more, as they load
nothing of it (block_fusion.py).
"""

from __future__ import annotations

from ..context import FAULT, SLOT, START
from .barrier_regions import WarpFrames


def group_loop(warps: WarpFrames) -> str:
    """In `@run`: run the blocks from `%cx` on, `%group` of them, and go to `block_done` or to `broken`."""
    width, extent, blocks = warps.shape.width, warps.shape.block[0], warps.shape.blocks
    lanes = f"i{width}"
    return f"""together:
  %row.left = sub i32 %gx, %cx
  %row.left.wide = zext i32 %row.left to i64
  %left = sub i64 %last, %place
  %some.left = call i64 @llvm.smin.i64(i64 %row.left.wide, i64 %left)
  %group = call i64 @llvm.smin.i64(i64 %some.left, i64 {blocks})
  %missing = sub i64 {blocks}, %group
  %idle = mul i64 %missing, {extent}
  %idle.lanes = {_resized("%idle", width)}
  %all.lanes = lshr {lanes} -1, %idle.lanes
  br label %next_warp
next_warp:
  %warp = phi i32 [ 0, %together ], [ %warp.next, %in_step ], [ %same.warp, %fewer ]
  %start_mask = phi {lanes} [ %all.lanes, %together ], [ %start_mask, %in_step ], [ %before, %fewer ]
  %faulted = phi i1 [ false, %together ], [ %faulted, %in_step ], [ true, %fewer ]
  %warp64 = zext i32 %warp to i64
  {warps.call(str(START))}
  br i1 %bad, label %failing, label %in_step, !prof !1
in_step:
  %warp.next = add i32 %warp, 1
  %more = icmp ult i32 %warp.next, {warps.shape.warps}
  br i1 %more, label %next_warp, label %ended
ended:
  br i1 %faulted, label %not_together, label %block_done, !prof !1
failing:
  %warp.w = getelementptr i64, ptr %context, i64 {SLOT["fault_warp"]}
  store i64 %warp64, ptr %warp.w
  %lane.p = getelementptr i64, ptr %context, i64 {SLOT["fault_lane"]}
  %lane = load i64, ptr %lane.p
  %first = and i64 %lane, {width - extent}
  %first.lane = {_resized("%first", width)}
  %bit = shl {lanes} 1, %first.lane
  %before = sub {lanes} %bit, 1
  %earlier = icmp ne i64 %first, 0
  %faults = icmp eq i32 %result, {FAULT}
  %others = and i1 %earlier, %faults
  br i1 %others, label %fewer, label %not_together
fewer:
  %same.warp = call i32 asm "", "=r,0"(i32 %warp)  ; or LLVM would compute in front of it what is the same
  br label %next_warp
not_together:
  %reached = phi i32 [ %result, %failing ], [ {FAULT}, %ended ]
  br label %broken
"""


def _resized(value: str, width: int) -> str:
    """The instruction that makes an integer of `width` bits of an i64."""
    if width == 64:
        return f"add i64 {value}, 0"
    return f"{'trunc' if width < 64 else 'zext'} i64 {value} to i{width}"
