"""grid_stride as the notes write it: the stride is blockDim.x * blockDim.x.

The notes launch 128 blocks of 128 threads, and there the two are the same. Here 16 blocks of 256 add the
first 4096 elements and go on at 65536: what lies between is never added. With more blocks than threads in a
block, the stride is too small instead, and elements are added again and again.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpglass.ladders.problem import Case
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Kernel, Rung, Shape

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


def grid_stride(x: Any, y: Any, z: Any, n: Any) -> None:
    """Add elements, a square of the block apart."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    while i < n:
        z[i] = x[i] + y[i]
        i += cuda.blockDim.x * cuda.blockDim.x


def shape(case: Case, block: int) -> Shape:
    """Sixteen blocks."""
    return Shape(16, block)


def program(run: Run) -> None:
    """Launch the grid."""
    run.launch("grid_stride", shape(run.case, run.block), "x", "y", "z", "n")


RUNG = Rung(
    name="grid_stride_as_written",
    table="vector",
    explanation=__doc__ or "",
    follows="element_per_thread_as_written",
    kernels=(
        Kernel(
            name="grid_stride",
            file=Path(__file__).with_suffix(".cu"),
            cuda="grid_stride<{type}>",
            python=grid_stride,
        ),
    ),
    program=program,
    shape=shape,
    defect="the stride is not that of the grid, so elements between are left wrong",
)
