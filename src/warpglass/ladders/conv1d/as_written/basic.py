"""basic as the notes write it: no guard on i.

Threads beyond the end of the array find no neighbour to add, or a few, and store their sum all the same:
behind the end of y, if the block size does not divide n.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpglass.ladders.conv1d.problem import one_thread_each, weights_per_element
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Kernel, Rung

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


def basic(x: Any, mask: Any, y: Any, n: Any, width: Any) -> None:
    """Compute one element of y."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    total = x.dtype.type(0)
    start = i - width // 2
    for j in range(width):
        if start + j >= 0 and start + j < n:
            total += x[start + j] * mask[j]
    y[i] = total


def program(run: Run) -> None:
    """Launch a thread for every element."""
    run.launch("basic", one_thread_each(run.case, run.block), "x", "mask", "y", "n", "width")


RUNG = Rung(
    name="basic_as_written",
    table="conv1d",
    explanation=__doc__ or "",
    follows=None,
    kernels=(
        Kernel(name="basic", file=Path(__file__).with_suffix(".cu"), cuda="basic<{type}>", python=basic),
    ),
    program=program,
    shape=one_thread_each,
    depth=weights_per_element,
    defect="threads beyond the end of the array store as well (out-of-bounds)",
)
