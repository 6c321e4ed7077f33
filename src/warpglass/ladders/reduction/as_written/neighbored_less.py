"""neighbored_less as the course notes have it, for arrays that are a multiple of the block.

Threads past the end return at once, but the ones that stay add `x[tid + stride]` without asking whether
that element exists.
"""

from typing import Any

from warpglass.ladders.reduction.rung import PAST_THE_END, reduction_rung
from warpglass.ladders.rung import cuda


def neighbored_less(x: Any, partial: Any, n: Any) -> None:
    """Add the same pairs as neighbored with consecutive threads."""
    tid = cuda.threadIdx.x
    base = cuda.blockIdx.x * cuda.blockDim.x
    if base + tid >= n:
        return
    stride = 1
    while stride < cuda.blockDim.x:
        index = 2 * stride * tid
        if index < cuda.blockDim.x:
            x[base + index] += x[base + index + stride]
        cuda.syncthreads()
        stride *= 2
    if tid == 0:
        partial[cuda.blockIdx.x] = x[base]


RUNG = reduction_rung(
    follows="neighbored_as_written",
    defect=PAST_THE_END,
)
