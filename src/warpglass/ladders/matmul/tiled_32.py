"""Tiles of 32 x 32: half of the reads that tiles of 16 x 16 leave, by blocks of 1024 threads.

Nothing but the constant changes: 2 n^3 / 32 elements come from global memory. A row of a tile is now a warp,
so every load of global memory is one whole line of 128 bytes.

Look at what does not change: shared memory still serves two words for every multiplication. A block of 1024
threads is also the largest there is, and all of it waits at each barrier. Larger tiles cannot follow on this
way; the next rung lets a thread compute more than one element.
"""

from warpglass.ladders.matmul.problem import square_blocks
from warpglass.ladders.matmul.tiled_16 import kernel
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Claim, LaunchShape, Rung


def shape(case: Case, block: int) -> LaunchShape:
    """A thread for every element, in blocks as large as a tile."""
    return square_blocks(case, 32)


RUNG = Rung(
    table="matmul",
    follows="tiled_16",
    kernels=(kernel(32),),
    shape=shape,
    claims=(
        Claim("global_load_requests", "<", "tiled_16"),
        Claim("shared_bank_conflicts", "==", 0.0),
    ),
)
