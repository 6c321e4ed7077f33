"""Interleaved pairs: the stride starts at half the block and halves in each step.

Thread t adds element t + stride to element t. Which threads work is unchanged, but now neighbours in a warp
touch neighbours in memory, in every step.

Look at coalescing: a warp's 32 doubles are 256 consecutive bytes, 8 sectors instead of up to 32, so load
and store efficiency rise at once. The arithmetic of the index (a multiplication) is gone as well.
"""

from typing import Any

from warpglass.ladders.reduction.rung import reduction_rung
from warpglass.ladders.rung import Claim, cuda


def interleaved(x: Any, partial: Any, n: Any) -> None:
    """Add the second half of the block to the first, then the second quarter, ..."""
    tid = cuda.threadIdx.x
    base = cuda.blockIdx.x * cuda.blockDim.x
    count = n - base  # elements left from this block on
    stride = cuda.blockDim.x // 2
    while stride > 0:
        if tid < stride and tid + stride < count:
            x[base + tid] += x[base + tid + stride]
        cuda.syncthreads()
        stride >>= 1
    if tid == 0:
        if count > 0:
            partial[cuda.blockIdx.x] = x[base]
        else:
            partial[cuda.blockIdx.x] = 0


RUNG = reduction_rung(
    follows="neighbored_less",
    claims=(Claim("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "<", "neighbored_less"),),
)
