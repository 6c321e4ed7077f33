"""One block: thread number i of the only block adds element i.

The notes' second program. It is as short as a kernel can be, and ends where a block does: no GPU takes more
than 1024 threads a block (512 in the notes' days), and a launch with more is refused before it begins, with
cudaErrorInvalidConfiguration. So this table has at most 1024 elements, whatever size is asked for.

A block runs on one multiprocessor. Of an H100's 132 all others do nothing.
"""

from typing import Any

from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Claim, LaunchShape, Rung, cuda


def one_block(x: Any, y: Any, z: Any, n: Any) -> None:
    """Add one element."""
    i = cuda.threadIdx.x
    if i < n:
        z[i] = x[i] + y[i]


def shape(case: Case, block: int) -> LaunchShape:
    """One block with a thread for every element, and one thread even if there are none."""
    return LaunchShape(1, max(1, case.size))


RUNG = Rung(table="one block", shape=shape, claims=(Claim("launch__grid_size", "==", 1.0),))
