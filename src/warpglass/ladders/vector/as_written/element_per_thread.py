"""element_per_thread as the notes launch it: ceil(n / block_size), a quotient of whole numbers.

In C++ the division has dropped the rest before ceil sees it, so nothing is left to round up: 3 blocks of 32
for 100 elements. The last ones are never added. Right is (n + block_size - 1) / block_size, or a division of
floats.
"""

from __future__ import annotations

from warpglass.ladders.problem import Case
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Rung, Shape
from warpglass.ladders.vector.element_per_thread import RUNG as ELEMENT_PER_THREAD


def shape(case: Case, block: int) -> Shape:
    """As many whole blocks as there are in the array."""
    return Shape(case.size // block, block)


def program(run: Run) -> None:
    """Launch too few threads."""
    run.launch("element_per_thread", shape(run.case, run.block), "x", "y", "z", "n")


RUNG = Rung(
    name="element_per_thread_as_written",
    table="few",
    explanation=__doc__ or "",
    follows=None,
    kernels=ELEMENT_PER_THREAD.kernels,
    program=program,
    shape=shape,
    defect="the number of blocks is rounded down, so the last elements are left wrong",
)
