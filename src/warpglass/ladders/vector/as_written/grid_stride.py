"""grid_stride as the notes write it: the stride is blockDim.x * blockDim.x.

The notes launch 128 blocks of 128 threads, and there the two are the same. Here 16 blocks of 256 add the
first 4096 elements and go on at 65536: what lies between is never added. With more blocks than threads in a
block, the stride is too small instead, and elements are added again and again.
"""

from typing import Any

from warpglass.ladders.problem import Case
from warpglass.ladders.rung import LaunchShape, Rung, cuda


def grid_stride(x: Any, y: Any, z: Any, n: Any) -> None:
    """Add elements, a square of the block apart."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    while i < n:
        z[i] = x[i] + y[i]
        i += cuda.blockDim.x * cuda.blockDim.x


def shape(case: Case, block: int) -> LaunchShape:
    """Sixteen blocks."""
    return LaunchShape(16, block)


RUNG = Rung(
    table="vector",
    follows="element_per_thread_as_written",
    shape=shape,
    defect="the stride is not that of the grid, so elements between are left wrong",
)
