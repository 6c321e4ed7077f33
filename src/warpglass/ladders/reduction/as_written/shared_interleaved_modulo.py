"""shared_interleaved_modulo as the course notes have it: every thread loads, whether its element exists or
not.

The notes pass no n to the kernel at all. It is right for arrays that are a multiple of the block.
"""

from typing import Any

from warpglass.ladders.reduction.rung import PAST_THE_END, reduction_rung
from warpglass.ladders.rung import cuda


def shared_interleaved_modulo(x: Any, partial: Any, n: Any) -> None:
    """Add neighbours at distance 1, 2, 4, ... in shared memory."""
    shared = cuda.shared.array(0, x.dtype)
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + tid
    shared[tid] = x[i]
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
    defect=PAST_THE_END,
)
