"""The block adds up its sums as a tree: log2(block) steps instead of block - 1.

In every step the first half of the threads that are left add the second half's words to theirs: 128 additions
at once, then 64, ... Working threads are neighbours, so whole warps fall idle, and use neighbouring words, so
no two lanes of a warp meet in a bank. After each step comes a barrier that all threads of the block
reach, also those with nothing to add; within the branch it would be undefined (see tree_as_written).

The host still adds the blocks' sums: 132 numbers are no work for a GPU, and blocks have no barrier in common.

On an H200 it takes as long as one_thread_sums: each thread first adds many products, which is nearly all of
the time. The block's sum matters where blocks are many and short.
"""

from typing import Any

from warpglass.ladders.dot.problem import products_per_thread
from warpglass.ladders.rung import Claim, Rung, cuda


def tree(x: Any, y: Any, partial: Any, n: Any) -> None:
    """Add products, then halves of the block."""
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
    follows="one_thread_sums",
    depth=lambda case, block: products_per_thread(case, block) + block.bit_length(),
    claims=(
        Claim("shared_bank_conflicts", "==", 0.0),
        Claim("smsp__inst_executed.sum", "<", "one_thread_sums"),
        Claim("warp_execution_efficiency", ">", "one_thread_sums"),
    ),
)
