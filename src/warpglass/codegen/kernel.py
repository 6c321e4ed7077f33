"""A whole kernel as one LLVM module: the helpers, the warp function and the block loop around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..program import Pending, Program, find_full, find_pending
from .builder import Builder
from .control.barriers import barrier_helpers, names_barriers
from .control.block_loop import WarpScheduling, block_loop
from .control.clock import clock_readers
from .control.turns import turn_helper
from .control.warp import WarpFunction
from .infer import infer_kinds
from .lane_loops.find import LaneLoop, find_lane_loops
from .lane_loops.one_lane import learn_helper
from .lanes.fast import FastLanes
from .lanes.reference import ReferenceLanes
from .memory.access import Access, Site
from .memory.atomics import atomic_helper
from .memory.gather_scatter import fetch_helper, gather_helper, irregular_helper, scatter_helper
from .memory.local import LocalMemory
from .memory.merged_checks import VersionedRegion, find_versioned
from .memory.prefetch import find_prefetches
from .memory.streaming import streaming_helper
from .memory.warp_atomics import WarpAtomics, row_helper
from .operands import Symbols
from .outlines import outline_helper
from .path_bounds.specialise import specialise
from .probes import Probe, Words
from .registers import Kind, Registers
from .runtime import DECLARATIONS, helpers
from .shape import BlockShape, Promises
from .steps import Steps
from .warp_fusion import fused_shape, pays


@dataclass(frozen=True, slots=True)
class KernelCode:
    """A kernel's LLVM IR and what the engine must know to run it and to explain its faults."""

    shape: BlockShape  # the block's, with the lanes that run together
    ir: str  # all but the block loop
    loop: str  # the block loop of optimised code
    quick_loop: str
    frame_stride: int  # bytes of one warp's frame, header included
    sites: tuple[Site, ...]
    traps: tuple[int, ...]  # step number of each trap; trap k faults with site -(k + 1)
    words: int  # 64-bit words that the probes own in each worker's memory
    resumes: tuple[int, ...]  # the block behind each barrier; a warp that waits there has state RESUME + k
    waiting: Mapping[int, int]  # step -> byte of a warp's frame with the mask of the lanes that wait at it
    yields: Mapping[int, int]  # state of a warp that lets others run -> header of the loop that it is in
    turns: bool  # whether blocks wait for those before them

    def text(self, *, quick: bool) -> str:
        """The module for quick or for optimised code."""
        return f"{self.ir}\n{self.quick_loop if quick else self.loop}"


def generate(
    program: Program,
    shape: BlockShape,
    symbols: Symbols,
    probes: Sequence[Probe] = (),
    promises: Promises | None = None,
) -> KernelCode:
    """A kernel's code for one block shape and what its launches promise.

    None asks for the reference implementation, in which every register is a vector and every branch is
    taken to diverge.
    """
    if promises is None:
        plain = Access(_builder(shape))
        divergent = tuple(block.splits is not None for block in program.blocks)
        pending = find_pending(program.blocks, divergent, program.fair)
        lanes = ReferenceLanes(plain, LocalMemory(plain, program.local.size, program.strays), shape, probes)
        return _assemble(
            program, shape, symbols, probes, lanes, {}, pending, tuple(False for _ in program.blocks), {}, {}
        )
    # Probes see the instructions that the program has, and the clock counts them, in that order.
    plain = probes or clock_readers(program)
    if not plain:
        program = specialise(program, shape, promises, symbols)
    inference = infer_kinds(program, shape, promises, symbols)
    wide = fused_shape(program, shape) if not plain and pays(program, inference) else None
    if wide is not None:
        wider = infer_kinds(program, wide, promises, symbols)
        if not wider.pending.divergent_barrier and pays(program, wider):
            shape, inference = wide, wider
    access = WarpAtomics(_builder(shape))
    local = LocalMemory(access, program.local.size, program.strays)
    fast = FastLanes(access, local, shape, promises, probes)
    full = find_full(program.blocks, inference.divergent, inference.pending)
    if shape.threads % shape.width:
        full = tuple(False for _ in full)
    versioned = {} if plain else find_versioned(program, inference.kinds)
    alone = {} if plain else find_lane_loops(program, inference)
    return _assemble(
        program, shape, symbols, probes, fast, inference.kinds, inference.pending, full, versioned, alone
    )


def _builder(shape: BlockShape) -> Builder:
    lanes = f"i{shape.width}"
    return Builder({*DECLARATIONS, f"declare {lanes} @llvm.cttz.{lanes}({lanes}, i1)"}, shape.width)


def _assemble(
    program: Program,
    shape: BlockShape,
    symbols: Symbols,
    probes: Sequence[Probe],
    lanes: ReferenceLanes,
    kinds: Mapping[str, Kind],
    pending: Pending,
    full: tuple[bool, ...],
    versioned: Mapping[int, VersionedRegion],
    lane_loops: Mapping[int, LaneLoop],
) -> KernelCode:
    words = Words()
    for probe in probes:
        probe.prepare(program, words)
    builder = lanes.builder
    lanes.access.streaming, lanes.access.prefetches = program.streaming, find_prefetches(program, shape)
    registers = Registers(builder, program.registers, kinds)
    warp = WarpFunction(
        program, pending, full, Steps(lanes, registers, symbols), probes, versioned, lane_loops
    )
    body = warp.emit()
    header = -(-warp.kept_bytes // 64) * 64
    stride = header + -(-registers.frame_size // 64) * 64
    named = names_barriers(program)
    turns = bool(program.ordered)
    any_order = any(probe.any_order for probe in probes)
    waits = 0 if not pending.resumes else 1 if pending.divergent_barrier else len(pending.resumes)
    scheduling = WarpScheduling(
        header, stride, warp.dispatch.first_yield, program.local.size, waits, named, turns, any_order
    )
    access, declared, width = lanes.access, builder.declarations, shape.width
    outlined = "".join(gather_helper(type_, declared, width) for type_ in sorted(access.gathers))
    outlined += "".join(fetch_helper(type_, declared, width) for type_ in sorted(access.fetches))
    outlined += "".join(scatter_helper(type_, declared, width) for type_ in sorted(access.scatters))
    outlined += "".join(irregular_helper(*one, declared, width) for one in sorted(access.reaches))
    outlined += "".join(row_helper(*row, builder.declarations) for row in sorted(lanes.access.rows))
    outlined += "".join(atomic_helper(one, builder.declarations) for one in lanes.access.atomics.values())
    outlined += "".join(outline_helper(*one, declared, width) for one in lanes.outlines.values())
    if lane_loops:
        outlined += learn_helper()
    if named:
        outlined += barrier_helpers(builder.declarations)
    if turns:
        outlined += turn_helper()
    outlined += "".join(probe.helpers(builder.declarations) for probe in probes)
    streaming = lanes.access.uses_streaming
    if streaming:
        outlined += streaming_helper([not site.write for site in lanes.access.sites])
    parts = (
        helpers(program.local.size if program.strays else 0, width, streaming=streaming),
        outlined,
        body,
        _METADATA,
    )
    module = "\n".join([*sorted(builder.declarations), *parts])
    sites, traps = tuple(lanes.access.sites), tuple(warp.traps)
    waiting = {step: header - before for step, before in warp.waiting_words().items()}
    yields = dict(enumerate(warp.dispatch.yields, start=warp.dispatch.first_yield or 0))
    by_region = len(body) * (2 + waits) < _LONGEST_BY_REGION
    loop, quick_loop = (block_loop(shape, scheduling, by_region=wanted) for wanted in (by_region, False))
    return KernelCode(
        shape,
        module,
        loop,
        quick_loop,
        stride,
        sites,
        traps,
        words.size,
        pending.resumes,
        waiting,
        yields,
        turns,
    )


# Characters of IR up to which a kernel's optimised code has a copy for each place where its warps may wait.
_LONGEST_BY_REGION = 1 << 25

_METADATA = """
!0 = !{}
!1 = !{!"branch_weights", i32 1, i32 100000}
!2 = !{!"branch_weights", i32 100000, i32 1}
!3 = !{i32 1}
"""
