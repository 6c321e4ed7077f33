"""unroll2 as the course notes have it, for arrays that are a multiple of 2 blocks.

The guard asks for the last of the 2 elements only: where it does not exist, the thread adds none of them.
The tree after it reads as if the block were full.
"""

from typing import Any

from warpglass.ladders.reduction.rung import reduction_rung
from warpglass.ladders.rung import cuda


def unroll2(x: Any, partial: Any, n: Any) -> None:
    """Add two data blocks into one, then reduce it."""
    tid = cuda.threadIdx.x
    base = cuda.blockIdx.x * cuda.blockDim.x * 2
    width = cuda.blockDim.x
    if base + tid + width < n:
        x[base + tid] += x[base + tid + width]
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
    follows="interleaved_as_written",
    elements_per_thread=2,
    defect=(
        "when n is no multiple of 2 * blockDim.x, the tree reads past the end of the array (out-of-bounds)"
    ),
)
