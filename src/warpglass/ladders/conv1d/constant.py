"""The mask in constant memory: half of the loads of global memory are gone.

The mask is small, nobody changes it, and all lanes of a warp want the same weight at the same time. That is
what constant memory (64 KB, with a cache of its own) is for: one word serves a warp, and the load takes no
turn in the pipeline of global memory. Two operations are left for one load of 4 bytes, 0.5 operations a byte.

In C++ the mask is a __constant__ variable with initial values; a host program would set it by
cudaMemcpyToSymbol. In Python it is cuda.const.array_like of an array that the kernel closes over.

On an H200 basic and constant take the same time: its L1 serves the weights as well as constant memory
does, which the notes' GPUs did not.
"""

from typing import Any

from warpglass.ladders.problem import Case
from warpglass.ladders.rung import Claim, KernelFunction, Rung, RungKernel, cuda


def specialise(case: Case, block: int) -> KernelFunction:
    """Return the kernel for the case's mask."""
    weights = case.arrays["mask"]

    def constant(x: Any, y: Any, n: Any, width: Any) -> None:
        """Compute one element of y."""
        mask = cuda.const.array_like(weights)
        i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
        if i < n:
            total = x.dtype.type(0)
            start = i - width // 2
            for j in range(width):
                if start + j >= 0 and start + j < n:
                    total += x[start + j] * mask[j]
            y[i] = total

    return constant


RUNG = Rung(
    follows="basic",
    kernels=(RungKernel(constants=""),),
    arguments=("x", "y", "n", "width"),
    claims=(
        Claim("global_load_requests", "<", "basic"),
        Claim("gld_transactions", "<", "basic"),
    ),
)
