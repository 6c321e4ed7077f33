"""tree with the barrier inside the branch, as the notes' second version has it.

Only threads that add reach __syncthreads, which is defined only if all threads of the block do. A GPU may
hang, or let threads read words that are not yet there; that the result is right here proves nothing. The
checker reports the barrier and who is missing at it.
"""

from typing import Any

from warpglass.ladders.dot.problem import products_per_thread
from warpglass.ladders.rung import Rung, cuda


def tree(x: Any, y: Any, partial: Any, n: Any) -> None:
    """Add products, then halves of the block, with a barrier for those who add."""
    cache = cuda.shared.array(0, x.dtype)
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + tid
    total = x.dtype.type(0)
    while i < n:
        total += x[i] * y[i]
        i += cuda.blockDim.x * cuda.gridDim.x
    cache[tid] = total
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if tid < half:
            cache[tid] += cache[tid + half]
            cuda.syncthreads()
        half //= 2
    if tid == 0:
        partial[cuda.blockIdx.x] = cache[0]


RUNG = Rung(
    depth=lambda case, block: products_per_thread(case, block) + block.bit_length(),
    defect="the barrier stands in a branch that not all threads of the block take (barrier-divergence)",
)
