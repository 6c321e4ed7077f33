"""Read by rows, stored by columns: loads in order, stores a whole row apart.

A block of 32 x 8 threads handles 32 x 32 elements, four rows a thread. Lanes of a warp read neighbouring
elements, so a load takes four sectors of 32 bytes for 4-byte elements. They store elements of one column,
which lie a row of b apart: 32 sectors, of which a lane uses 4 bytes each.

Look at the stores: eight times as many sectors as necessary.
"""

from typing import Any

from warpglass.ladders.rung import Claim, Rung, cuda


def naive(a: Any, b: Any, rows: Any, columns: Any) -> None:
    """Move four elements straight."""
    column = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    for step in range(0, 32, 8):
        row = cuda.blockIdx.y * 32 + cuda.threadIdx.y + step
        if row < rows and column < columns:
            b[column, row] = a[row, column]


RUNG = Rung(claims=(Claim("gst_efficiency", "<", 25.0),))
