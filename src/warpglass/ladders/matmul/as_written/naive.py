"""naive as the notes launch it: Width / 16.0 blocks, a quotient that is cut off on its way into dim3.

The kernel is right, guard included, but blocks for the last rows and columns are missing wherever 16 does not
divide the width: these elements of C are never written. Nothing that runs is wrong, so no checker of accesses
can see it; the comparison with the true product does. Right is a division that rounds up.
"""

from __future__ import annotations

from math import isqrt

from warpglass.ladders.matmul.naive import RUNG as NAIVE
from warpglass.ladders.matmul.problem import all_products
from warpglass.ladders.problem import Case
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Rung, Shape


def shape(case: Case, block: int) -> Shape:
    """As many whole blocks as fit into the matrix."""
    side = isqrt(block)
    return Shape((case.size // side, case.size // side), (side, side))


def program(run: Run) -> None:
    """Launch too few threads."""
    run.launch("naive", shape(run.case, run.block), "a", "b", "c", "n")


RUNG = Rung(
    name="naive_as_written",
    table="matmul",
    explanation=__doc__ or "",
    follows=None,
    kernels=NAIVE.kernels,
    program=program,
    shape=shape,
    depth=all_products,
    defect="the number of blocks is rounded down, so the last rows and columns are left wrong",
)
