"""The largest tile that a block can load at one element a thread: 28 x 28 elements from 32 x 32 threads.

The ratio of reads grows from 16 to 25 * 28^2 / 32^2 = 19.1, and rows of threads are whole warps now: a load
is one line or two, and the lanes without an element to compute are the last four of every warp.

Look at divergence again, and at bank conflicts: words that a warp reads from the tile lie side by side, so
there are none.
"""

from warpglass.ladders.conv2d.problem import RADIUS, blocks_over
from warpglass.ladders.conv2d.tiled import kernel
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Claim, LaunchShape, Rung


def shape(case: Case, block: int) -> LaunchShape:
    """Blocks of 32 x 32 threads for 28 x 28 elements each."""
    return blocks_over(case, 28, 28 + 2 * RADIUS)


RUNG = Rung(
    follows="tiled",
    kernels=(kernel(28),),
    shape=shape,
    claims=(
        Claim("global_load_requests", "<", "tiled"),
        Claim("shared_bank_conflicts", "==", 0.0),
    ),
)
