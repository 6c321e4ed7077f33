"""The passes between a program and its IR, in their order: what each needs, gives and measurably gains.

`generate` (kernel.py) walks the list, then emits what it has left. The reference implementation does without
all but two of them, and observed code keeps the program's own instructions in their order. Every pass with a
gain may be taken out of the list: results stay the same (tests/codegen/test_passes.py does it).

The gains are from a review that did so, one at a time: how many times as long the kernels of bench/engine
took without, as a geometric mean, and the most. Narrow integers and exact NaNs are no passes, but forms in
which values are emitted (lanes/).
"""

from __future__ import annotations

from dataclasses import replace

from ..isa.flushing import may_flush
from ..program import (
    Block,
    Program,
    find_full,
    find_pending,
    find_quotients,
    find_streaming,
    guard_discarded_reads,
    keep_counters,
    rematerialise,
    roll_ranges,
    select_values,
    sink,
    split_ranges,
    split_tests,
)
from ..program.passes import Pass, run_passes
from .control.open_barriers import open_barriers
from .few_lanes.find import find_few_lanes
from .infer import Inference, infer_kinds
from .lane_loops.choose import choose_lane_loops
from .lane_loops.remainders import join_remainders
from .machine.target import flushes
from .memory.merged_checks import merge_checks
from .memory.neighbours import find_neighbours
from .memory.prefetch import find_prefetches
from .memory.row_stores import find_row_stores
from .memory.shared_tables import find_shared_tables
from .memory.tiles import find_tiles
from .operands import Symbols
from .path_bounds.analysis import bound_by_paths
from .path_bounds.rounds import unroll
from .shape import BlockShape, Promises
from .version import Version
from .warp_fusion import fuse_warps


# ------------------------------------------------------------------------------------ when
def _reference(v: Version) -> bool:
    return v.promises is None


def _optimised(v: Version) -> bool:
    return v.promises is not None


def _whole(v: Version) -> bool:
    return not v.small


def _unobserved(v: Version) -> bool:
    """In clusters, too, shared memory is not where these look for it."""
    return v.promises is not None and not v.observed and not v.program.clustered


def _reads_matter(v: Version) -> bool:
    return any(probe.judges_reads for probe in v.probes)


def _repeated(v: Version) -> bool:
    """All integers are promised, which decides most loops; such launches repeat, so nobody waits for it."""
    return v.promises is not None and v.promises.exact and not v.observed


# ------------------------------------------------------------------------------------ what
def _let_host_flush(program: Program, promises: Promises) -> Promises:
    """Promise that the host flushes subnormal numbers, if all of the program wants it."""
    matches = (step.match for block in program.blocks for step in block.all_steps)
    wanted = flushes() and not program.services and may_flush(matches)
    return replace(promises, flushes=True) if wanted else promises


def _roll_ranges(
    program: Program, shape: BlockShape, promises: Promises, symbols: Symbols
) -> tuple[Program, BlockShape]:
    """Roll up loops over ranges: lanes come to faults in another order than the program's."""

    def bound(program: Program) -> Program:
        return bound_by_paths(program, shape, promises, symbols) if promises.exact else program

    rolled = roll_ranges(program, bound)
    return rolled, shape if rolled is program else replace(shape, reordered=True)


def _assume_vectors(program: Program) -> Inference:
    divergent = tuple(block.splits is not None for block in program.blocks)
    return Inference({}, divergent, find_pending(program.blocks, divergent, program.fair, roughly=True))


def _rematerialise(
    program: Program, shape: BlockShape, promises: Promises, symbols: Symbols, inference: Inference
) -> tuple[Program, Inference]:
    """Compute again what other blocks have as vectors; the kinds of those registers are found, too."""
    vectors = {name for name, kind in inference.kinds.items() if kind.offsets is None}
    again = rematerialise(program, vectors)
    return again, inference if again is program else infer_kinds(again, shape, promises, symbols)


def _find_full(blocks: tuple[Block, ...], shape: BlockShape, inference: Inference) -> tuple[bool, ...]:
    """Blocks that run with all lanes that are emitted: a partial warp begins with fewer."""
    if shape.last != shape.width or shape.together != shape.width:
        return (False,) * len(blocks)
    return find_full(blocks, inference.divergent, inference.pending)


def _yes() -> bool:
    """What a pass gives that only says how accesses, or loops over warps, are emitted."""
    return True


_ALONE = "not measured alone"

_FLUSHING = "1.9, most 2.6 (of programs compiled with -use_fast_math)"
_PROMISED = "program shape promises symbols"
_KNOWN = f"{_PROMISED} inference"
# Up to the kinds of registers, and what lets more be said of them.
_TO_KINDS = (
    Pass("flushing host", _let_host_flush, "program promises", "promises", _unobserved, _FLUSHING),
    Pass("discarded reads", guard_discarded_reads, "program", "program", _reads_matter),
    Pass("paired tests", split_tests, "program", "program", _unobserved, _ALONE),
    Pass("quotients", find_quotients, "program", "program", _unobserved, _ALONE),
    Pass("selections", select_values, "program", "program", _unobserved, _ALONE),
    Pass("live ranges", split_ranges, "program", "program", _unobserved, _ALONE),
    Pass("counters", keep_counters, "program", "program", _unobserved, "1.2, most 4.9 (of four)"),
    Pass("sinking", sink, "program", "program", _repeated, _ALONE),
    Pass("rounds with barriers", unroll, _PROMISED, "program", _repeated, "1.3, most 4.9 (of 21)"),
    Pass("range loops", _roll_ranges, _PROMISED, "program shape", _unobserved, "2.3, most 3.5 (of four)"),
    Pass("path-sensitive bounds", bound_by_paths, _PROMISED, "program", _repeated, "1.19, most 4.6"),
    Pass("all registers vectors", _assume_vectors, "program", "inference", _reference),
    Pass("kinds of registers", infer_kinds, _PROMISED, "inference", _optimised),
    Pass("rematerialisation", _rematerialise, _KNOWN, "program inference", _unobserved, _ALONE),
)
_TILED = "program inference.kinds lane_loops few_lanes"
_ROWS = "program shape inference lane_loops few_lanes"
PASSES = (
    *_TO_KINDS,
    Pass("warp fusion", fuse_warps, _KNOWN, "shape inference", _unobserved, "1.51"),
    Pass("open barriers", open_barriers, "program shape inference", "program inference", _unobserved, _ALONE),
    Pass(
        "remainder loops",
        join_remainders,
        _KNOWN,
        "program shape inference deserted",
        _unobserved,
        "1.2 (of three)",
    ),
    Pass("full blocks", _find_full, "program.blocks shape inference", "full", _optimised, _ALONE),
    Pass("merged checks", merge_checks, "program inference.kinds", "regions", _unobserved, "1.23, most 2.2"),
    Pass("neighbours", find_neighbours, "program inference.kinds", "neighbours", _unobserved, _ALONE),
    Pass("shared tables", find_shared_tables, "program", "shared_tables", _unobserved, _ALONE),
    Pass("masked boundaries", _yes, "", "masks_boundaries", _optimised, "1.29, most 3.1"),
    Pass("segments", _yes, "", "by_segments", _optimised, "1.01, most 1.27 (on Zen 4)"),
    Pass("loops of lanes", choose_lane_loops, f"{_KNOWN} deserted", "lane_loops", _unobserved, _ALONE),
    Pass(
        "few lanes", find_few_lanes, "program shape inference full deserted", "few_lanes", _unobserved, _ALONE
    ),
    Pass("row tiles", find_tiles, _TILED, "tiles", _unobserved, _ALONE),
    Pass("row stores", find_row_stores, _ROWS, "row_stores", _unobserved, _ALONE),
    Pass("prefetching", find_prefetches, "program shape", "prefetches", _optimised, _ALONE),
    Pass("streaming stores", find_streaming, "program.blocks", "streaming", _optimised, _ALONE),
    Pass("barrier regions", _yes, "", "by_region", _whole, _ALONE),
)


def with_kinds(program: Program, shape: BlockShape, symbols: Symbols, promises: Promises) -> Version:
    """A version whose registers' kinds are known, and no more."""
    version = Version(program, shape, symbols, (), promises)
    run_passes(_TO_KINDS, version)
    return version
