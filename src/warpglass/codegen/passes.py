"""The passes between a program and its IR, in their order: what each needs, gives and measurably gains.

`generate` (kernel.py) walks the list, then emits what it has left. The reference implementation does without
all but two of them, and observed code keeps the program's own instructions in their order. Every pass with a
gain may be taken out of the list: results stay the same (tests/codegen/test_passes.py does it).

The gains are from a review that did so, one at a time: how many times as long the kernels of bench/engine
took without, as a geometric mean, and the most. Narrow integers and exact NaNs are no passes, but forms in
which values are emitted (lanes/).
"""

from __future__ import annotations

from ..program import Program, find_full, find_pending, find_streaming, sink, split_tests
from ..program.passes import Pass, run_passes
from .infer import Inference, infer_kinds
from .lane_loops.find import find_lane_loops
from .memory.merged_checks import find_versioned
from .memory.prefetch import find_prefetches
from .path_bounds.analysis import bound_by_paths
from .shape import BlockShape, Promises
from .steps import Symbols
from .version import Version
from .warp_fusion import fused_shape, pays


# ------------------------------------------------------------------------------------ when
def _reference(v: Version) -> bool:
    return v.promises is None


def _optimised(v: Version) -> bool:
    return v.promises is not None


def _unobserved(v: Version) -> bool:
    return v.promises is not None and not v.observed


def _repeated(v: Version) -> bool:
    """All integers are promised, which decides most loops; such launches repeat, so nobody waits for it."""
    return v.promises is not None and v.promises.exact and not v.observed


# ------------------------------------------------------------------------------------ what
def _split_tests(v: Version) -> None:
    v.program = split_tests(v.program)


def _sink(v: Version) -> None:
    v.program = sink(v.program)


def _bound_by_paths(v: Version) -> None:
    v.program = bound_by_paths(v.program, v.shape, v.promised, v.symbols)


def _assume_vectors(v: Version) -> None:
    divergent = tuple(block.splits is not None for block in v.program.blocks)
    v.inference = Inference({}, divergent, find_pending(v.program.blocks, divergent, v.program.fair))


def _infer_kinds(v: Version) -> None:
    v.inference = infer_kinds(v.program, v.shape, v.promised, v.symbols)


def _fuse_warps(v: Version) -> None:
    fused = fused_shape(v.program, v.shape) if pays(v.program, v.inference) else None
    if fused is None:
        return
    inference = infer_kinds(v.program, fused, v.promised, v.symbols)
    if not inference.pending.divergent_barrier and pays(v.program, inference):
        v.shape, v.inference = fused, inference


def _find_full(v: Version) -> None:
    if v.shape.threads % v.shape.width == 0:
        v.full = find_full(v.program.blocks, v.inference.divergent, v.inference.pending)


def _merge_checks(v: Version) -> None:
    v.regions = find_versioned(v.program, v.inference.kinds)


def _mask_boundaries(v: Version) -> None:
    v.masks_boundaries = True


def _use_segments(v: Version) -> None:
    v.by_segments = True


def _find_lane_loops(v: Version) -> None:
    v.lane_loops = find_lane_loops(v.program, v.inference)


def _prefetch(v: Version) -> None:
    v.prefetches = find_prefetches(v.program, v.shape)


def _stream(v: Version) -> None:
    v.streaming = find_streaming(v.program.blocks)


def _part_at_barriers(v: Version) -> None:
    v.by_region = True


_ALONE = "not measured alone"

# Up to the kinds of registers, and what lets more be said of them.
_TO_KINDS = (
    Pass("paired tests", _split_tests, "program", "program", _unobserved, _ALONE),
    Pass("sinking", _sink, "program", "program", _repeated, _ALONE),
    Pass("path-sensitive bounds", _bound_by_paths, "program shape", "program", _repeated, "1.19, most 4.6"),
    Pass("all registers vectors", _assume_vectors, "program", "inference", _reference),
    Pass("kinds of registers", _infer_kinds, "program shape", "inference", _optimised),
)
PASSES = (
    *_TO_KINDS,
    Pass("warp fusion", _fuse_warps, "program shape inference", "shape inference", _unobserved, "1.51"),
    Pass("full blocks", _find_full, "program shape inference", "full", _optimised, _ALONE),
    Pass("merged checks", _merge_checks, "program inference", "regions", _unobserved, "1.23, most 2.2"),
    Pass("masked boundaries", _mask_boundaries, "", "masks_boundaries", _optimised, "1.29, most 3.1"),
    Pass("segments", _use_segments, "", "by_segments", _optimised, "1.01, most 1.27 (on Zen 4)"),
    Pass("loops of lanes", _find_lane_loops, "program inference", "lane_loops", _unobserved, _ALONE),
    Pass("prefetching", _prefetch, "program shape", "prefetches", _optimised, _ALONE),
    Pass("streaming stores", _stream, "program", "streaming", _optimised, _ALONE),
    Pass("barrier regions", _part_at_barriers, "", "by_region", gain=_ALONE),
)


def with_kinds(program: Program, shape: BlockShape, symbols: Symbols, promises: Promises) -> Version:
    """A version whose registers' kinds are known, and no more."""
    version = Version(program, shape, symbols, (), promises)
    run_passes(_TO_KINDS, version)
    return version
