"""One thread a block: block number i adds element i.

The notes' first program, add<<<N, 1>>>. It takes as many elements as a grid has blocks, 2^31 - 1, but a warp
is 32 lanes wide whether they have work or not: 31 of 32 are idle here, and each element needs loads of its
own.

Look at the lanes in use, and at the sectors: 32 bytes are fetched for 4.
"""

from typing import Any

from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Claim, LaunchShape, Rung, cuda


def one_thread_a_block(x: Any, y: Any, z: Any, n: Any) -> None:
    """Add one element."""
    i = cuda.blockIdx.x
    if i < n:
        z[i] = x[i] + y[i]


def shape(case: Case, block: int) -> LaunchShape:
    """A block of one thread for every element, and one even if there are none."""
    return LaunchShape(max(1, case.size), 1)


RUNG = Rung(
    table="few",
    shape=shape,
    claims=(
        Claim("warp_execution_efficiency", "==", 3.125),
        Claim("gld_efficiency", "==", 12.5),
    ),
)
