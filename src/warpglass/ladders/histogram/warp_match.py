"""Lanes with equal keys find each other by `__match_any_sync`, and one of them adds for all, in global
memory.

No two lanes of a warp are left that want the same counter, whatever the keys: where all are equal, a warp
makes one addition of 32. With keys that seldom agree the match costs instructions and saves little.

Bench with --data equal, and look at the instructions. In shared memory this is not needed on an H100:
adding 1 there is an instruction (ATOMS.POPC.INC) that counts the equal lanes itself.
"""

from typing import Any

import numpy as np

from warpglass.ladders.rung import Claim, Rung, cuda


def warp_match(x: Any, counts: Any, n: Any, bins: Any) -> None:
    """Count one key, or all keys of the warp that are equal to it."""
    # All lanes take part in the match; one beyond the end has a key that no bin is for.
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    bin = np.int64(bins)
    if i < n:
        key = np.int64(x[i])  # numba-cuda-mlir takes an unsigned index for a signed one
        if key >= 0 and key < bins:
            bin = key
    equal = cuda.match_any_sync(0xFFFFFFFF, np.int32(bin))
    if bin < bins and (cuda.threadIdx.x & 31) == cuda.ffs(equal) - 1:
        cuda.atomic.add(counts, bin, cuda.popc(equal))


RUNG = Rung(
    table="bytes", follows="global_atomics", claims=(Claim("smsp__inst_executed.sum", ">", "global_atomics"),)
)
