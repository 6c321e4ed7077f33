"""shared_interleaved_strided as the course notes have it: every thread loads, whether its element exists or
not.

The notes pass no n to the kernel at all. It is right for arrays that are a multiple of the block.
"""

from typing import Any

from warpglass.ladders.reduction.rung import PAST_THE_END, reduction_rung
from warpglass.ladders.rung import cuda


def shared_interleaved_strided(x: Any, partial: Any, n: Any) -> None:
    """Add the same pairs with consecutive threads."""
    shared = cuda.shared.array(0, x.dtype)
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + tid
    shared[tid] = x[i]
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
    follows="shared_interleaved_modulo_as_written",
    table="shared",
    defect=PAST_THE_END,
)
