"""Eight data blocks per thread block, added in registers.

The same step once more: eight independent loads, an eighth of the trees. Seven eighths of the additions now
happen outside the tree.

Look at how much less this brings than the step before: most of the time is now the one pass over the array
that no kernel can avoid.
"""

from typing import Any

from warpglass.ladders.reduction.rung import reduction_rung
from warpglass.ladders.rung import Claim, cuda


def unroll8(x: Any, partial: Any, n: Any) -> None:
    """Add eight data blocks into one, then reduce it."""
    tid = cuda.threadIdx.x
    base = cuda.blockIdx.x * cuda.blockDim.x * 8
    count = n - base  # elements left from this block on
    width = cuda.blockDim.x
    if tid + 7 * width < count:
        a0 = x[base + tid]
        a1 = x[base + tid + width]
        a2 = x[base + tid + 2 * width]
        a3 = x[base + tid + 3 * width]
        a4 = x[base + tid + 4 * width]
        a5 = x[base + tid + 5 * width]
        a6 = x[base + tid + 6 * width]
        a7 = x[base + tid + 7 * width]
        x[base + tid] = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7
    else:
        # Only the last block comes here: add whatever whole or broken data blocks it has.
        i = tid + width
        while i < count:
            x[base + tid] += x[base + i]
            i += width
    cuda.syncthreads()
    stride = cuda.blockDim.x // 2
    while stride > 0:
        if tid < stride and tid + stride < count:
            x[base + tid] += x[base + tid + stride]
        cuda.syncthreads()
        stride >>= 1
    if tid == 0:
        if count > 0:
            partial[cuda.blockIdx.x] = x[base]
        else:
            partial[cuda.blockIdx.x] = 0


RUNG = reduction_rung(
    follows="unroll4", elements_per_thread=8, claims=(Claim("smsp__inst_executed.sum", "<", "unroll4"),)
)
