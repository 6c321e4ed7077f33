"""tiled as the notes write it: halo cells are guarded, the tile itself is not.

Threads beyond the end of the array read elements that do not exist into the tile, from where their neighbours
take them for ghost cells, and store behind the end of y.
"""

from typing import Any

from warpglass.ladders.conv1d.tiled import shape
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import KernelFunction, Rung, RungKernel, cuda


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
        tile[radius + tid] = x[i]
        if tid < radius:
            right = i + cuda.blockDim.x
            tile[radius + cuda.blockDim.x + tid] = x[right] if right < n else x.dtype.type(0)
        cuda.syncthreads()
        total = x.dtype.type(0)
        for j in range(width):
            total += tile[tid + j] * mask[j]
        y[i] = total

    return tiled


RUNG = Rung(
    follows="basic_as_written",
    kernels=(RungKernel(constants=""),),
    arguments=("x", "y", "n", "width"),
    shape=shape,
    defect="threads beyond the end of the array load and store as well (out-of-bounds)",
)
