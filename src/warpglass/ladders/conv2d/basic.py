"""One element a thread: 25 elements of the picture times 25 weights, all from global memory.

A thread reads the square around its element; a comparison skips the ghost cells beyond the borders. Every
element is read by 25 threads, (2 r + 1)^2 for a mask of radius r, less what the borders spare (counts.py).

Look at the loads: 25 of the picture and 25 of the mask for each element. The lanes' elements lie side by
side, but the squares of neighbours overlap in all but a column.
"""

from typing import Any

from warpglass.ladders.rung import Rung, cuda


def basic(p: Any, n: Any, rows: Any, columns: Any, mask: Any) -> None:
    """Compute one element of p."""
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < rows and j < columns:
        total = n.dtype.type(0)
        for u in range(5):
            for v in range(5):
                row = i + u - 2
                column = j + v - 2
                if row >= 0 and row < rows and column >= 0 and column < columns:
                    total += n[row, column] * mask[u, v]
        p[i, j] = total


RUNG = Rung()
