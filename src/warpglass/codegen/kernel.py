"""A whole kernel as one LLVM module: the block loop around the warp function.

`@run` takes blocks from the shared counter until none is left. Within a block it runs every warp up to its
next barrier, and again until all warps are done: when the last warp has stopped, every live thread of the
block waits, so the barrier is open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..program import Branch, Pending, Program, find_full, find_pending
from .access import Access, Site
from .builder import Builder
from .context import DONE, OK, RESUME, SLOT, START, STOPPED
from .infer import infer_kinds
from .kinds import KindLanes
from .local import LocalMemory
from .patterns import Patterns, gather_helper
from .probes import Probe
from .registers import Kind, Registers
from .runtime import DECLARATIONS, atomic_helper, helpers
from .shape import Promises, Shape
from .steps import Steps, Symbols
from .vector import VectorLanes
from .warp import WarpFunction


@dataclass(frozen=True, slots=True)
class KernelCode:
    """A kernel's LLVM IR and what the engine must know to run it and to explain its faults."""

    ir: str
    frame_stride: int  # bytes of one warp's frame, header included
    frame_header: int  # bytes of it that hold the masks of waiting lanes, zero at a block's start
    sites: tuple[Site, ...]
    traps: tuple[int, ...]  # step number of each trap; trap k faults with site -(k + 1)
    counters: int


def generate(
    program: Program,
    shape: Shape,
    symbols: Symbols,
    probes: Sequence[Probe] = (),
    promises: Promises | None = None,
) -> KernelCode:
    """A kernel's code for one block shape and what its launches promise.

    None asks for the reference implementation, in which every register is a vector and every branch is
    taken to diverge.
    """
    builder = Builder(set(DECLARATIONS))
    if promises is None:
        plain = Access(builder)
        divergent = tuple(block.splits is not None for block in program.blocks)
        pending = find_pending(program.blocks, divergent, program.fair)
        lanes = VectorLanes(plain, LocalMemory(plain, program.local.size), shape, probes)
        return _assemble(
            program, shape, symbols, probes, lanes, {}, pending, tuple(False for _ in program.blocks)
        )
    inference = infer_kinds(program, shape, promises, symbols)
    access = Patterns(builder)
    fast = KindLanes(access, LocalMemory(access, program.local.size), shape, promises, probes)
    full = find_full(program.blocks, inference.divergent, inference.pending)
    if shape.threads % 32:
        full = tuple(False for _ in full)
    return _assemble(program, shape, symbols, probes, fast, inference.kinds, inference.pending, full)


def _assemble(
    program: Program,
    shape: Shape,
    symbols: Symbols,
    probes: Sequence[Probe],
    lanes: VectorLanes,
    kinds: Mapping[str, Kind],
    pending: Pending,
    full: tuple[bool, ...],
) -> KernelCode:
    counters = 0
    for probe in probes:
        probe.prepare(program.blocks)
        probe.first = counters
        counters += probe.counters
    builder = lanes.builder
    registers = Registers(builder, program.registers, kinds)
    warp = WarpFunction(program, pending, full, Steps(lanes, registers, symbols), probes)
    body = warp.emit()
    header = -(-warp.kept_bytes // 64) * 64
    stride = header + -(-registers.frame_size // 64) * 64
    loop = _block_loop(shape, header, stride, warp.first_yield, program.local.size)
    outlined = "".join(gather_helper(type_, builder.declarations) for type_ in sorted(lanes.access.gathers))
    outlined += "".join(atomic_helper(*one, builder.declarations) for one in sorted(lanes.access.atomics))
    module = "\n".join([*sorted(builder.declarations), helpers(), outlined, body, loop, _METADATA])
    return KernelCode(module, stride, header, tuple(lanes.access.sites), tuple(warp.traps), counters)


_METADATA = """
!0 = !{}
!1 = !{!"branch_weights", i32 1, i32 100000}
"""

_ARGUMENTS = (
    "ptr %context, i32 %warp, i32 %state, i32 %start_mask, "
    "i32 %cx, i32 %cy, i32 %cz, i32 %gx, i32 %gy, i32 %gz, "
    "ptr %threads_of_warp, ptr %parameters, ptr %shared, i64 %shared_address, i64 %shared_size, "
    "ptr %frame, ptr %local, ptr %sites, ptr %stop, ptr %counters, ptr %lane_buffer, ptr %lane_addresses"
)


def _words(*names: tuple[str, str, str]) -> str:
    """Loads of context words: (value name, word, LLVM type)."""
    lines: list[str] = []
    for value, word, type_ in names:
        lines.append(f"  %{value}.p = getelementptr i64, ptr %context, i64 {SLOT[word]}")
        lines.append(f"  %{value} = load {type_}, ptr %{value}.p")
    return "\n".join(lines)


def _block_loop(shape: Shape, header: int, stride: int, first_yield: int | None, local: int) -> str:
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
        ("limit", "limit", "ptr"),
        ("threads", "threads", "ptr"),
    )
    tail = shape.threads % 32
    last_mask = (1 << tail) - 1 if tail else -1
    # Registers and shared memory start the same in every block, whichever worker runs it.
    clear = "call void @llvm.memset.p0.i64(ptr %shared, i8 0, i64 %shared_size, i1 false)"
    frames = f"call void @llvm.memset.p0.i64(ptr %frames, i8 0, i64 {shape.warps * stride}, i1 false)"
    # Warps that yield are run again; barriers open once every other warp waits at them.
    yields = first_yield if first_yield is not None else 1 << 30
    warp_local = 32 * local  # bytes of a warp
    local_clear = (
        f"call void @llvm.memset.p0.i64(ptr %locals, i8 0, i64 {shape.warps * warp_local}, i1 false)"
    )
    return f"""
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

define i64 @run(ptr %context) #0 {{
entry:
  %lane_buffer = alloca [2048 x i8], align 64
  %lane_addresses = alloca [32 x i64], align 64
{words}
  %shared_address = ptrtoint ptr %shared to i64
  %gx = trunc i64 %gx64 to i32
  %gy = trunc i64 %gy64 to i32
  %gz = trunc i64 %gz64 to i32
  br label %take
take:
  %from = atomicrmw add ptr %next, i64 %chunk monotonic
  %some = icmp slt i64 %from, %count
  br i1 %some, label %got, label %finished
got:
  %wanted = add i64 %from, %chunk
  %to = call i64 @llvm.smin.i64(i64 %wanted, i64 %count)
  br label %next_block
next_block:
  %block = phi i64 [ %from, %got ], [ %block.next, %block_done ]
  %stopping = load volatile i32, ptr %stop
  %asked = icmp ne i32 %stopping, 0
  %first_bad = load volatile i64, ptr %limit
  %late = icmp sge i64 %block, %first_bad
  %halt = or i1 %asked, %late
  br i1 %halt, label %stopped, label %start_block
start_block:
  %cx64 = urem i64 %block, %gx64
  %yz = udiv i64 %block, %gx64
  %cy64 = urem i64 %yz, %gy64
  %cz64 = udiv i64 %yz, %gy64
  %cx = trunc i64 %cx64 to i32
  %cy = trunc i64 %cy64 to i32
  %cz = trunc i64 %cz64 to i32
  {clear}
  {frames if header else ""}
  {local_clear if local else ""}
  br label %round
round:
  %first_round = phi i1 [ true, %start_block ], [ false, %round_done ]
  %open = phi i1 [ true, %start_block ], [ %open.next, %round_done ]
  br label %next_warp
next_warp:
  %warp = phi i32 [ 0, %round ], [ %warp.next, %warp_done ]
  %waiting = phi i1 [ false, %round ], [ %waiting.next, %warp_done ]
  %open.now = phi i1 [ true, %round ], [ %open.next, %warp_done ]
  %warp64 = zext i32 %warp to i64
  %state.p = getelementptr i32, ptr %states, i64 %warp64
  %state.kept = load i32, ptr %state.p
  %state = select i1 %first_round, i32 {START}, i32 %state.kept
  %state.less = sub i32 %state, {RESUME}
  %gone = icmp eq i32 %state, {DONE}
  %at_barrier = icmp ult i32 %state.less, {yields - RESUME}
  %shut = xor i1 %open, true
  %held = and i1 %at_barrier, %shut
  %idle = or i1 %gone, %held
  br i1 %idle, label %warp_done, label %run_warp
run_warp:
  %is_last = icmp eq i32 %warp, {shape.warps - 1}
  %start_mask = select i1 %is_last, i32 {last_mask}, i32 -1
  %threads_offset = mul i64 %warp64, 128
  %threads_of_warp = getelementptr i8, ptr %threads, i64 %threads_offset
  %frame_offset = mul i64 %warp64, {stride}
  %frame_start = getelementptr i8, ptr %frames, i64 %frame_offset
  %frame = getelementptr i8, ptr %frame_start, i64 {header}
  %local_offset = mul i64 %warp64, {warp_local}
  %local = getelementptr i8, ptr %locals, i64 %local_offset
  %result = call i32 @warp({_ARGUMENTS})
  %bad = icmp slt i32 %result, 0
  br i1 %bad, label %broken, label %keep_state, !prof !1
keep_state:
  store i32 %result, ptr %state.p
  br label %warp_done
warp_done:
  %now = phi i32 [ %state, %next_warp ], [ %result, %keep_state ]
  %waits = icmp ne i32 %now, {DONE}
  %waiting.next = or i1 %waiting, %waits
  %settled = icmp slt i32 %now, {yields}
  %open.next = and i1 %open.now, %settled
  %warp.next = add i32 %warp, 1
  %more_warps = icmp ult i32 %warp.next, {shape.warps}
  br i1 %more_warps, label %next_warp, label %round_done
round_done:
  br i1 %waiting.next, label %round, label %block_done
block_done:
  %block.next = add i64 %block, 1
  %more_blocks = icmp slt i64 %block.next, %to
  br i1 %more_blocks, label %next_block, label %take
broken:
  %warp.w = getelementptr i64, ptr %context, i64 {SLOT["fault_warp"]}
  store i64 %warp64, ptr %warp.w
  %block.w = getelementptr i64, ptr %context, i64 {SLOT["fault_block"]}
  store i64 %block, ptr %block.w
  %lowest = atomicrmw min ptr %limit, i64 %block monotonic
  %code = sext i32 %result to i64
  ret i64 %code
stopped:
  ret i64 {STOPPED}
finished:
  ret i64 {OK}
}}
"""
