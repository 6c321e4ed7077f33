"""Many blocks: all are sorted, then all again shifted by half a block, as often as there are blocks.

Pass a sorts spans of 2 * blockDim.x elements, one a block. Pass b sorts the spans that begin in the middle of
those, one fewer. This is odd-even sort once more, of half blocks: the smallest element moves one span to the
front with each a/b cycle, so G spans are sorted after G cycles. Blocks cannot wait for each other, so the end
of a kernel is the barrier, and the host program launches 2G kernels.

Look at the work: G cycles of 2G - 1 blocks, (2B)^2 / 2 comparisons each, are n^2, twice the host's. The grid
pays only because its blocks run side by side. The cost model below the table compares both.
"""

import numpy as np

from warpglass.ladders.oddeven_sort.one_block import one_block
from warpglass.ladders.run import HostRun
from warpglass.ladders.rung import Claim, LaunchShape, Rung, RungKernel


def sort_in_passes(run: HostRun) -> None:
    """Launch pass a and pass b of a kernel that sorts one span a block, for every span once."""
    whole, block = run.shape, run.block
    spans = whole.grid3[0]
    if spans == 1:
        run.launch(run.kernel, whole, "x", "n")
        return
    # The last half span, which pass b leaves out, is the end of a span that pass a has sorted.
    shifted = run.part(run["x"], block)
    rest = np.uint32(run.case.size - block)
    for _ in range(spans):
        run.launch(run.kernel, whole, "x", "n")
        run.launch(run.kernel, LaunchShape(spans - 1, block, whole.shared), shifted, rest)


RUNG = Rung(
    table="oddeven_sort",
    follows="host_oddeven",
    kernels=(RungKernel(python=one_block),),
    program=sort_in_passes,
    claims=(Claim("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "==", 100.0),),
)
