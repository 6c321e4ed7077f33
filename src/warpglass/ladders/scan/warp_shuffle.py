"""Hillis and Steele within a warp, by shuffles: sums go from register to register, without barriers.

Five steps scan a warp. One sum of each warp goes through shared memory, the first warp scans those in the
same way, and every warp adds the sum of those before it: two barriers for the block instead of one in each
step.

Look at the wavefronts of shared memory and at the instructions, a fraction of what the trees need.
"""

from typing import Any

import numpy as np

from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Claim, KernelFunction, Rung, RungKernel, cuda
from warpglass.ladders.scan.propagate import ADD_OFFSETS, Blocks


def specialise(case: Case, block: int) -> KernelFunction:  # noqa: C901 (a kernel, written out)
    """Return the kernel for one element type: a shuffle hands over 32 bits, and some types have 64."""
    wide = case.dtype.itemsize == 8
    floating = case.dtype.kind == "f"

    def warp_shuffle(x: Any, y: Any, totals: Any, n: Any) -> None:  # noqa: C901 (a kernel, written out)
        """Scan one element a thread: within the warps, then, in the first warp, over their sums."""
        sums = cuda.shared.array(32, x.dtype)
        t = cuda.threadIdx.x
        lane = t & 31
        warp = t >> 5
        i = cuda.blockIdx.x * cuda.blockDim.x + t
        value = x.dtype.type(0)
        if i < n:
            value = x[i]
        own = value
        for step in range(2):
            stride = 1
            while stride < 32:
                if wide:
                    bits = cuda.libdevice.double_as_longlong(value) if floating else np.int64(value)
                    low = cuda.shfl_up_sync(0xFFFFFFFF, bits & 0xFFFFFFFF, stride)
                    high = cuda.shfl_up_sync(0xFFFFFFFF, bits >> 32, stride)
                    bits = (high << 32) | (low & 0xFFFFFFFF)
                    before = cuda.libdevice.longlong_as_double(bits) if floating else x.dtype.type(bits)
                else:
                    before = cuda.shfl_up_sync(0xFFFFFFFF, value, stride)
                if lane >= stride:
                    value = before + value
                stride *= 2
            if step == 0:
                own = value
                if lane == 31:
                    sums[warp] = value
                cuda.syncthreads()
                if warp > 0:
                    break
                value = x.dtype.type(0)
                if lane < cuda.blockDim.x >> 5:
                    value = sums[lane]
            else:
                cuda.syncwarp()
                sums[lane] = value
        cuda.syncthreads()
        if warp > 0:
            own = sums[warp - 1] + own
        if i < n:
            y[i] = own
        if t == cuda.blockDim.x - 1:
            totals[cuda.blockIdx.x] = own

    return warp_shuffle


BLOCKS = Blocks(per_thread=1, shared=lambda block, itemsize: 0, additions=lambda block: 11)

RUNG = Rung(
    follows="blelloch_padded",
    kernels=(RungKernel(), ADD_OFFSETS),
    program=BLOCKS.scan,
    shape=BLOCKS.shape,
    depth=BLOCKS.depth,
    claims=(Claim("smsp__inst_executed.sum", "<", "hillis_steele"),),
)
