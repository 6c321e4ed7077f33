"""The last six steps written out for one warp, with warp barriers.

When 64 elements are left, one warp is enough. It needs no block barrier and no loop: the other warps are
finished, and a warp barrier (__syncwarp, cuda.syncwarp) orders its own lanes. All 32 lanes compute in every
step; the ones whose results nobody reads do no harm.

Look at the executed instructions and at the barriers: the other warps skip six rounds of loop, test and
barrier. The volatile form of the notes, which trusts lanes to move in lockstep, is among the as-written
rungs.

On an H200 this and the rungs after it take the time of unroll8, within a few percent: eight loads in flight
have already made the memory the limit, so instructions saved are no time saved. On the notes' GPUs they were.
"""

from typing import Any

from warpglass.ladders.reduction.rung import reduction_rung
from warpglass.ladders.rung import Claim, cuda


def unroll_warps8(x: Any, partial: Any, n: Any) -> None:
    """Add eight data blocks into one, reduce it to 64 elements, and let one warp finish."""
    tid = cuda.threadIdx.x
    base = cuda.blockIdx.x * cuda.blockDim.x * 8
    count = n - base  # elements left from this block on
    width = cuda.blockDim.x
    if tid + 7 * width < count:
        a0 = x[base + tid]
        a1 = x[base + tid + width]
        a2 = x[base + tid + 2 * width]
        a3 = x[base + tid + 3 * width]
        a4 = x[base + tid + 4 * width]
        a5 = x[base + tid + 5 * width]
        a6 = x[base + tid + 6 * width]
        a7 = x[base + tid + 7 * width]
        x[base + tid] = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7
    else:
        # Only the last block comes here: add whatever whole or broken data blocks it has.
        i = tid + width
        while i < count:
            x[base + tid] += x[base + i]
            i += width
    cuda.syncthreads()
    stride = cuda.blockDim.x // 2
    while stride > 32:
        if tid < stride and tid + stride < count:
            x[base + tid] += x[base + tid + stride]
        cuda.syncthreads()
        stride >>= 1
    if tid < 32:
        if count >= 64:
            total = x[base + tid] + x[base + tid + 32]
            x[base + tid] = total
            cuda.syncwarp()
            total += x[base + tid + 16]
            cuda.syncwarp()
            x[base + tid] = total
            cuda.syncwarp()
            total += x[base + tid + 8]
            cuda.syncwarp()
            x[base + tid] = total
            cuda.syncwarp()
            total += x[base + tid + 4]
            cuda.syncwarp()
            x[base + tid] = total
            cuda.syncwarp()
            total += x[base + tid + 2]
            cuda.syncwarp()
            x[base + tid] = total
            cuda.syncwarp()
            total += x[base + tid + 1]
            cuda.syncwarp()
            x[base + tid] = total
        else:
            # Only a last block with fewer than 64 elements comes here.
            stride = 32
            while stride > 0:
                if tid < stride and tid + stride < count:
                    x[base + tid] += x[base + tid + stride]
                cuda.syncwarp()
                stride >>= 1
    if tid == 0:
        if count > 0:
            partial[cuda.blockIdx.x] = x[base]
        else:
            partial[cuda.blockIdx.x] = 0


RUNG = reduction_rung(
    follows="unroll8", elements_per_thread=8, claims=(Claim("smsp__inst_executed.sum", "<", "unroll8"),)
)
