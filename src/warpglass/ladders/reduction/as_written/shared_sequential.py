"""shared_sequential as the course notes have it: no guard on the load.

Every thread loads, whether its element exists or not: the notes pass no n to the kernel at all. It is right
for arrays that are a multiple of the block.
"""

from typing import Any

from warpglass.ladders.reduction.rung import PAST_THE_END, reduction_rung
from warpglass.ladders.rung import cuda


def shared_sequential(x: Any, partial: Any, n: Any) -> None:
    """Add the second half of the block to the first, in shared memory."""
    shared = cuda.shared.array(0, x.dtype)
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + tid
    shared[tid] = x[i]
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
    follows="shared_interleaved_strided_as_written",
    table="shared",
    defect=PAST_THE_END,
)
