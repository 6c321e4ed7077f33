"""The block adds up its own products, by one thread: one number a block goes back to the host.

Every thread keeps the sum of its products in a register and puts it into shared memory once. After a barrier
thread 0 adds the block's words and stores one. Nothing but partial sums leaves the device: 132 instead of n.

What is bad about it is who adds: one thread of 256 works, and the rest of the block waits. The warps'
instructions show it: the loop of thread 0 is issued for a warp with one lane in it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpglass.ladders.dot.problem import grid_stride, host_sum, products_per_thread
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Claim, Kernel, Rung

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


def one_thread_sums(x: Any, y: Any, partial: Any, n: Any) -> None:
    """Add products, then let thread 0 add the threads' sums."""
    cache = cuda.shared.array(0, x.dtype)
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + tid
    total = x.dtype.type(0)
    while i < n:
        total += x[i] * y[i]
        i += cuda.blockDim.x * cuda.gridDim.x
    cache[tid] = total
    cuda.syncthreads()
    if tid == 0:
        for k in range(1, cuda.blockDim.x):
            total += cache[k]
        partial[cuda.blockIdx.x] = total


def program(run: Run) -> None:
    """Let every block make one sum, and add these on the host."""
    shape = grid_stride(run.case, run.block)
    run.launch("one_thread_sums", shape, "x", "y", "partial", "n")
    run.keep("dot", run.on_host(host_sum, run.to_host(run["partial"])[: shape.grid3[0]]))


RUNG = Rung(
    name="one_thread_sums",
    table="dot",
    explanation=__doc__ or "",
    follows="products",
    kernels=(
        Kernel(
            name="one_thread_sums",
            file=Path(__file__).with_suffix(".cu"),
            cuda="one_thread_sums<{type}>",
            python=one_thread_sums,
        ),
    ),
    program=program,
    shape=grid_stride,
    depth=lambda case, block: products_per_thread(case, block) + block,
    claims=(Claim("global_store_requests", "<", "products"),),
)
