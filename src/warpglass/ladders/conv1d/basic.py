"""One element a thread: nine elements of x times nine weights, all from global memory.

Threads at both ends of the array find neighbours that do not exist; a comparison skips these ghost cells,
which count as 0. Threads beyond the end of the array do nothing.

Every element is read by nine threads: n (2 r + 1) - r (r + 1) reads of x with a mask of 2 r + 1 weights,
where r (r + 1) / 2 are spared at each end. The notes print twice as much for an end (counts.py). As many
reads go to the mask, always the same nine words: two operations for two loads of 4 bytes, 0.25 operations a
byte.
"""

from typing import Any

from warpglass.ladders.rung import Rung, cuda


def basic(x: Any, mask: Any, y: Any, n: Any, width: Any) -> None:
    """Compute one element of y."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < n:
        total = x.dtype.type(0)
        start = i - width // 2
        for j in range(width):
            if start + j >= 0 and start + j < n:
                total += x[start + j] * mask[j]
        y[i] = total


RUNG = Rung()
