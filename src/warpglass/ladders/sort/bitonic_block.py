"""A bitonic network in one block: 2 * blockDim.x keys in shared memory, log2 of them squared steps.

Two sorted runs, one after the other, are merged by comparing each key of the first with its mirror image in
the second, then with the key a quarter away, an eighth, and so on. Runs of 1 become runs of 2, 4, 8, ...:
some log2(n)^2 / 2 steps of n / 2 comparisons, where odd-even sort has n steps. Which keys are compared does
not depend on the keys, so no lane ever waits for another's branch but for the exchange itself.

Look at the barriers, one a step, and at the bank conflicts: at strides below 32 two lanes of a warp meet.
"""

from typing import Any

from warpglass.ladders.rung import Claim, Rung, cuda


def bitonic_block(x: Any, n: Any) -> None:
    """Sort the block's 2 * blockDim.x keys, or those that there are."""
    s = cuda.shared.array(0, x.dtype)
    t = cuda.threadIdx.x
    half = cuda.blockDim.x
    first = cuda.blockIdx.x * 2 * half
    count = min(2 * half, n - first)
    if t < count:
        s[t] = x[first + t]
    if t + half < count:
        s[t + half] = x[first + t + half]
    run = 1
    while run <= half:
        mirror = 2 * run - 1  # the first step compares with the mirror image
        stride = run
        while stride > 0:
            cuda.syncthreads()
            low = 2 * t - (t & (stride - 1))
            high = low ^ mirror
            if high < count:
                a = s[low]
                b = s[high]
                if not a <= b and b == b:  # NaN comes after every number
                    s[low] = b
                    s[high] = a
            stride >>= 1
            mirror = stride
        run *= 2
    cuda.syncthreads()
    if t < count:
        x[first + t] = s[t]
    if t + half < count:
        x[first + t + half] = s[t + half]


RUNG = Rung(
    table="one_block",
    claims=(Claim("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", ">", 90.0),),
)
