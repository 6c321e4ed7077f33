"""The same pairs with consecutive threads: the divergence goes, bank conflicts come.

Thread t works at index 2 * stride * t. Warps are full again, but with 32 banks of 4 bytes the lanes of a
warp now meet in the same bank: two in the first step, four in the second, and so on.

Look at the bank conflicts: each is one more pass through shared memory for the whole warp.
"""

from typing import Any

from warpglass.ladders.reduction.rung import reduction_rung
from warpglass.ladders.rung import Claim, cuda


def shared_interleaved_strided(x: Any, partial: Any, n: Any) -> None:
    """Add the same pairs with consecutive threads."""
    shared = cuda.shared.array(0, x.dtype)
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + tid
    if i < n:
        shared[tid] = x[i]
    else:
        shared[tid] = 0
    cuda.syncthreads()
    stride = 1
    while stride < cuda.blockDim.x:
        index = 2 * stride * tid
        if index < cuda.blockDim.x:
            shared[index] += shared[index + stride]
        cuda.syncthreads()
        stride *= 2
    if tid == 0:
        partial[cuda.blockIdx.x] = shared[0]


RUNG = reduction_rung(
    follows="shared_interleaved_modulo",
    table="shared",
    claims=(
        Claim("smsp__inst_executed.sum", "<", "shared_interleaved_modulo"),
        Claim("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", ">", 0.0),
    ),
)
