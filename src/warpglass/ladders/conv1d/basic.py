"""One element a thread: nine elements of x times nine weights, all from global memory.

Threads at both ends of the array find neighbours that do not exist; a comparison skips these ghost cells,
which count as 0. Threads beyond the end of the array do nothing.

Every element is read by nine threads: n (2 r + 1) - r (r + 1) reads of x with a mask of 2 r + 1 weights,
where r (r + 1) / 2 are spared at each end. The notes print twice as much for an end (counts.py). As many
reads go to the mask, always the same nine words: two operations for two loads of 4 bytes, 0.25 operations a
byte.
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
    if i < n:
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
    name="basic",
    table="conv1d",
    explanation=__doc__ or "",
    follows=None,
    kernels=(
        Kernel(name="basic", file=Path(__file__).with_suffix(".cu"), cuda="basic<{type}>", python=basic),
    ),
    program=program,
    shape=one_thread_each,
    depth=weights_per_element,
)
