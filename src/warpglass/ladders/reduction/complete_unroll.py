"""The block size as a compile-time constant: a template argument in C++, a closure variable in Python.

The compiler now knows which of the written-out steps exist. The comparisons are made at compile time,
unused steps leave no code and no barrier, and index arithmetic folds into address constants. The host picks
the instance for the block size it launches (64, 128, 256, 512 or 1024).

Look at the executed instructions: this is the same algorithm with the bookkeeping removed.
"""

from typing import Any

from warpglass.ladders.problem import Case
from warpglass.ladders.reduction.rung import reduction_rung
from warpglass.ladders.rung import Claim, KernelFunction, cuda


def specialise(case: Case, block_size: int) -> KernelFunction:  # noqa: C901 (written out on purpose)
    """Return the kernel for one block size, which it holds as a compile-time constant."""

    def complete_unroll(x: Any, partial: Any, n: Any) -> None:  # noqa: C901 (written out on purpose)
        """Do what complete_unroll_warps8 does for blocks of block_size threads."""
        tid = cuda.threadIdx.x
        base = cuda.blockIdx.x * block_size * 8
        count = n - base  # elements left from this block on
        if tid + 7 * block_size < count:
            a0 = x[base + tid]
            a1 = x[base + tid + block_size]
            a2 = x[base + tid + 2 * block_size]
            a3 = x[base + tid + 3 * block_size]
            a4 = x[base + tid + 4 * block_size]
            a5 = x[base + tid + 5 * block_size]
            a6 = x[base + tid + 6 * block_size]
            a7 = x[base + tid + 7 * block_size]
            x[base + tid] = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7
        else:
            # Only the last block comes here: add whatever whole or broken data blocks it has.
            i = tid + block_size
            while i < count:
                x[base + tid] += x[base + i]
                i += block_size
        cuda.syncthreads()
        if block_size >= 1024:
            if tid < 512 and tid + 512 < count:
                x[base + tid] += x[base + tid + 512]
            cuda.syncthreads()
        if block_size >= 512:
            if tid < 256 and tid + 256 < count:
                x[base + tid] += x[base + tid + 256]
            cuda.syncthreads()
        if block_size >= 256:
            if tid < 128 and tid + 128 < count:
                x[base + tid] += x[base + tid + 128]
            cuda.syncthreads()
        if block_size >= 128:
            if tid < 64 and tid + 64 < count:
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

    return complete_unroll


RUNG = reduction_rung(
    follows="complete_unroll_warps8",
    elements_per_thread=8,
    cuda="complete_unroll<{type}, {block}>",
    claims=(Claim("smsp__inst_executed.sum", "<", "complete_unroll_warps8"),),
)
