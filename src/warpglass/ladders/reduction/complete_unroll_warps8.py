"""No loop at all: the steps from 1024 threads down to 64 are written out too.

A block never has more than 1024 threads, so four guarded steps cover all cases. The loop counter, its shift
and its branch disappear; the comparison of the block size with each step's constant takes their place.

Look at instruction overhead: there is little left to gain, because the loop had only a few rounds.
"""

from typing import Any

from warpglass.ladders.reduction.rung import reduction_rung
from warpglass.ladders.rung import cuda


def complete_unroll_warps8(x: Any, partial: Any, n: Any) -> None:  # noqa: C901 (written out on purpose)
    """Do what unroll_warps8 does with every step written out."""
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
    if width >= 1024 and tid < 512 and tid + 512 < count:
        x[base + tid] += x[base + tid + 512]
    cuda.syncthreads()
    if width >= 512 and tid < 256 and tid + 256 < count:
        x[base + tid] += x[base + tid + 256]
    cuda.syncthreads()
    if width >= 256 and tid < 128 and tid + 128 < count:
        x[base + tid] += x[base + tid + 128]
    cuda.syncthreads()
    if width >= 128 and tid < 64 and tid + 64 < count:
        x[base + tid] += x[base + tid + 64]
    cuda.syncthreads()
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


RUNG = reduction_rung(follows="unroll_warps8", elements_per_thread=8)
