"""One thread a block: block number i adds element i.

The notes' first program, add<<<N, 1>>>. It takes as many elements as a grid has blocks, 2^31 - 1, but a warp
is 32 lanes wide whether they have work or not: 31 of 32 are idle here, and each element needs loads of its
own.

Look at the lanes in use, and at the sectors: 32 bytes are fetched for 4.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpglass.ladders.problem import Case
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Claim, Kernel, Rung, Shape

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


def one_thread_a_block(x: Any, y: Any, z: Any, n: Any) -> None:
    """Add one element."""
    i = cuda.blockIdx.x
    if i < n:
        z[i] = x[i] + y[i]


def shape(case: Case, block: int) -> Shape:
    """A block of one thread for every element, and one even if there are none."""
    return Shape(max(1, case.size), 1)


def program(run: Run) -> None:
    """Launch the blocks."""
    run.launch("one_thread_a_block", shape(run.case, run.block), "x", "y", "z", "n")


RUNG = Rung(
    name="one_thread_a_block",
    table="few",
    explanation=__doc__ or "",
    follows=None,
    kernels=(
        Kernel(
            name="one_thread_a_block",
            file=Path(__file__).with_suffix(".cu"),
            cuda="one_thread_a_block<{type}>",
            python=one_thread_a_block,
        ),
    ),
    program=program,
    shape=shape,
    claims=(
        Claim("warp_execution_efficiency", "==", 3.125),
        Claim("gld_efficiency", "==", 12.5),
    ),
)
