"""Bubble sort with all comparisons of a walk at the same time: the notes' example of what cannot work.

Of (5, 4, 3), one thread compares 5 with 4, another 4 with 3. Both read before either writes, and both swap:
the first wants (4, 5, _), the second (_, 3, 4). The middle is 5 or 3, whoever writes last, and one number is
there twice while another is lost. Elements must belong to one thread at a time: hence odd-even sort.
"""

from typing import Any

from warpglass.ladders.rung import Rung, cuda


def all_at_once(x: Any, n: Any) -> None:
    """Compare all neighbours at once, as often as there are elements."""
    s = cuda.shared.array(0, x.dtype)
    first = cuda.threadIdx.x
    half = cuda.blockDim.x
    for k in range(first, n, half):
        s[k] = x[k]
    for _ in range(n):
        cuda.syncthreads()
        for k in range(first, n - 1, half):
            a = s[k]
            b = s[k + 1]
            if not a <= b and b == b:
                s[k] = b
                s[k + 1] = a
    cuda.syncthreads()
    for k in range(first, n, half):
        x[k] = s[k]


RUNG = Rung(
    table="one_block",
    defect=(
        "neighbouring threads read and write the same element with no barrier between: `warp-race` within a "
        "warp, `shared-race` between warps; elements are lost and doubled"
    ),
)
