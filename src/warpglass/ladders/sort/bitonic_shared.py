"""The same network with all steps of short stride in shared memory: a launch does many steps at once.

The first launch sorts the spans of all blocks. Merging longer runs begins with strides that leave the span,
a launch each. Once the stride is within the span, one launch does all the steps that are left.

Look at the launches, 55 instead of 171 for 2^18 keys and blocks of 256, and at the global loads that go with
them.
"""

from typing import Any

from warpglass.ladders.run import HostRun
from warpglass.ladders.rung import Claim, Rung, RungKernel, cuda
from warpglass.ladders.sort.bitonic_block import bitonic_block
from warpglass.ladders.sort.bitonic_global import bitonic_step, launch_steps


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


def program(run: HostRun) -> None:
    """Sort the spans, then merge runs of one, two, four, ... spans."""
    run.launch("bitonic_block", run.shape, "x", "n")
    run_length = span = 2 * run.block
    while run_length < run.case.size:
        launch_steps(run, run_length, down_to=span)
        run.launch("finish_merge", run.shape, "x", "n")
        run_length *= 2


RUNG = Rung(
    table="sort",
    follows="bitonic_global",
    kernels=(RungKernel(python=bitonic_block), RungKernel(python=bitonic_step), RungKernel("finish_merge")),
    program=program,
    claims=(Claim("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", ">", "bitonic_global"),),
)
