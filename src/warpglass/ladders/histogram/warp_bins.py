"""A copy of the counters for every warp: warps no longer wait for each other's atomics.

256 counters of 4 bytes for each of 8 warps are 8 KiB of shared memory, and one more sum for each bin at the
end.

Look at the price, instructions and shared memory, and at what no counter shows: whether warps did wait for
each other. Only a GPU's time tells, with --data equal above all.
"""

from typing import Any

import numpy as np

from warpglass.ladders.histogram.problem import few_blocks
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Claim, LaunchShape, Rung, cuda


def warp_bins(x: Any, counts: Any, n: Any, bins: Any) -> None:
    """Count every gridDim * blockDim-th key in the warp's own counters, then add those of all warps."""
    copies = cuda.shared.array(0, counts.dtype)
    t = cuda.threadIdx.x
    own = (t >> 5) * bins
    warps = cuda.blockDim.x >> 5
    for b in range(t, warps * bins, cuda.blockDim.x):
        copies[b] = 0
    cuda.syncthreads()
    for i in range(cuda.blockIdx.x * cuda.blockDim.x + t, n, cuda.gridDim.x * cuda.blockDim.x):
        bin = np.int64(x[i])  # numba-cuda-mlir takes an unsigned index for a signed one
        if bin >= 0 and bin < bins:
            cuda.atomic.add(copies, own + bin, 1)
    cuda.syncthreads()
    for b in range(t, bins, cuda.blockDim.x):
        total = 0
        for warp in range(warps):
            total += copies[warp * bins + b]
        if total != 0:
            cuda.atomic.add(counts, b, total)


def shape(case: Case, block: int) -> LaunchShape:
    """Few blocks, with counters for each warp."""
    return few_blocks(case, block, copies=block // 32)


RUNG = Rung(
    table="bytes",
    follows="shared_bins",
    shape=shape,
    claims=(Claim("launch__shared_mem_per_block_dynamic", ">", "shared_bins"),),
)
