"""tiled as the notes write it: the result goes into the picture itself, N[i * width + j] = output.

A block reads its halo from elements that its neighbours compute. Where a neighbour has stored by then, the
block takes results for elements of the picture; which ones these are depends on the order in which blocks
run. A barrier does not help, since it holds for one block. Right is an array of its own for the result.
"""

from typing import Any

from warpglass.ladders.conv2d.tiled import shape
from warpglass.ladders.problem import launch_once
from warpglass.ladders.run import HostRun
from warpglass.ladders.rung import Rung, cuda


def tiled(p: Any, n: Any, rows: Any, columns: Any, mask: Any) -> None:
    """Load one element, and compute one in place."""
    held = cuda.shared.array((20, 20), n.dtype)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    i = cuda.blockIdx.y * 16 + y
    j = cuda.blockIdx.x * 16 + x
    row = i - 2
    column = j - 2
    if row >= 0 and row < rows and column >= 0 and column < columns:
        held[y, x] = n[row, column]
    else:
        held[y, x] = 0
    cuda.syncthreads()
    if y < 16 and x < 16:
        total = n.dtype.type(0)
        for u in range(5):
            for v in range(5):
                total += held[y + u, x + v] * mask[u, v]
        if i < rows and j < columns:
            n[i, j] = total


def program(run: HostRun) -> None:
    """Launch a block for every tile; what it leaves in the picture is taken for the result."""
    launch_once(run)
    run.keep("p", run.to_host(run["n"]).copy())


RUNG = Rung(
    program=program,
    shape=shape,
    defect="blocks overwrite elements that their neighbours have yet to read (global-race)",
)
