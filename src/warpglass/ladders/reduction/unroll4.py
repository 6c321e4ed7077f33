"""Four data blocks per thread block, added in registers.

A thread issues four loads that do not depend on each other, so they are in flight together and their
latency is paid once; then it stores one sum.

Look at the executed instructions again, and on a GPU at the bandwidth: more bytes in flight per warp is
what a memory-bound kernel needs.
"""

from typing import Any

from warpglass.ladders.reduction.rung import reduction_rung
from warpglass.ladders.rung import Claim, cuda


def unroll4(x: Any, partial: Any, n: Any) -> None:
    """Add four data blocks into one, then reduce it."""
    tid = cuda.threadIdx.x
    base = cuda.blockIdx.x * cuda.blockDim.x * 4
    count = n - base  # elements left from this block on
    width = cuda.blockDim.x
    if tid + 3 * width < count:
        a0 = x[base + tid]
        a1 = x[base + tid + width]
        a2 = x[base + tid + 2 * width]
        a3 = x[base + tid + 3 * width]
        x[base + tid] = a0 + a1 + a2 + a3
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
    follows="unroll2", elements_per_thread=4, claims=(Claim("smsp__inst_executed.sum", "<", "unroll2"),)
)
