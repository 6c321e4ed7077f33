"""Neighboured pairs: in step k, every 2^(k+1)-th thread adds the element 2^k to its right.

The first kernel anybody writes: it follows the picture of a tree. A block reduces its own elements in place
in global memory, and a barrier separates the steps. It is right, and wasteful in two ways.

Look at divergence: `tid % (2 * stride) == 0` picks every second, fourth, eighth thread, so for the first
five steps each warp of the block runs with ever fewer of its 32 lanes active and none can retire early.
Look at coalescing too: the active lanes touch words 2 * stride apart, so from stride 4 on each double comes
in a 32-byte sector of its own. And the remainder is the slowest integer instruction there is.
"""

from typing import Any

from warpglass.ladders.reduction.rung import reduction_rung
from warpglass.ladders.rung import Claim, cuda


def neighbored(x: Any, partial: Any, n: Any) -> None:
    """Add neighbours at distance 1, 2, 4, ... within the block, in place."""
    tid = cuda.threadIdx.x
    base = cuda.blockIdx.x * cuda.blockDim.x
    count = n - base  # elements left from this block on
    stride = 1
    while stride < cuda.blockDim.x:
        if tid % (2 * stride) == 0 and tid + stride < count:
            x[base + tid] += x[base + tid + stride]
        cuda.syncthreads()
        stride *= 2
    if tid == 0:
        if count > 0:
            partial[cuda.blockIdx.x] = x[base]
        else:
            partial[cuda.blockIdx.x] = 0


RUNG = reduction_rung(
    follows="cpu_recursive", claims=(Claim("smsp__sass_branch_targets_threads_divergent.sum", ">", 0.0),)
)
