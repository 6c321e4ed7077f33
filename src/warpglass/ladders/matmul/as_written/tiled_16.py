"""tiled_16 as the notes write it: no guards, and Width / TILE_WIDTH phases.

If 16 does not divide the width, blocks at the edges read and write elements that do not exist: in rows beyond
the last one outside of the arrays, in columns beyond the last one those of the next row, which two threads
then write. Besides, the sums lack their last Width % 16 products, since the quotient is rounded down.
"""

from typing import Any

from warpglass.ladders.matmul.tiled_16 import shape
from warpglass.ladders.rung import Rung, RungKernel, cuda


def tiled(a: Any, b: Any, c: Any, n: Any) -> None:
    """Compute one element of c = a b, by whole tiles only."""
    a_tile = cuda.shared.array((16, 16), a.dtype)
    b_tile = cuda.shared.array((16, 16), b.dtype)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    row = cuda.blockIdx.y * 16 + y
    column = cuda.blockIdx.x * 16 + x
    total = a.dtype.type(0)
    for phase in range(n // 16):
        a_tile[y, x] = a[row, phase * 16 + x]
        b_tile[y, x] = b[phase * 16 + y, column]
        cuda.syncthreads()
        for k in range(16):
            total += a_tile[y, k] * b_tile[k, x]
        cuda.syncthreads()
    c[row, column] = total


RUNG = Rung(
    table="matmul",
    follows="naive_as_written",
    kernels=(RungKernel("tiled", cuda="tiled<{type}, 16>"),),
    shape=shape,
    defect="no guard at the edges (out-of-bounds, global-race), and the sums lack the last n % 16 products",
)
