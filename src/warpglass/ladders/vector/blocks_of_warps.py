"""Blocks of whole warps: 4 blocks of 32 threads for 100 elements, and 28 threads that find nothing to do.

The kernel is that of element_per_thread, and the launch is what there is to see: the number of blocks is n /
block, rounded up, (n + block - 1) / block in whole numbers. The last block reaches beyond the array; its
guard, i < n, sends 28 of its 32 threads home.

Look at the requests: one for 32 elements, where one thread a block needed 32.
"""

from warpglass.ladders.rung import Claim, Rung, RungKernel
from warpglass.ladders.vector.element_per_thread import element_per_thread

RUNG = Rung(
    table="few",
    follows="one_thread_a_block",
    kernels=(RungKernel(python=element_per_thread),),
    claims=(
        Claim("launch__grid_size", "==", 4.0),
        Claim("launch__thread_count", "==", 128.0),
        Claim("global_load_requests", "<", "one_thread_a_block"),
    ),
)
