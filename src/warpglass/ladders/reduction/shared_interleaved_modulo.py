"""In shared memory: each block copies its elements there and adds neighbours, chosen by a remainder.

Each element is read from global memory once; the tree runs in dynamic shared memory, and the array in
global memory stays as it was. One thread then writes the block's sum.

Look at divergence: as in neighbored, the remainder leaves every warp half, a quarter, an eighth full. The
branch is so short that ptxas switches lanes off instead of branching, so what shows is not divergent branches
but instructions: every warp executes every step. There are no bank conflicts: the lanes that are active in
one access all fall into different banks.
"""

from typing import Any

from warpglass.ladders.reduction.rung import reduction_rung
from warpglass.ladders.rung import Claim, cuda


def shared_interleaved_modulo(x: Any, partial: Any, n: Any) -> None:
    """Add neighbours at distance 1, 2, 4, ... in shared memory."""
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
        if tid % (2 * stride) == 0:
            shared[tid] += shared[tid + stride]
        cuda.syncthreads()
        stride *= 2
    if tid == 0:
        partial[cuda.blockIdx.x] = shared[0]


RUNG = reduction_rung(
    table="shared",
    claims=(
        Claim("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "==", 0.0),
        Claim("smsp__inst_executed.sum", ">", "shared_interleaved_strided"),
    ),
)
