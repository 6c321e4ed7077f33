"""tiled_16 as the notes write it: no guards, and Width / TILE_WIDTH phases.

If 16 does not divide the width, blocks at the edges read and write elements that do not exist: in rows beyond
the last one outside of the arrays, in columns beyond the last one those of the next row, which two threads
then write. Besides, the sums lack their last Width % 16 products, since the quotient is rounded down.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpglass.ladders.matmul.problem import all_products
from warpglass.ladders.matmul.tiled_16 import shape
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Kernel, Rung

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


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


def program(run: Run) -> None:
    """Launch a thread for every element."""
    run.launch("tiled", shape(run.case, run.block), "a", "b", "c", "n")


RUNG = Rung(
    name="tiled_16_as_written",
    table="matmul",
    explanation=__doc__ or "",
    follows="naive_as_written",
    kernels=(
        Kernel(name="tiled", file=Path(__file__).with_suffix(".cu"), cuda="tiled<{type}, 16>", python=tiled),
    ),
    program=program,
    shape=shape,
    depth=all_products,
    defect="no guard at the edges (out-of-bounds, global-race), and the sums lack the last n % 16 products",
)
