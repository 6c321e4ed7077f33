"""element_per_thread as the notes launch it: ceil(n / block_size), a quotient of whole numbers.

In C++ the division has dropped the rest before ceil sees it, so nothing is left to round up: 3 blocks of 32
for 100 elements. The last ones are never added. Right is (n + block_size - 1) / block_size, or a division of
floats.
"""

from warpglass.ladders.problem import Case
from warpglass.ladders.rung import LaunchShape, Rung, RungKernel
from warpglass.ladders.vector.element_per_thread import element_per_thread


def shape(case: Case, block: int) -> LaunchShape:
    """As many whole blocks as there are in the array."""
    return LaunchShape(case.size // block, block)


RUNG = Rung(
    table="few",
    kernels=(RungKernel(python=element_per_thread),),
    shape=shape,
    defect="the number of blocks is rounded down, so the last elements are left wrong",
)
