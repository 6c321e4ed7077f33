"""One launch by atomics: the blocks' sums meet in one word, added by the memory itself.

Thread 0 of each block does not store its block's sum, it adds it to the word of the result with `atomicAdd`.
The L2 cache does the addition, one after the other, in whatever order the blocks come. So nothing is left for
the host or a second launch to add. For floating-point numbers the order shows in the last bits: two runs on a
GPU may differ.

Look at how few atomic operations there are: one a block. One per element would queue up at one address.
"""

from typing import Any

from warpglass.ladders.reduction.rung import reduction_rung
from warpglass.ladders.rung import Claim, cuda


def block_atomics(x: Any, partial: Any, n: Any) -> None:
    """Add in registers, then in shared memory, then into partial[0]."""
    sums = cuda.shared.array(1024, x.dtype)
    tid = cuda.threadIdx.x
    total = x.dtype.type(0)
    i = cuda.blockIdx.x * cuda.blockDim.x + tid
    while i < n:
        total += x[i]
        i += cuda.gridDim.x * cuda.blockDim.x
    sums[tid] = total
    cuda.syncthreads()
    stride = cuda.blockDim.x // 2
    while stride > 0:
        if tid < stride:
            sums[tid] += sums[tid + stride]
        cuda.syncthreads()
        stride >>= 1
    if tid == 0:
        cuda.atomic.add(partial, 0, sums[0])


RUNG = reduction_rung(
    follows="vector_loads",
    table="beyond",
    most_threads=2**18,
    one_result=True,
    claims=(Claim("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "==", 100.0),),
)
