"""basic as the notes write it: no guard on i.

Threads beyond the end of the array find no neighbour to add, or a few, and store their sum all the same:
behind the end of y, if the block size does not divide n.
"""

from typing import Any

from warpglass.ladders.rung import Rung, cuda


def basic(x: Any, mask: Any, y: Any, n: Any, width: Any) -> None:
    """Compute one element of y."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    total = x.dtype.type(0)
    start = i - width // 2
    for j in range(width):
        if start + j >= 0 and start + j < n:
            total += x[start + j] * mask[j]
    y[i] = total


RUNG = Rung(defect="threads beyond the end of the array store as well (out-of-bounds)")
