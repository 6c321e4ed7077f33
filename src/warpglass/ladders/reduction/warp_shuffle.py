"""Registers instead of memory: threads add while they walk over the array, then lanes read each other.

The grid has as many threads as a GPU keeps busy and no more. Each walks over the array in steps of the whole
grid and adds in a register, so most additions need no partner and no barrier. At the end the 32 lanes of a
warp add up by `__shfl_down_sync`, which hands a register to another lane: 16 apart, 8, 4, 2, 1. One word of
shared memory per warp carries the sums to the first warp, which does the same again.

Look at what is missing: no in-place stores to global memory, one barrier a block instead of one per step, and
no shared memory to speak of. Reading the array is all that is left.
"""

from typing import Any

import numpy as np

from warpglass.ladders.problem import Case
from warpglass.ladders.reduction.rung import reduction_rung
from warpglass.ladders.rung import KernelFunction, cuda


def specialise(case: Case, block: int) -> KernelFunction:
    """Return the kernel for one element type: a shuffle hands over 32 bits, and some types have 64."""
    wide = case.dtype.itemsize == 8
    floating = case.dtype.kind == "f"

    def warp_shuffle(x: Any, partial: Any, n: Any) -> None:
        """Add in registers, then within warps, then across the block's warps."""
        sums = cuda.shared.array(32, x.dtype)
        tid = cuda.threadIdx.x
        total = x.dtype.type(0)
        i = cuda.blockIdx.x * cuda.blockDim.x + tid
        while i < n:
            total += x[i]
            i += cuda.gridDim.x * cuda.blockDim.x
        for step in range(2):
            distance = 16
            while distance > 0:
                if wide:
                    bits = cuda.libdevice.double_as_longlong(total) if floating else np.int64(total)
                    low = cuda.shfl_down_sync(0xFFFFFFFF, bits & 0xFFFFFFFF, distance)
                    high = cuda.shfl_down_sync(0xFFFFFFFF, bits >> 32, distance)
                    other = (high << 32) | (low & 0xFFFFFFFF)
                    total += cuda.libdevice.longlong_as_double(other) if floating else x.dtype.type(other)
                else:
                    total += cuda.shfl_down_sync(0xFFFFFFFF, total, distance)
                distance >>= 1
            if step == 0:
                # The warps' sums go to the first warp, which alone has a second step.
                if tid % 32 == 0:
                    sums[tid // 32] = total
                cuda.syncthreads()
                if tid >= 32:
                    break
                total = x.dtype.type(0)
                if tid < cuda.blockDim.x // 32:
                    total = sums[tid]
        if tid == 0:
            partial[cuda.blockIdx.x] = total

    return warp_shuffle


RUNG = reduction_rung(table="beyond", most_threads=2**18)
