"""Privatised counters: each block counts in its shared memory, and adds what it has counted at the end.

Few blocks walk over all keys in steps of the whole grid, so that a block's counters are worth setting to zero
and adding up. Only the sums go to global memory: a few atomics for each bin and block, whatever the keys.

Look at the transactions of global atomics, which hardly depend on the number of keys any more, and at the
bank conflicts of the shared atomics that took their place.
"""

from typing import Any

import numpy as np

from warpglass.ladders.histogram.problem import few_blocks
from warpglass.ladders.rung import Claim, Rung, cuda


def shared_bins(x: Any, counts: Any, n: Any, bins: Any) -> None:
    """Count every gridDim * blockDim-th key in the block's own counters, then add them."""
    own = cuda.shared.array(0, counts.dtype)
    t = cuda.threadIdx.x
    for b in range(t, bins, cuda.blockDim.x):
        own[b] = 0
    cuda.syncthreads()
    for i in range(cuda.blockIdx.x * cuda.blockDim.x + t, n, cuda.gridDim.x * cuda.blockDim.x):
        bin = np.int64(x[i])  # numba-cuda-mlir takes an unsigned index for a signed one
        if bin >= 0 and bin < bins:
            cuda.atomic.add(own, bin, 1)
    cuda.syncthreads()
    for b in range(t, bins, cuda.blockDim.x):
        if own[b] != 0:
            cuda.atomic.add(counts, b, own[b])


RUNG = Rung(
    table="bytes",
    follows="warp_match",
    shape=few_blocks,
    claims=(Claim("atomic_transactions", "<", "global_atomics"),),
)
