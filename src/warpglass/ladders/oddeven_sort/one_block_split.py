"""Even and odd elements in two arrays, so that neighbouring threads use neighbouring banks.

Thread j compares even[j] with odd[j] in one phase and odd[j] with even[j + 1] in the other. Loading and
storing deal the elements out to both arrays; `odd` starts 16 banks further on, so that even this meets no
conflict.

Look at the bank conflicts, which are gone, and at the instructions, which are no fewer.
"""

from typing import Any

from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Claim, LaunchShape, Rung, cuda
from warpglass.ladders.sorting import span_shape

GAP = 16  # elements between the arrays: half of the banks


def one_block_split(x: Any, n: Any) -> None:
    """Sort the block's 2 * blockDim.x elements, or those that there are."""
    s = cuda.shared.array(0, x.dtype)  # even elements, then odd ones
    j = cuda.threadIdx.x
    half = cuda.blockDim.x
    k = 2 * j
    first = cuda.blockIdx.x * 2 * half
    count = min(2 * half, n - first)
    odd = half + GAP
    own = (j & 1) * odd + (j >> 1)
    if j < count:
        s[own] = x[first + j]
    if j + half < count:
        s[own + (half >> 1)] = x[first + j + half]
    for _ in range(0, count, 2):
        cuda.syncthreads()
        if k + 1 < count:
            a = s[j]
            b = s[odd + j]
            if not a <= b and b == b:  # NaN comes after every number
                s[j] = b
                s[odd + j] = a
        cuda.syncthreads()
        if k + 2 < count:
            a = s[odd + j]
            b = s[j + 1]
            if not a <= b and b == b:
                s[odd + j] = b
                s[j + 1] = a
    cuda.syncthreads()
    if j < count:
        x[first + j] = s[own]
    if j + half < count:
        x[first + j + half] = s[own + (half >> 1)]


def shape(case: Case, block: int) -> LaunchShape:
    """The blocks of one_block, with shared memory for the gap."""
    spans = span_shape(case, block)
    return LaunchShape(spans.grid, block, spans.shared + GAP * case.dtype.itemsize)


RUNG = Rung(
    table="one_block",
    follows="one_block",
    shape=shape,
    claims=(Claim("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "==", 0.0),),
)
