"""The host program of the merge sorts: sorted spans, then passes that merge runs of twice the length each.

Belongs here: what the merge rungs share. A pass reads one array and writes another, so they change places; if
the result ends up in the second one, a last copy brings it back.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from warpglass.ladders.run import Run
from warpglass.ladders.rung import Kernel, Shape
from warpglass.ladders.sorting import span_shape

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


def copy_keys(x: Any, y: Any, n: Any) -> None:
    """Copy one key."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < n:
        y[i] = x[i]


COPY = Kernel(
    name="copy_keys",
    file=Path(__file__).with_name("copy_keys.cu"),
    cuda="copy_keys<{type}>",
    python=copy_keys,
)


def merge_sort(run: Run, kernel: str, shape: Shape) -> None:
    """Sort with `bitonic_block`, then launch `kernel(x, y, n, length)` for every doubling of the runs."""
    n, span = run.case.size, 2 * run.block
    run.launch("bitonic_block", span_shape(run.case, run.block), "x", "n")
    source, target = run["x"], run.scratch("merged", n, run.case.dtype)
    length = span
    passes = 0
    while length < n:
        run.launch(kernel, shape, source, target, "n", np.uint32(length))
        source, target = target, source
        length *= 2
        passes += 1
    if passes % 2:
        run.launch("copy_keys", Shape(-(-n // run.block), run.block), source, target, "n")
