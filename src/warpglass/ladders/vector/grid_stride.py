"""A grid of fixed size: every thread adds an element, goes on by the size of the grid, and adds the next.

The grid no longer depends on n, and need not cover it: 1056 blocks are eight for each of an H100's 132
multiprocessors, all of which run at once. What a thread computes once, such as its number, serves all its
elements. In every step the grid's threads use neighbouring elements, so accesses stay in order.

The stride is the number of threads in the grid, gridDim * blockDim. The notes write blockDim * blockDim,
which is the same only if there are as many blocks as threads in a block (see grid_stride_as_written).

Look at what does not change: the bytes. Where memory is the limit, fewer instructions save little.
"""

from typing import Any

from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Claim, LaunchShape, Rung, cuda
from warpglass.ladders.vector.counts import blocks_for

MOST_BLOCKS = 1056


def grid_stride(x: Any, y: Any, z: Any, n: Any) -> None:
    """Add elements, a whole grid apart."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    while i < n:
        z[i] = x[i] + y[i]
        i += cuda.gridDim.x * cuda.blockDim.x


def shape(case: Case, block: int) -> LaunchShape:
    """Blocks enough to cover the array, but no more than MOST_BLOCKS."""
    return LaunchShape(min(MOST_BLOCKS, max(1, blocks_for(case.size, block))), block)


RUNG = Rung(
    table="vector",
    follows="element_per_thread",
    shape=shape,
    claims=(
        Claim("launch__thread_count", "<", "element_per_thread"),
        Claim("gld_efficiency", "==", 100.0),
        Claim("gst_efficiency", "==", 100.0),
    ),
)
