"""The network over the whole array: each step is a launch, because blocks cannot wait for each other.

A thread has one pair of the step. Runs double until one is as long as the array, so 2^18 keys take 171 steps,
and each reads all keys from global memory.

Look at the launches, and at the sectors of the short strides: a warp's first keys lie apart, so each of
its two loads uses half of what it fetches.
"""

from typing import Any

import numpy as np

from warpglass.ladders.problem import Case
from warpglass.ladders.run import HostRun
from warpglass.ladders.rung import Claim, LaunchShape, Rung, RungKernel, cuda


def bitonic_step(x: Any, n: Any, stride: Any, mirror: Any) -> None:
    """Put one pair in order."""
    t = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    low = 2 * t - (t & (stride - 1))
    high = low ^ mirror
    if high < n:
        a = x[low]
        b = x[high]
        if not a <= b and b == b:  # NaN comes after every number
            x[low] = b
            x[high] = a


def pairs_shape(case: Case, block: int) -> LaunchShape:
    """A thread for every pair of the network, whose size is the next power of two."""
    pairs = max(1, 1 << max(0, case.size - 1).bit_length() >> 1)
    return LaunchShape(-(-pairs // block), block)


def launch_steps(run: HostRun, run_length: int, down_to: int) -> None:
    """Launch the steps that merge runs of `run_length` keys, down to the stride `down_to`."""
    shape = pairs_shape(run.case, run.block)
    mirror, stride = 2 * run_length - 1, run_length
    while stride >= down_to:
        run.launch("bitonic_step", shape, "x", "n", np.uint32(stride), np.uint32(mirror))
        stride //= 2
        mirror = stride


def program(run: HostRun) -> None:
    """Launch every step of the network; the first even of an array that is sorted already."""
    run_length = 1
    while run_length == 1 or run_length < run.case.size:
        launch_steps(run, run_length, down_to=1)
        run_length *= 2


RUNG = Rung(
    table="sort",
    follows="on_host",
    kernels=(RungKernel("bitonic_step"),),
    program=program,
    shape=pairs_shape,
    claims=(Claim("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "<", 51.0),),
)
