"""naive as the notes launch it: Width / 16.0 blocks, a quotient that is cut off on its way into dim3.

The kernel is right, guard included, but blocks for the last rows and columns are missing wherever 16 does not
divide the width: these elements of C are never written. Nothing that runs is wrong, so no checker of accesses
can see it; the comparison with the true product does. Right is a division that rounds up.
"""

from math import isqrt

from warpglass.ladders.matmul.naive import naive
from warpglass.ladders.problem import Case
from warpglass.ladders.rung import LaunchShape, Rung, RungKernel


def shape(case: Case, block: int) -> LaunchShape:
    """As many whole blocks as fit into the matrix."""
    side = isqrt(block)
    return LaunchShape((case.size // side, case.size // side), (side, side))


RUNG = Rung(
    table="matmul",
    kernels=(RungKernel(python=naive),),
    shape=shape,
    defect="the number of blocks is rounded down, so the last rows and columns are left wrong",
)
