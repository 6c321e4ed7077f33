"""A whole kernel as one LLVM module: its helpers, the warp function and the block loop around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..isa.atomic import float_sum
from ..isa.lanes import Update
from ..program import Barrier, Block, Program
from ..program.passes import run_passes
from .builder import Builder
from .control.barriers import barrier_helpers, names_barriers
from .control.block_loop import WarpScheduling, block_loop
from .control.turns import turn_helpers
from .control.warp import PARAMETERS, WarpFunction
from .lane_loops.one_lane import learn_helper
from .lane_loops.order import order_helper
from .lanes.fast import FastLanes
from .lanes.narrow import loaded_narrow
from .lanes.reference import ReferenceLanes
from .memory.access import Access
from .memory.deferred import deferred_helpers
from .memory.functions import access_functions
from .memory.local import LocalMemory
from .memory.sites import Site
from .memory.streaming import streaming_helper
from .memory.warp_atomics import WarpAtomics
from .operands import Symbols
from .outlines import outline_helpers
from .passes import PASSES
from .probes import Probe, WorkerWords
from .registers import IN_MEMORY, Registers
from .runtime import DECLARATIONS, helpers
from .shape import BlockShape, Promises
from .small.slots import SlotRegisters
from .small.steps import SharedSteps
from .steps import Steps
from .version import Version


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
    words: int  # 64-bit words that probes and regions of few lanes own in each worker's memory
    barriers: tuple[int, ...]  # step number of each; a warp that waits at barrier k has state RESUME + k
    waiting: Mapping[int, int]  # step -> byte of a warp's frame with the mask of the lanes that wait at it
    yields: Mapping[int, int]  # state of a warp that lets others run -> header of the loop that it is in
    places: tuple[int | None, ...]  # step number that says where each basic block is from
    turns: bool  # whether blocks wait for those before them
    defers: bool  # whether they may leave sums for their ends
    spared: int  # lines of IR that small code would have more if its steps were put in

    def text(self, *, quick: bool) -> str:
        """The module for quick or for optimised code."""
        if not quick:
            return f"{self.ir}\n{self.loop}"
        ir = self.ir
        if len(ir) > _LONGEST_INLINED:
            before, warp, behind = ir.partition(" @warp(")
            ir = before + warp + behind.replace("alwaysinline ", "noinline ", 1)
        return f"{ir}\n{self.quick_loop}"


def generate(
    program: Program,
    shape: BlockShape,
    symbols: Symbols,
    probes: Sequence[Probe] = (),
    promises: Promises | None = None,
    *,
    small: bool = False,
) -> KernelCode:
    """A kernel's code for one block shape and what its launches promise.

    None asks for the reference implementation, in which every register is a vector and every branch is
    taken to diverge. `small` asks for as little code of that as can be (small/), without probes.
    """
    version = Version(program, shape, symbols, tuple(probes), None if small else promises, small)
    run_passes(PASSES, version)
    return _emit(version)


def _emit(version: Version) -> KernelCode:
    program, shape, pending = version.program, version.shape, version.inference.pending
    words = WorkerWords()
    for probe in version.probes:
        probe.prepare(program, words)
    lanes = _lanes(version)
    registers, steps = _steps(version, lanes)
    warp = WarpFunction(version, steps, words)
    body = warp.emit()
    scheduling = WarpScheduling(
        header=warp.header,
        stride=warp.header + -(-registers.frame_size // 64) * 64,
        clears=bool(warp.header) and warp.reads_unwritten,
        first_yield=warp.dispatch.first_yield,
        local=program.local.size,
        resumes=warp.dispatch.resumes,
        named=names_barriers(program),
        turns=bool(program.ordered),
        defers=bool(lanes.access.deferred),
        any_order=any(probe.any_order for probe in version.probes),
        flushes=version.promises is not None and version.promises.flushes,
    )
    functions = [*steps.functions, *warp.dispatch.functions, *warp.few_lanes.functions]
    functions += [IN_MEMORY] if registers.in_memory else []
    barriers = _barriers(program)
    by_region = version.by_region and len(body) * (2 + scheduling.resumes) < _LONGEST_BY_REGION
    return KernelCode(
        shape=shape,
        ir=_module(version, lanes, body, scheduling, functions),
        loop=block_loop(shape, scheduling, by_region=by_region),
        quick_loop=block_loop(shape, scheduling, by_region=False),
        frame_stride=scheduling.stride,
        sites=tuple([site.at(program.number_of(site.step)) for site in lanes.access.sites]),
        traps=tuple(map(program.number_of, warp.traps)),
        words=words.size,
        barriers=tuple(barriers[resume] for resume in pending.resumes),
        waiting=warp.waiting_words(),
        yields=dict(enumerate(warp.dispatch.yields, start=warp.dispatch.first_yield or 0)),
        places=tuple(_place(program, block) for block in program.blocks),
        turns=scheduling.turns,
        defers=scheduling.defers,
        spared=steps.length,
    )


def _barriers(program: Program) -> dict[int, int]:
    """The step number of the first barrier behind which each block goes on, by the block."""
    ends = (block.end for block in reversed(program.blocks))
    return {end.resume: program.number_of(end.step.number) for end in ends if isinstance(end, Barrier)}


def _place(program: Program, block: Block) -> int | None:
    """The number of a step of a block, preferably one whose source is known."""
    steps = block.all_steps
    step = next((step for step in steps if step.instruction.source), steps[0] if steps else None)
    return None if step is None else program.number_of(step.number)


def _steps(version: Version, lanes: ReferenceLanes) -> tuple[Registers, Steps]:
    """What emits steps, and the registers that they are on."""
    if version.small:
        slots = SlotRegisters(lanes.builder, version.program)
        return slots, SharedSteps(lanes, slots, version.symbols, PARAMETERS.format(lanes=lanes.builder.lanes))
    registers = Registers(lanes.builder, version.program.registers, version.inference.kinds)
    steps = Steps(lanes, registers, version.symbols)
    if version.promises is not None:
        steps.narrow = loaded_narrow(version.program)
    return registers, steps


def _lanes(version: Version) -> ReferenceLanes:
    """The implementation of the lanes vocabulary, with what the passes have found for accesses."""
    program, shape = version.program, version.shape
    lanes = f"i{shape.width}"
    builder = Builder({*DECLARATIONS, f"declare {lanes} @llvm.cttz.{lanes}({lanes}, i1)"}, shape.width)
    if version.promises is None:
        plain = Access(builder)
        local = LocalMemory(plain, program.local.size, program.strays)
        return ReferenceLanes(plain, local, shape, version.probes)
    access = WarpAtomics(builder)
    access.streaming, access.prefetches = version.streaming, version.prefetches
    access.tiles, access.row_stores = version.tiles, version.row_stores
    access.neighbours, access.shared_tables = version.neighbours, version.shared_tables
    access.deferred = frozenset() if version.probes else program.deferrable
    access.masks_boundaries, access.by_segments = version.masks_boundaries, version.by_segments
    local = LocalMemory(access, program.local.size, program.strays)
    return FastLanes(access, local, shape, version.promises, version.probes)


def _module(
    version: Version, lanes: ReferenceLanes, body: str, scheduling: WarpScheduling, steps: Sequence[str]
) -> str:
    """The module without its block loop: declarations, the functions that the warp function calls, itself.

    `steps` are those that stand for steps.
    """
    program, width, access = version.program, version.shape.width, lanes.access
    declared = lanes.builder.declarations
    functions = access_functions(access, declared, width)
    functions += steps
    functions += outline_helpers(lanes.outlines, declared, width)
    if version.lane_loops or any(region.apart for region in version.few_lanes.values()):
        functions.append(learn_helper())
    if version.lane_loops:
        functions.append(order_helper(declared, width))
    if scheduling.named:
        functions.append(barrier_helpers(declared))
    if scheduling.turns:
        functions.append(turn_helpers(declared))
    if scheduling.defers:
        functions.append(deferred_helpers(*_deferred_sum(program), declared))
    functions += [probe.helpers(declared) for probe in version.probes]
    if access.uses_streaming:
        functions.append(streaming_helper([not site.write for site in access.sites]))
    served = helpers(
        program.local.size if program.strays else 0,
        width,
        streaming=access.uses_streaming,
        refusing=access.refuse is not None,
    )
    return "\n".join([*sorted(declared), served, "".join(functions), body, _METADATA])


def _deferred_sum(program: Program) -> tuple[Update, str]:
    steps = (step for block in program.blocks for step in block.steps)
    type_ = next(step.match.type for step in steps if step.number in program.deferrable)
    assert type_ is not None, "it is a sum"
    return float_sum(type_)


# Characters of IR up to which a kernel's optimised code has a copy for each place where its warps may wait.
_LONGEST_BY_REGION = 20 << 20

# Characters of IR up to which quick code has the warp function within its loops. Beyond, to put it in takes a
# tenth of all the time, and to call it nothing that one would see.
_LONGEST_INLINED = 1 << 18

_METADATA = """
!0 = !{}
!1 = !{!"branch_weights", i32 1, i32 100000}
!2 = !{!"branch_weights", i32 100000, i32 1}
!3 = !{i32 1}
"""
