"""A tile with its halo in shared memory: every element is read from global memory about once.

A block brings the elements that its threads stand for into shared memory, and r more on each side: the halo
cells, which belong to the neighbours' tiles and are read by two blocks. The last r threads fetch those on the
left, the first r those on the right; ghost cells are stored as 0, so that the loop needs no comparison.

A block between others reads block + 2 r elements instead of block * (2 r + 1): 8.7 times fewer for blocks of
256 and r = 4. At an end it is block + r; the notes print a ratio of 2 r + 1 there, right is 8.8 (counts.py).

Look at global loads, which are now few, and at shared memory, which has taken them over without conflicts:
neighbouring threads read neighbouring words.
"""

from typing import Any

from warpglass.ladders.conv1d.problem import RADIUS
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Claim, KernelFunction, LaunchShape, Rung, RungKernel, cuda


def specialise(case: Case, block: int) -> KernelFunction:
    """Return the kernel for the case's mask."""
    weights = case.arrays["mask"]

    def tiled(x: Any, y: Any, n: Any, width: Any) -> None:
        """Compute one element of y from a tile."""
        tile = cuda.shared.array(0, x.dtype)
        mask = cuda.const.array_like(weights)
        tid = cuda.threadIdx.x
        i = cuda.blockIdx.x * cuda.blockDim.x + tid
        radius = width // 2
        if tid >= cuda.blockDim.x - radius:
            left = i - cuda.blockDim.x
            tile[tid - (cuda.blockDim.x - radius)] = x[left] if left >= 0 else x.dtype.type(0)
        tile[radius + tid] = x[i] if i < n else x.dtype.type(0)
        if tid < radius:
            right = i + cuda.blockDim.x
            tile[radius + cuda.blockDim.x + tid] = x[right] if right < n else x.dtype.type(0)
        cuda.syncthreads()
        if i < n:
            total = x.dtype.type(0)
            for j in range(width):
                total += tile[tid + j] * mask[j]
            y[i] = total

    return tiled


def shape(case: Case, block: int) -> LaunchShape:
    """A thread for every element, and shared memory for a tile with its halo."""
    return LaunchShape(max(1, -(-case.size // block)), block, (block + 2 * RADIUS) * case.dtype.itemsize)


RUNG = Rung(
    follows="constant",
    kernels=(RungKernel(constants=""),),
    arguments=("x", "y", "n", "width"),
    shape=shape,
    claims=(
        Claim("global_load_requests", "<", "constant"),
        Claim("gld_transactions", "<", "constant"),
        Claim("shared_bank_conflicts", "==", 0.0),
    ),
)
