"""One element a thread: 25 elements of the picture times 25 weights, all from global memory.

A thread reads the square around its element; a comparison skips the ghost cells beyond the borders. Every
element is read by 25 threads, (2 r + 1)^2 for a mask of radius r, less what the borders spare (counts.py).

Look at the loads: 25 of the picture and 25 of the mask for each element. The lanes' elements lie side by
side, but the squares of neighbours overlap in all but a column.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpglass.ladders.conv2d.problem import one_thread_each, weights_per_element
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Kernel, Rung

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


def basic(p: Any, n: Any, rows: Any, columns: Any, mask: Any) -> None:
    """Compute one element of p."""
    i = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    j = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < rows and j < columns:
        total = n.dtype.type(0)
        for u in range(5):
            for v in range(5):
                row = i + u - 2
                column = j + v - 2
                if row >= 0 and row < rows and column >= 0 and column < columns:
                    total += n[row, column] * mask[u, v]
        p[i, j] = total


def program(run: Run) -> None:
    """Launch a thread for every element."""
    run.launch("basic", one_thread_each(run.case, run.block), "p", "n", "rows", "columns", "mask")


RUNG = Rung(
    name="basic",
    table="conv2d",
    explanation=__doc__ or "",
    follows=None,
    kernels=(
        Kernel(name="basic", file=Path(__file__).with_suffix(".cu"), cuda="basic<{type}>", python=basic),
    ),
    program=program,
    shape=one_thread_each,
    depth=weights_per_element,
)
