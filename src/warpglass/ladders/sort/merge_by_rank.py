"""Merging by rank: every key counts how many keys of the other run come before it, and goes there.

Blocks sort their spans by a bitonic network. Then runs are merged in pairs: a key's place is its place in its
own run plus its rank in the other, which a binary search finds. Equal keys of the left run come first, so no
two keys want one place. log2(n / span) passes move each key once, instead of some log2(n)^2 / 2 steps.

Look at the loads: the lanes of a warp search in different places, so most of a fetched sector is not wanted.
"""

from typing import Any

from warpglass.ladders.problem import thread_each
from warpglass.ladders.run import HostRun
from warpglass.ladders.rung import Rung, cuda
from warpglass.ladders.sort.merging import kernels_with, merge_sort


def merge_by_rank(x: Any, y: Any, n: Any, length: Any) -> None:
    """Put one key at its place in the merged run."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < n:
        key = x[i]
        first = i - (i & (2 * length - 1))  # of the pair of runs
        middle = min(first + length, n)
        left = i < middle
        low = first
        high = middle
        if left:
            low = middle
            high = min(first + 2 * length, n)
        while low < high:
            probe = (low + high) >> 1
            other = x[probe]
            if left:
                before = not key <= other and other == other  # NaN comes after every number
            else:
                # numba-cuda-mlir takes NaN != NaN for false.
                before = other <= key or not key == key  # noqa: SIM201
            if before:
                low = probe + 1
            else:
                high = probe
        y[i + low - middle] = key


def program(run: HostRun) -> None:
    """Sort the spans, then merge."""
    merge_sort(run, "merge_by_rank", thread_each(run.case, run.block))


RUNG = Rung(
    table="sort",
    follows="bitonic_shared",
    kernels=kernels_with(merge_by_rank),
    program=program,
)
