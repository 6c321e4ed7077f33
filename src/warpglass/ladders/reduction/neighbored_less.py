"""Neighboured pairs with less divergence: the same additions, done by consecutive threads.

Thread t handles the pair that starts at 2 * stride * t, so the threads that still work are the first
blockDim / (2 * stride) of the block: whole warps work or rest, and only the steps with fewer than 32
workers left split a warp.

Look at divergence, which nearly disappears, and at the number of load requests, which halves because the
working lanes fill their warps. Coalescing is no better: the addresses are the very same.
"""

from typing import Any

from warpglass.ladders.reduction.rung import reduction_rung
from warpglass.ladders.rung import Claim, cuda


def neighbored_less(x: Any, partial: Any, n: Any) -> None:
    """Add the same pairs as neighbored with consecutive threads."""
    tid = cuda.threadIdx.x
    base = cuda.blockIdx.x * cuda.blockDim.x
    count = n - base  # elements left from this block on
    stride = 1
    while stride < cuda.blockDim.x:
        index = 2 * stride * tid
        if index < cuda.blockDim.x and index + stride < count:
            x[base + index] += x[base + index + stride]
        cuda.syncthreads()
        stride *= 2
    if tid == 0:
        if count > 0:
            partial[cuda.blockIdx.x] = x[base]
        else:
            partial[cuda.blockIdx.x] = 0


RUNG = reduction_rung(
    follows="neighbored",
    claims=(
        Claim("smsp__sass_branch_targets_threads_divergent.sum", "<", "neighbored"),
        Claim("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "<", "neighbored"),
    ),
)
