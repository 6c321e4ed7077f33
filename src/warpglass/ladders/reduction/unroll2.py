"""Two data blocks per thread block: each thread first adds the element one block further on.

Half of all additions now happen before the tree starts, with every thread busy, and there are half as many
blocks, hence half as many trees, barriers and partial sums.

Look at the executed instructions: in the tree most threads only run the loop and wait at the barrier, and
that overhead is paid per block, not per element.
"""

from typing import Any

from warpglass.ladders.reduction.rung import reduction_rung
from warpglass.ladders.rung import Claim, cuda


def unroll2(x: Any, partial: Any, n: Any) -> None:
    """Add two data blocks into one, then reduce it."""
    tid = cuda.threadIdx.x
    base = cuda.blockIdx.x * cuda.blockDim.x * 2
    count = n - base  # elements left from this block on
    width = cuda.blockDim.x
    if tid + width < count:
        x[base + tid] += x[base + tid + width]
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
    follows="interleaved",
    elements_per_thread=2,
    claims=(Claim("smsp__inst_executed.sum", "<", "interleaved"),),
)
