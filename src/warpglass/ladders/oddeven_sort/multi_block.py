"""Many blocks: all are sorted, then all again shifted by half a block, as often as there are blocks.

Pass a sorts spans of 2 * blockDim.x elements, one a block. Pass b sorts the spans that begin in the middle of
those, one fewer. This is odd-even sort once more, of half blocks: the smallest element moves one span to the
front with each a/b cycle, so G spans are sorted after G cycles. Blocks cannot wait for each other, so the end
of a kernel is the barrier, and the host program launches 2G kernels.

Look at the work: G cycles of 2G - 1 blocks, (2B)^2 / 2 comparisons each, are n^2, twice the host's. The grid
pays only because its blocks run side by side. The cost model below the table compares both.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from warpglass.ladders.oddeven_sort.one_block import KERNEL
from warpglass.ladders.problem import Case
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Claim, Rung, Shape
from warpglass.ladders.sorting import span_shape


def sort_in_passes(run: Run, kernel: str, shape: Callable[[Case, int], Shape]) -> None:
    """Launch pass a and pass b of a kernel that sorts one span a block, for every span once."""
    whole = shape(run.case, run.block)
    spans, block, shared = whole.grid3[0], run.block, whole.shared
    if spans == 1:
        run.launch(kernel, whole, "x", "n")
        return
    # The last half span, which pass b leaves out, is the end of a span that pass a has sorted.
    shifted = run.part(run["x"], block)
    rest = np.uint32(run.case.size - block)
    for _ in range(spans):
        run.launch(kernel, whole, "x", "n")
        run.launch(kernel, Shape(spans - 1, block, shared), shifted, rest)


def program(run: Run) -> None:
    """Dispatch the passes."""
    sort_in_passes(run, "one_block", span_shape)


RUNG = Rung(
    name="multi_block",
    table="oddeven_sort",
    explanation=__doc__ or "",
    follows="host_oddeven",
    kernels=(KERNEL,),
    program=program,
    shape=span_shape,
    claims=(Claim("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "==", 100.0),),
)
