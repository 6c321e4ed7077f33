"""The same network with all steps of short stride in shared memory: a launch does many steps at once.

The first launch sorts the spans of all blocks. Merging longer runs begins with strides that leave the span,
a launch each. Once the stride is within the span, one launch does all the steps that are left.

Look at the launches, 55 instead of 171 for 2^18 keys and blocks of 256, and at the global loads that go with
them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpglass.ladders.run import Run
from warpglass.ladders.rung import Claim, Kernel, Rung
from warpglass.ladders.sort import bitonic_block
from warpglass.ladders.sort.bitonic_global import STEP, launch_steps
from warpglass.ladders.sorting import span_shape

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


def finish_merge(x: Any, n: Any) -> None:
    """Do the steps of a merge from stride blockDim.x down."""
    s = cuda.shared.array(0, x.dtype)
    t = cuda.threadIdx.x
    half = cuda.blockDim.x
    first = cuda.blockIdx.x * 2 * half
    count = min(2 * half, n - first)
    if t < count:
        s[t] = x[first + t]
    if t + half < count:
        s[t + half] = x[first + t + half]
    stride = half
    while stride > 0:
        cuda.syncthreads()
        low = 2 * t - (t & (stride - 1))
        high = low + stride
        if high < count:
            a = s[low]
            b = s[high]
            if not a <= b and b == b:  # NaN comes after every number
                s[low] = b
                s[high] = a
        stride >>= 1
    cuda.syncthreads()
    if t < count:
        x[first + t] = s[t]
    if t + half < count:
        x[first + t + half] = s[t + half]


def program(run: Run) -> None:
    """Sort the spans, then merge runs of one, two, four, ... spans."""
    shape = span_shape(run.case, run.block)
    run.launch("bitonic_block", shape, "x", "n")
    run_length = span = 2 * run.block
    while run_length < run.case.size:
        launch_steps(run, run_length, down_to=span)
        run.launch("finish_merge", shape, "x", "n")
        run_length *= 2


RUNG = Rung(
    name="bitonic_shared",
    table="sort",
    explanation=__doc__ or "",
    follows="bitonic_global",
    kernels=(
        bitonic_block.KERNEL,
        STEP,
        Kernel(
            name="finish_merge",
            file=Path(__file__).with_suffix(".cu"),
            cuda="finish_merge<{type}>",
            python=finish_merge,
        ),
    ),
    program=program,
    shape=span_shape,
    claims=(Claim("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", ">", "bitonic_global"),),
)
