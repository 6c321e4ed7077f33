"""interleaved as the course notes have it, for arrays that are a multiple of the block.

Threads past the end return at once, but the ones that stay add `x[tid + stride]` without asking whether
that element exists.
"""

from typing import Any

from warpglass.ladders.reduction.rung import PAST_THE_END, reduction_rung
from warpglass.ladders.rung import cuda


def interleaved(x: Any, partial: Any, n: Any) -> None:
    """Add the second half of the block to the first, then the second quarter, ..."""
    tid = cuda.threadIdx.x
    base = cuda.blockIdx.x * cuda.blockDim.x
    if base + tid >= n:
        return
    stride = cuda.blockDim.x // 2
    while stride > 0:
        if tid < stride:
            x[base + tid] += x[base + tid + stride]
        cuda.syncthreads()
        stride >>= 1
    if tid == 0:
        partial[cuda.blockIdx.x] = x[base]


RUNG = reduction_rung(
    follows="neighbored_less_as_written",
    defect=PAST_THE_END,
)
