"""The host program of the merge sorts: sorted spans, then passes that merge runs of twice the length each.

Belongs here: what the merge rungs share. A pass reads one array and writes another, so they change places; if
the result ends up in the second one, a last copy brings it back.
"""

from typing import Any

import numpy as np

from warpglass.ladders.run import HostRun
from warpglass.ladders.rung import KernelFunction, LaunchShape, RungKernel, cuda
from warpglass.ladders.sort.bitonic_block import bitonic_block


def copy_keys(x: Any, y: Any, n: Any) -> None:
    """Copy one key."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < n:
        y[i] = x[i]


def kernels_with(merge: KernelFunction) -> tuple[RungKernel, ...]:
    """The kernels of a sort that merges with this one."""
    return (RungKernel(python=bitonic_block), RungKernel(python=merge), RungKernel(python=copy_keys))


def merge_sort(run: HostRun, kernel: str, shape: LaunchShape) -> None:
    """Sort with `bitonic_block`, then launch `kernel(x, y, n, length)` for every doubling of the runs."""
    n, span = run.case.size, 2 * run.block
    run.launch("bitonic_block", run.shape, "x", "n")
    source, target = run["x"], run.scratch("merged", n, run.case.dtype)
    length = span
    passes = 0
    while length < n:
        run.launch(kernel, shape, source, target, "n", np.uint32(length))
        source, target = target, source
        length *= 2
        passes += 1
    if passes % 2:
        run.launch("copy_keys", LaunchShape(-(-n // run.block), run.block), source, target, "n")
