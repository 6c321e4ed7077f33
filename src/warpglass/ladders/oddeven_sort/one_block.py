"""Odd-even sort in one block: 2 * blockDim.x elements in shared memory, a pair for every thread.

Bubble sort walks through the array, each comparison waiting for the one before. Odd-even sort compares pairs
that do not overlap: (0, 1), (2, 3), ... in one phase, (1, 2), (3, 4), ... in the next. The threads of a phase
touch no element of each other, so they need no order among them, only a barrier between phases. n elements
are sorted after n phases: n / 2 rounds of two (the notes' loop makes one round more).

Look at the memory that it does not use: every element is loaded once, compared n times, stored once. That is
n / 4 comparisons for each element moved (n^2 / 2 over 2n), so transfers do not matter. Look at the bank
conflicts too: thread j compares words 2j + 1 and 2j + 2 in the second phase, and for each of them lanes j and
j + 16 of a warp meet in one bank. (The first phase reads both words at once, which costs no more than one.)
"""

from typing import Any

from warpglass.ladders.rung import Claim, Rung, cuda


def one_block(x: Any, n: Any) -> None:
    """Sort the block's 2 * blockDim.x elements, or those that there are."""
    s = cuda.shared.array(0, x.dtype)
    j = cuda.threadIdx.x
    half = cuda.blockDim.x
    k = 2 * j
    first = cuda.blockIdx.x * 2 * half
    count = min(2 * half, n - first)
    if j < count:
        s[j] = x[first + j]
    if j + half < count:
        s[j + half] = x[first + j + half]
    for _ in range(0, count, 2):
        cuda.syncthreads()
        if k + 1 < count:
            a = s[k]
            b = s[k + 1]
            if not a <= b and b == b:  # NaN comes after every number
                s[k] = b
                s[k + 1] = a
        cuda.syncthreads()
        if k + 2 < count:
            a = s[k + 1]
            b = s[k + 2]
            if not a <= b and b == b:
                s[k + 1] = b
                s[k + 2] = a
    cuda.syncthreads()
    if j < count:
        x[first + j] = s[j]
    if j + half < count:
        x[first + j + half] = s[j + half]


RUNG = Rung(
    table="one_block",
    claims=(Claim("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", ">", 0.0),),
)
