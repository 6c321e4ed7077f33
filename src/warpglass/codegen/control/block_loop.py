"""The kernel function: blocks from the shared counter, and within a block round after round over its warps.

In a round every warp runs up to its next barrier, its end, or the point where it yields. When the last warp
has stopped, every live thread of the block waits, so the barrier is open, unless a warp has only yielded.
Kernels with other barriers than `bar.sync 0` ask for each warp whether its own has opened (barriers.py).

Blocks and warps come in the order of their numbers. Observers may ask for code that takes the order from
tables of the engine: the block at each place, and for every round the next of some orders of the warps.

Optimised code runs rounds at whose start all warps stand at one place by the loop of a barrier region
(barrier_regions.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from ..context import BARRIER_WORDS, BARRIERS, DEADLOCK, DONE, LEFT, OK, RESUME, RETIRED, SLOT, START, STOPPED
from ..memory.textures import BUFFER
from ..shape import BlockShape
from .barrier_regions import WarpFrames, call_region_loops, region_loops
from .block_groups import group_loop
from .flushing import RUN_FLUSHING
from .turns import end_early, leave_if_spare, pass_turn


@dataclass(frozen=True, slots=True)
class WarpScheduling:
    """What the loop must know of a warp function.

    `header` and `stride` are the bytes of a warp's frame that hold masks, and of the whole frame; `clears`
    says whether frames have to be zero where a block begins; `first_yield` is the least state that means a
    warp has only yielded; `local` are the bytes of local memory a thread; `resumes` is the number of states
    in which warps wait at a barrier; `named` says whether barriers have ids, `turns` whether blocks take
    turns, `defers` whether they may leave sums for their ends, `any_order` whether the engine gives the order
    of blocks and warps, `flushes` whether the host is to flush subnormal numbers.
    """

    header: int
    stride: int
    clears: bool
    first_yield: int | None
    local: int
    resumes: int
    named: bool
    turns: bool
    defers: bool
    any_order: bool = False
    flushes: bool = False

    @property
    def keeps_step(self) -> bool:
        """Whether warps at one place can run together: none yields or waits at a barrier of its own."""
        return self.first_yield is None and not self.named and not self.any_order


# Lines of shared memory up to which a block clears it without calling memset.
_LINES = 64


def _words(*names: tuple[str, str, str]) -> str:
    """Loads of context words: (value name, word, LLVM type)."""
    lines: list[str] = []
    for value, word, type_ in names:
        lines.append(f"  %{value}.p = getelementptr i64, ptr %context, i64 {SLOT[word]}")
        lines.append(f"  %{value} = load {type_}, ptr %{value}.p")
    return "\n".join(lines)


def block_loop(shape: BlockShape, scheduling: WarpScheduling, *, by_region: bool) -> str:
    """`@run`, as LLVM IR; `by_region` asks for a loop for each barrier region, if the kernel allows."""
    header, stride, local = scheduling.header, scheduling.stride, scheduling.local
    warps = WarpFrames(shape, header, stride, local)
    by_region = by_region and scheduling.keeps_step
    group = "1" if shape.blocks == 1 else "%group"
    words = _words(
        ("next", "next_block", "ptr"),
        ("count", "block_count", "i64"),
        ("chunk", "chunk", "i64"),
        ("gx64", "grid_x", "i64"),
        ("gy64", "grid_y", "i64"),
        ("gz64", "grid_z", "i64"),
        ("parameters", "parameters", "ptr"),
        ("shared", "shared", "ptr"),
        ("shared_size", "shared_size", "i64"),
        ("frames", "frames", "ptr"),
        ("locals", "local", "ptr"),
        ("states", "states", "ptr"),
        ("counters", "counters", "ptr"),
        ("sites", "sites", "ptr"),
        ("stop", "stop", "ptr"),
        ("retire", "retire", "ptr"),
        ("limit", "limit", "ptr"),
        ("barriers", "barriers", "ptr"),
        ("waits_table", "waits", "ptr"),
        ("threads", "threads", "ptr"),
        ("resident", "resident", "i64"),
        ("resumed", "resumed", "i64"),
        ("left_block", "left_block", "i64"),
    )
    # Registers and shared memory start the same in every block, whichever worker runs it.
    frames = f"call void @llvm.memset.p0.i64(ptr %frames, i8 0, i64 {shape.warps * stride}, i1 false)"
    local_bytes = shape.warps * shape.width * local
    local_clear = f"call void @llvm.memset.p0.i64(ptr %locals, i8 0, i64 {local_bytes}, i1 false)"
    find_block = _block_by_table() if scheduling.any_order else _BLOCK_BY_NUMBER
    done = "turn_passed" if scheduling.turns else "block_done"
    # Kernels without barriers never need the rounds that look at states if their warps keep step.
    loop, functions, failed = "", "", "[ %result, %failing ]"
    begin = again = "round"
    if shape.blocks > 1:
        by_region, loop = True, group_loop(warps)
        begin, failed = "together", "[ %reached, %not_together ]"
    elif by_region:
        functions, loop = (
            region_loops(warps, scheduling.resumes),
            call_region_loops(warps, scheduling.resumes),
        )
        begin, failed = "together", "[ %reached, %not_together ]"
    if by_region and not scheduling.resumes:
        again = "clean_block"
    else:
        loop += _rounds(warps, scheduling, entered=("apart" if by_region else "cleared"))
        failed = ", ".join(dict.fromkeys((failed, "[ %result, %failing ]")))
    reset = _reset_barriers(shape) if scheduling.named else ""
    return f"""{functions}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

{RUN_FLUSHING if scheduling.flushes else "define i64 @run(ptr %context) #0 {"}
entry:
  %lane_buffer = alloca [{BUFFER * shape.width} x i8], align 64
  %lane_addresses = alloca [{shape.width} x i64], align 64
{words}
  %shared_address = ptrtoint ptr %shared to i64
  %gx = trunc i64 %gx64 to i32
  %gy = trunc i64 %gy64 to i32
  %gz = trunc i64 %gz64 to i32
  %going_on = icmp ne i64 %resumed, 0
  br i1 %going_on, label %return_to, label %take
return_to:
  store i64 0, ptr %resumed.p
  br label %locate
take:
  %outdated = load volatile i32, ptr %retire
  %retires = icmp ne i32 %outdated, 0
  br i1 %retires, label %retired, label %take_more
take_more:{leave_if_spare() if scheduling.turns else ""}
  %from = atomicrmw add ptr %next, i64 %chunk monotonic
  %some = icmp slt i64 %from, %count
  br i1 %some, label %got, label %finished
got:
  %wanted = add i64 %from, %chunk
  %to = call i64 @llvm.smin.i64(i64 %wanted, i64 %count)
  br label %locate
locate:
  %place.0 = phi i64 [ %from, %got ], [ %left_block, %return_to ]
  %last = phi i64 [ %to, %got ], [ 0, %return_to ]
  %fresh.0 = phi i1 [ true, %got ], [ false, %return_to ]
  {_divided("%place.0", ".0")}
  br label %next_block
next_block:
  %place = phi i64 [ %place.0, %locate ], [ %place.next, %{done} ]
  %fresh = phi i1 [ %fresh.0, %locate ], [ true, %{done} ]
  %cx.here = phi i32 [ %cx.0, %locate ], [ %cx.next, %{done} ]
  %cy.here = phi i32 [ %cy.0, %locate ], [ %cy.next, %{done} ]
  %cz.here = phi i32 [ %cz.0, %locate ], [ %cz.next, %{done} ]
  %stopping = load volatile i32, ptr %stop
  %asked = icmp ne i32 %stopping, 0
  %first_bad = load volatile i64, ptr %limit
  %late = icmp sge i64 %place, %first_bad
  %halts = or i1 %asked, %late
  %halt = and i1 %halts, %fresh  ; a block that was left says itself in which loop it is
  br i1 %halt, label %stopped, label %take_place
take_place:
  %place.p = getelementptr i64, ptr %context, i64 {SLOT["place"]}
  store i64 %place, ptr %place.p
  {find_block}
start_block:
  br i1 %fresh, label %clean_block, label %{again}
clean_block:
  %clock.p = getelementptr i64, ptr %context, i64 {SLOT["clock"]}
  store i64 0, ptr %clock.p
{_CLEAR_SHARED}
  {frames if scheduling.clears else ""}
  {local_clear if local else ""}
  {reset}
  br label %{begin}
{loop}
block_done:{pass_turn(defers=scheduling.defers) if scheduling.turns else ""}
  %place.next = add i64 %place, {group}
  %group.columns = trunc i64 {group} to i32
  %cx.more = add i32 %cx.here, %group.columns
  %x.over = icmp eq i32 %cx.more, %gx
  %cx.next = select i1 %x.over, i32 0, i32 %cx.more
  %x.carry = zext i1 %x.over to i32
  %cy.more = add i32 %cy.here, %x.carry
  %y.over = icmp eq i32 %cy.more, %gy
  %cy.next = select i1 %y.over, i32 0, i32 %cy.more
  %y.carry = zext i1 %y.over to i32
  %cz.next = add i32 %cz.here, %y.carry
  %more_blocks = icmp slt i64 %place.next, %last
  br i1 %more_blocks, label %next_block, label %take
broken:
  %failed = phi i32 {failed}{end_early() if scheduling.defers else ""}
  %block.w = getelementptr i64, ptr %context, i64 {SLOT["fault_block"]}
  store i64 %block, ptr %block.w
  %lowest = atomicrmw min ptr %limit, i64 %place monotonic
  %code = sext i32 %failed to i64
  ret i64 %code
stopped:
  ret i64 {STOPPED}
retired:
  ret i64 {RETIRED}
finished:
  fence seq_cst  ; what went past the caches is written before anyone hears that all is done
  ret i64 {OK}
}}
"""


# Many blocks are so short that calling memset for them would take as long. There is slack behind the memory.
_CLEAR_SHARED = f"""  %is_large = icmp ugt i64 %shared_size, {64 * _LINES}
  br i1 %is_large, label %clear_large, label %clear_more
clear_large:
  call void @llvm.memset.p0.i64(ptr %shared, i8 0, i64 %shared_size, i1 false)
  br label %cleared
clear_more:
  %cleared.bytes = phi i64 [ 0, %clean_block ], [ %cleared.next, %clear_line ]
  %left_over = icmp ult i64 %cleared.bytes, %shared_size
  br i1 %left_over, label %clear_line, label %cleared
clear_line:
  %line.p = getelementptr i8, ptr %shared, i64 %cleared.bytes
  store volatile <64 x i8> zeroinitializer, ptr %line.p, align 64
  %cleared.next = add i64 %cleared.bytes, 64
  br label %clear_more
cleared:"""


def _rounds(warps: WarpFrames, scheduling: WarpScheduling, entered: str) -> str:
    """WarpScheduling over warps that stand anywhere; entered where a block begins, or midway in a round."""
    # Warps that yield are run again; barriers open once every other warp waits at them.
    first_yield = scheduling.first_yield
    yields = first_yield if first_yield is not None else 1 << 30
    after, shut, settled = "stay", "xor i1 %open, true", f"icmp slt i32 %now, {yields}"
    if (
        scheduling.first_yield is None
    ):  # every barrier opens after every round; LLVM drops what follows from it
        shut, settled = "icmp ne i32 0, 0", "icmp eq i32 0, 0"
    next_round, find_warp = "", "%warp = add i32 %position, 0"
    if scheduling.any_order:
        next_round, find_warp = _next_order(), _warp_by_table(warps.shape)
    stopped, announce, settle = "keep_state", "br label %warp_done", ""
    if scheduling.named:
        after, shut, settle = "opening", "call i1 @wg_is_held(ptr %context, i32 %warp)", _OPENING
        stopped, announce = "announced", _announcing(yields)
    new = "false" if entered == "apart" else "%first_round"

    def midway(value: str) -> str:
        return f", [ {value}, %{entered} ]" if entered == "apart" else ""

    return f"""round:
  %first_round = phi i1 [ true, %{entered} ], [ false, %start_block ], [ false, %{after} ]
  %open = phi i1 [ true, %{entered} ], [ false, %start_block ], [ %open.next, %{after} ]
  {next_round}
  br label %next_warp
next_warp:
  %position = phi i32 [ 0, %round ]{midway("%behind")}, [ %position.next, %warp_done ]
  %waiting = phi i1 [ false, %round ]{midway("true")}, [ %waiting.next, %warp_done ]
  %open.now = phi i1 [ true, %round ]{midway("true")}, [ %open.next, %warp_done ]
  %live = phi i32 [ 0, %round ]{midway("0")}, [ %live.next, %warp_done ]
  %ran = phi i1 [ false, %round ]{midway("true")}, [ %ran.next, %warp_done ]
  {find_warp}
  %warp64 = zext i32 %warp to i64
  %state.p = getelementptr i32, ptr %states, i64 %warp64
  %state.kept = load i32, ptr %state.p
  %state = select i1 {new}, i32 {START}, i32 %state.kept
  %state.less = sub i32 %state, {RESUME}
  %gone = icmp eq i32 %state, {DONE}
  %at_barrier = icmp ult i32 %state.less, {yields - RESUME}
  %shut = {shut}
  %held = and i1 %at_barrier, %shut
  %idle = or i1 %gone, %held
  br i1 %idle, label %warp_done, label %run_warp
run_warp:
  {warps.run("%state")}
  br i1 %bad, label %failing, label %keep_state, !prof !1
failing:
  %warp.w = getelementptr i64, ptr %context, i64 {SLOT["fault_warp"]}
  store i64 %warp64, ptr %warp.w
  br label %broken
keep_state:
  store i32 %result, ptr %state.p
  {announce}
warp_done:
  %now = phi i32 [ %state, %next_warp ], [ %result, %{stopped} ]
  %runs = phi i1 [ false, %next_warp ], [ true, %{stopped} ]
  %ran.next = or i1 %ran, %runs
  %waits = icmp ne i32 %now, {DONE}
  %waiting.next = or i1 %waiting, %waits
  %one_more = zext i1 %waits to i32
  %live.next = add i32 %live, %one_more
  %settled = {settled}
  %open.next = and i1 %open.now, %settled
  %position.next = add i32 %position, 1
  %more_warps = icmp ult i32 %position.next, {warps.shape.warps}
  br i1 %more_warps, label %next_warp, label %round_done
round_done:
  br i1 %waiting.next, label %stay, label %block_done
stay:
  %yielding = xor i1 %open.next, true
  %may_leave = icmp ne i64 %resident, 0
  %leaves = and i1 %yielding, %may_leave
  br i1 %leaves, label %leave, label %{"opening" if scheduling.named else "round"}
leave:
  store i64 1, ptr %resumed.p
  store i64 %place, ptr %left_block.p
  ret i64 {LEFT}
{settle}
"""


# The indices of the next block are one further: no division.
_BLOCK_BY_NUMBER = """%block = add i64 %place, 0
  %cx = add i32 %cx.here, 0
  %cy = add i32 %cy.here, 0
  %cz = add i32 %cz.here, 0
  br label %start_block"""


def _divided(number: str, end: str) -> str:
    """The indices of the block with a number: `%cx`, `%cy`, `%cz` and what their names end with."""
    return f"""%cx64{end} = urem i64 {number}, %gx64
  %yz{end} = udiv i64 {number}, %gx64
  %cy64{end} = urem i64 %yz{end}, %gy64
  %cz64{end} = udiv i64 %yz{end}, %gy64
  %cx{end} = trunc i64 %cx64{end} to i32
  %cy{end} = trunc i64 %cy64{end} to i32
  %cz{end} = trunc i64 %cz64{end} to i32"""


def _block_by_table() -> str:
    """The block at a place: the table's, or that of the same number where there is no table."""
    return f"""%order.p = getelementptr i64, ptr %context, i64 {SLOT["block_order"]}
  %order = load ptr, ptr %order.p
  %by_number = icmp eq ptr %order, null
  br i1 %by_number, label %known_block, label %look_up
look_up:
  %listed.p = getelementptr i64, ptr %order, i64 %place
  %listed = load i64, ptr %listed.p
  br label %known_block
known_block:
  %block = phi i64 [ %place, %take_place ], [ %listed, %look_up ]
  {_divided("%block", "")}
  br label %start_block"""


def _next_order() -> str:
    """The order of the warps in this round: rows of the table in turn."""
    return f"""%rounds.p = getelementptr i64, ptr %context, i64 {SLOT["rounds"]}
  %rounds = load i64, ptr %rounds.p
  %rounds.next = add i64 %rounds, 1
  store i64 %rounds.next, ptr %rounds.p
  %orders.p = getelementptr i64, ptr %context, i64 {SLOT["warp_orders"]}
  %orders = load ptr, ptr %orders.p
  %order_count.p = getelementptr i64, ptr %context, i64 {SLOT["warp_order_count"]}
  %order_count = load i64, ptr %order_count.p
  %row = urem i64 %rounds, %order_count"""


def _warp_by_table(shape: BlockShape) -> str:
    return f"""%warp.p = getelementptr [{shape.warps} x i32], ptr %orders, i64 %row, i32 %position
  %warp = load i32, ptr %warp.p"""


def _announcing(yields: int) -> str:
    """A warp whose lanes have all stopped arrives at the barriers where they wait."""
    return f"""%has.stopped = icmp slt i32 %result, {yields}
  br i1 %has.stopped, label %announce, label %announced
announce:
  call void @wg_announce(ptr %context, i32 %warp)
  br label %announced
announced:
  br label %warp_done"""


def _reset_barriers(shape: BlockShape) -> str:
    """No warp has arrived anywhere, and none waits: the generations that they wait for do not exist."""
    table, waits = 4 * BARRIERS * BARRIER_WORDS, 8 * BARRIERS * shape.warps
    return f"""call void @llvm.memset.p0.i64(ptr %barriers, i8 0, i64 {table}, i1 false)
  call void @llvm.memset.p0.i64(ptr %waits_table, i8 -1, i64 {waits}, i1 false)"""


_OPENING = f"""opening:
  %opened = call i1 @wg_open_barriers(ptr %context, i32 %live.next)
  %progress = or i1 %ran.next, %opened
  br i1 %progress, label %round, label %deadlock
deadlock:
  %stuck.w = getelementptr i64, ptr %context, i64 {SLOT["fault_block"]}
  store i64 %block, ptr %stuck.w
  %lowest.stuck = atomicrmw min ptr %limit, i64 %place monotonic
  ret i64 {DEADLOCK}
"""
