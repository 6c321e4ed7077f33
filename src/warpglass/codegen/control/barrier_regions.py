"""Barrier regions: rounds in which all warps of a block go on from one place, as most do, in optimised code.

For each place where warps may stand (the kernel's start and behind each of its barriers) there is a loop over
the warps that knows the place: it has only the code from there to the next barriers, and neither looks up nor
notes a warp's state. If a warp then stops elsewhere than the first one did, the states are written down, and
the block goes on in the rounds that look at them (block_loop.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..context import DONE, RESUME, SLOT, START
from ..shape import BlockShape

# What a loop returns, less the number of the warp, when that warp has stopped elsewhere than the first one.
PARTED = -16

_GIVEN = (
    "ptr {context}, i32 {cx}, i32 {cy}, i32 {cz}, i32 {gx}, i32 {gy}, i32 {gz}, "
    "ptr {threads}, ptr {parameters}, ptr {shared}, i64 {shared_address}, i64 {shared_size}, "
    "ptr {frames}, ptr {locals}, ptr {states}, ptr {sites}, ptr {stop}, ptr {counters}, "
    "ptr {lane_buffer}, ptr {lane_addresses}"
)
_NAMES = (
    "context cx cy cz gx gy gz threads parameters shared shared_address shared_size frames locals states "
    "sites stop counters lane_buffer lane_addresses"
).split()
_ARGUMENTS = _GIVEN.format(**{name: f"%{name}" for name in _NAMES})
# A warp's registers and states are reached in no other way while it runs.
_PARAMETERS = _GIVEN.format(
    **{name: f"noalias %{name}" if name in ("frames", "states") else f"%{name}" for name in _NAMES}
)


@dataclass(frozen=True, slots=True)
class WarpFrames:
    """The warps of a block and their memory: bytes of a frame's masks, of a whole frame, of local memory."""

    shape: BlockShape
    header: int
    stride: int
    local: int

    def run(self, state: str) -> str:
        """Run `%warp`, as i32 and as `%warp64`, from a state; `%result` is where it has stopped."""
        width = self.shape.width
        last, others = (_mask(count, width) for count in (self.shape.last, self.shape.together))
        return f"""%is_last = icmp eq i32 %warp, {self.shape.warps - 1}
  %start_mask = select i1 %is_last, i{width} {last}, i{width} {others}
  {self.call(state)}"""

    def call(self, state: str) -> str:
        """The same for the lanes of `%start_mask`."""
        width = self.shape.width
        return f"""%threads_offset = mul i64 %warp64, {4 * width}
  %threads_of_warp = getelementptr i8, ptr %threads, i64 %threads_offset
  %frame_offset = mul i64 %warp64, {self.stride}
  %frame_start = getelementptr i8, ptr %frames, i64 %frame_offset
  %frame = getelementptr i8, ptr %frame_start, i64 {self.header}
  %local_offset = mul i64 %warp64, {width * self.local}
  %local = getelementptr i8, ptr %locals, i64 %local_offset
  %result = call i32 @warp(
    ptr %context, i32 %warp, i32 {state}, i{width} %start_mask,
    i32 %cx, i32 %cy, i32 %cz, i32 %gx, i32 %gy, i32 %gz,
    ptr %threads_of_warp, ptr %parameters, ptr %shared, i64 %shared_address, i64 %shared_size,
    ptr %frame, ptr %local, ptr %sites, ptr %stop, ptr %counters, ptr %lane_buffer, ptr %lane_addresses)
  %bad = icmp slt i32 %result, 0"""


def _mask(lanes: int, width: int) -> int:
    """The lowest lanes of so many."""
    return (1 << lanes) - 1 if lanes < width else -1


def _states(resumes: int) -> list[int]:
    return [START, *range(RESUME, RESUME + resumes)]


def call_region_loops(warps: WarpFrames, resumes: int) -> str:
    """In `@run`: run a new block for as long as its warps keep step."""
    states = _states(resumes)
    cases = " ".join(f"i32 {state}, label %go_{state}" for state in states[1:])
    calls = "\n".join(
        f"go_{state}:\n  %reached_{state} = call i32 @together_{state}({_ARGUMENTS})\n  br label %went"
        for state in states
    )
    reached = ", ".join(f"[ %reached_{state}, %go_{state} ]" for state in states)
    return f"""together:
  %standing = phi i32 [ {START}, %cleared ], [ %reached, %went ]
  switch i32 %standing, label %go_{START} [ i32 {DONE}, label %block_done {cases} ]
{calls}
went:
  %reached = phi i32 {reached}
  %goes_on = icmp sge i32 %reached, 0
  br i1 %goes_on, label %together, label %not_together, !prof !2
not_together:
  %has_failed = icmp sgt i32 %reached, {PARTED}
  br i1 %has_failed, label %broken, label %apart
apart:
  {_apart(warps) if resumes else "unreachable"}
"""


def _apart(warps: WarpFrames) -> str:
    """Go on behind the warp that has stopped elsewhere."""
    return f"""%parted = sub i32 {PARTED}, %reached
  %behind = add i32 %parted, 1
  %round_goes_on = icmp ult i32 %behind, {warps.shape.warps}
  br i1 %round_goes_on, label %next_warp, label %round"""


def region_loops(warps: WarpFrames, resumes: int) -> str:
    """The functions, one for each place."""
    return "".join(_loop(warps, state, alone=not resumes) for state in _states(resumes))


def _loop(warps: WarpFrames, state: int, *, alone: bool) -> str:
    place = SLOT["fault_warp"]
    # Kernels without barriers have nothing else that could run a block.
    kind = "alwaysinline" if alone else "noinline"
    return f"""
define internal i32 @together_{state}({_PARAMETERS}) {kind} #0 {{
entry:
  br label %next_warp
next_warp:
  %warp = phi i32 [ 0, %entry ], [ %warp.next, %in_step ]
  %first = phi i32 [ {DONE}, %entry ], [ %all, %in_step ]
  %warp64 = zext i32 %warp to i64
  {warps.run(str(state))}
  br i1 %bad, label %broken, label %ended, !prof !1
ended:
  %is_first = icmp eq i32 %warp, 0
  %all = select i1 %is_first, i32 %result, i32 %first
  %agrees = icmp eq i32 %result, %all
  br i1 %agrees, label %in_step, label %parted
in_step:
  %warp.next = add i32 %warp, 1
  %more = icmp ult i32 %warp.next, {warps.shape.warps}
  br i1 %more, label %next_warp, label %done
done:
  ret i32 %all
broken:
  %warp.w = getelementptr i64, ptr %context, i64 {place}
  store i64 %warp64, ptr %warp.w
  br label %note
parted:
  %which = sub i32 {PARTED}, %warp
  br label %note
note:
  %answer = phi i32 [ %result, %broken ], [ %which, %parted ]
  %mine = phi i32 [ {state}, %broken ], [ %result, %parted ]
  br label %next_state
next_state:
  %other = phi i32 [ 0, %note ], [ %other.next, %next_state ]
  %before = icmp ult i32 %other, %warp
  %later = icmp ugt i32 %other, %warp
  %stopped_at = select i1 %before, i32 %first, i32 %mine
  %stands = select i1 %later, i32 {state}, i32 %stopped_at
  %state.p = getelementptr i32, ptr %states, i32 %other
  store i32 %stands, ptr %state.p
  %other.next = add i32 %other, 1
  %more_states = icmp ult i32 %other.next, {warps.shape.warps}
  br i1 %more_states, label %next_state, label %noted
noted:
  ret i32 %answer
}}
"""
