"""The block adds up its own products, by one thread: one number a block goes back to the host.

Every thread keeps the sum of its products in a register and puts it into shared memory once. After a barrier
thread 0 adds the block's words and stores one. Nothing but partial sums leaves the device: 132 instead of n.

What is bad about it is who adds: one thread of 256 works, and the rest of the block waits. The warps'
instructions show it: the loop of thread 0 is issued for a warp with one lane in it.
"""

from typing import Any

from warpglass.ladders.dot.problem import products_per_thread
from warpglass.ladders.rung import Claim, Rung, cuda


def one_thread_sums(x: Any, y: Any, partial: Any, n: Any) -> None:
    """Add products, then let thread 0 add the threads' sums."""
    cache = cuda.shared.array(0, x.dtype)
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + tid
    total = x.dtype.type(0)
    while i < n:
        total += x[i] * y[i]
        i += cuda.blockDim.x * cuda.gridDim.x
    cache[tid] = total
    cuda.syncthreads()
    if tid == 0:
        for k in range(1, cuda.blockDim.x):
            total += cache[k]
        partial[cuda.blockIdx.x] = total


RUNG = Rung(
    follows="products",
    depth=lambda case, block: products_per_thread(case, block) + block,
    claims=(Claim("global_store_requests", "<", "products"),),
)
