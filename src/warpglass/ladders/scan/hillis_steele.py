"""Hillis and Steele: every thread adds the element `stride` before its own, and the stride doubles.

After step s each element holds the sum of the 2^s elements that end with it; log2(blockDim.x) steps make all
prefix sums. Threads read what others overwrite in the same step, so each step reads one buffer and writes the
other. It is short and every lane works, but it adds n log2(n) times where a loop adds n - 1 times.

Look at the instructions, and at the lack of bank conflicts: neighbours use neighbouring words.
"""

from typing import Any

from warpglass.ladders.rung import Claim, Rung, RungKernel, cuda
from warpglass.ladders.scan.propagate import ADD_OFFSETS, Blocks


def hillis_steele(x: Any, y: Any, totals: Any, n: Any) -> None:
    """Scan one element a thread, in two buffers of blockDim.x elements."""
    s = cuda.shared.array(0, x.dtype)
    t = cuda.threadIdx.x
    block = cuda.blockDim.x
    i = cuda.blockIdx.x * block + t
    if i < n:
        s[t] = x[i]
    else:
        s[t] = 0
    source = 0
    stride = 1
    while stride < block:
        cuda.syncthreads()
        value = s[source + t]
        if t >= stride:
            value = s[source + t - stride] + value
        source = block - source
        s[source + t] = value
        stride *= 2
    if i < n:
        y[i] = s[source + t]
    if t == block - 1:
        totals[cuda.blockIdx.x] = s[source + t]


BLOCKS = Blocks(
    per_thread=1,
    shared=lambda block, itemsize: 2 * block * itemsize,
    additions=lambda block: block.bit_length() - 1,
)

RUNG = Rung(
    follows="on_host",
    kernels=(RungKernel(), ADD_OFFSETS),
    program=BLOCKS.scan,
    shape=BLOCKS.shape,
    depth=BLOCKS.depth,
    claims=(Claim("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "==", 0.0),),
)
