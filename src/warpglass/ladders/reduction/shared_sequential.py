"""Sequential addressing: the stride halves, so consecutive threads use consecutive banks.

Thread t adds element t + stride to element t: full warps and no two lanes in one bank.

Look at the bank conflicts, which are zero. What is left to dislike: half of the threads do nothing but
load one element, and fewer work in every step.
"""

from typing import Any

from warpglass.ladders.reduction.rung import reduction_rung
from warpglass.ladders.rung import Claim, cuda


def shared_sequential(x: Any, partial: Any, n: Any) -> None:
    """Add the second half of the block to the first, in shared memory."""
    shared = cuda.shared.array(0, x.dtype)
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + tid
    if i < n:
        shared[tid] = x[i]
    else:
        shared[tid] = 0
    cuda.syncthreads()
    stride = cuda.blockDim.x // 2
    while stride > 0:
        if tid < stride:
            shared[tid] += shared[tid + stride]
        cuda.syncthreads()
        stride >>= 1
    if tid == 0:
        partial[cuda.blockIdx.x] = shared[0]


RUNG = reduction_rung(
    follows="shared_interleaved_strided",
    table="shared",
    claims=(Claim("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "==", 0.0),),
)
