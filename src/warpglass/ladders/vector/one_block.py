"""One block: thread number i of the only block adds element i.

The notes' second program. It is as short as a kernel can be, and ends where a block does: no GPU takes more
than 1024 threads a block (512 in the notes' days), and a launch with more is refused before it begins, with
cudaErrorInvalidConfiguration. So this table has at most 1024 elements, whatever size is asked for.

A block runs on one multiprocessor. Of an H100's 132 all others do nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpglass.ladders.problem import Case
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Claim, Kernel, Rung, Shape

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


def one_block(x: Any, y: Any, z: Any, n: Any) -> None:
    """Add one element."""
    i = cuda.threadIdx.x
    if i < n:
        z[i] = x[i] + y[i]


def shape(case: Case, block: int) -> Shape:
    """One block with a thread for every element, and one thread even if there are none."""
    return Shape(1, max(1, case.size))


def program(run: Run) -> None:
    """Launch the block."""
    run.launch("one_block", shape(run.case, run.block), "x", "y", "z", "n")


RUNG = Rung(
    name="one_block",
    table="one block",
    explanation=__doc__ or "",
    follows=None,
    kernels=(
        Kernel(
            name="one_block",
            file=Path(__file__).with_suffix(".cu"),
            cuda="one_block<{type}>",
            python=one_block,
        ),
    ),
    program=program,
    shape=shape,
    claims=(Claim("launch__grid_size", "==", 1.0),),
)
