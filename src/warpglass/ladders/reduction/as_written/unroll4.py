"""unroll4 as the course notes have it, for arrays that are a multiple of 4 blocks.

The guard asks for the last of the 4 elements only: where it does not exist, the thread adds none of them.
The tree after it reads as if the block were full.
"""

from typing import Any

from warpglass.ladders.reduction.rung import DROPS_THE_TAIL, reduction_rung
from warpglass.ladders.rung import cuda


def unroll4(x: Any, partial: Any, n: Any) -> None:
    """Add four data blocks into one, then reduce it."""
    tid = cuda.threadIdx.x
    base = cuda.blockIdx.x * cuda.blockDim.x * 4
    width = cuda.blockDim.x
    if base + tid + 3 * width < n:
        a0 = x[base + tid]
        a1 = x[base + tid + width]
        a2 = x[base + tid + 2 * width]
        a3 = x[base + tid + 3 * width]
        x[base + tid] = a0 + a1 + a2 + a3
    cuda.syncthreads()
    stride = cuda.blockDim.x // 2
    while stride > 0:
        if tid < stride:
            x[base + tid] += x[base + tid + stride]
        cuda.syncthreads()
        stride >>= 1
    if tid == 0:
        partial[cuda.blockIdx.x] = x[base]


RUNG = reduction_rung(
    follows="unroll2_as_written",
    elements_per_thread=4,
    defect=DROPS_THE_TAIL.format(4),
)
