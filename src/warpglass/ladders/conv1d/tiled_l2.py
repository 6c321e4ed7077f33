"""The tile without its halo: what a neighbour's block has just read is left to the caches.

Shared memory holds the elements of the block alone. Threads near the ends of a tile read the neighbours'
elements from global memory: as blocks that lie side by side run at about the same time, these are most likely
in the L2 or the L1. The loading is simple again, one element a thread, at the price of comparisons in the
loop and of r (r + 1) reads for every border between blocks instead of 2 r.

Look at divergence: only the first and the last warp of a block have lanes on both sides of the comparison.

On an H200 it is the slowest of the four: the comparisons in the loop cost more than the loads of the halo
that they save.
"""

from typing import Any

from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Claim, KernelFunction, LaunchShape, Rung, RungKernel, cuda


def specialise(case: Case, block: int) -> KernelFunction:
    """Return the kernel for the case's mask."""
    weights = case.arrays["mask"]

    def tiled_l2(x: Any, y: Any, n: Any, width: Any) -> None:
        """Compute one element of y from a tile and from the caches."""
        tile = cuda.shared.array(0, x.dtype)
        mask = cuda.const.array_like(weights)
        tid = cuda.threadIdx.x
        first = cuda.blockIdx.x * cuda.blockDim.x
        i = first + tid
        if i < n:
            tile[tid] = x[i]
        cuda.syncthreads()
        if i < n:
            total = x.dtype.type(0)
            for j in range(width):
                at = i - width // 2 + j
                if at >= 0 and at < n:
                    if at >= first and at < first + cuda.blockDim.x:
                        total += tile[at - first] * mask[j]
                    else:
                        total += x[at] * mask[j]
            y[i] = total

    return tiled_l2


def shape(case: Case, block: int) -> LaunchShape:
    """A thread for every element, and shared memory for a tile."""
    return LaunchShape(max(1, -(-case.size // block)), block, block * case.dtype.itemsize)


RUNG = Rung(
    follows="tiled",
    kernels=(RungKernel(constants=""),),
    arguments=("x", "y", "n", "width"),
    shape=shape,
    claims=(
        Claim("gld_transactions", "<", "constant"),
        Claim("shared_store_transactions", "<", "tiled"),
        Claim("shared_bank_conflicts", "==", 0.0),
    ),
)
