"""tree with the barrier inside the branch, as the notes' second version has it.

Only threads that add reach __syncthreads, which is defined only if all threads of the block do. A GPU may
hang, or let threads read words that are not yet there; that the result is right here proves nothing. The
checker reports the barrier and who is missing at it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpglass.ladders.dot.problem import grid_stride, host_sum, products_per_thread
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Kernel, Rung

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


def tree(x: Any, y: Any, partial: Any, n: Any) -> None:
    """Add products, then halves of the block, with a barrier for those who add."""
    cache = cuda.shared.array(0, x.dtype)
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + tid
    total = x.dtype.type(0)
    while i < n:
        total += x[i] * y[i]
        i += cuda.blockDim.x * cuda.gridDim.x
    cache[tid] = total
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if tid < half:
            cache[tid] += cache[tid + half]
            cuda.syncthreads()
        half //= 2
    if tid == 0:
        partial[cuda.blockIdx.x] = cache[0]


def program(run: Run) -> None:
    """Let every block make one sum, and add these on the host."""
    shape = grid_stride(run.case, run.block)
    run.launch("tree", shape, "x", "y", "partial", "n")
    run.keep("dot", run.on_host(host_sum, run.to_host(run["partial"])[: shape.grid3[0]]))


RUNG = Rung(
    name="tree_as_written",
    table="dot",
    explanation=__doc__ or "",
    follows=None,
    kernels=(Kernel(name="tree", file=Path(__file__).with_suffix(".cu"), cuda="tree<{type}>", python=tree),),
    program=program,
    shape=grid_stride,
    depth=lambda case, block: products_per_thread(case, block) + block.bit_length(),
    defect="the barrier stands in a branch that not all threads of the block take (barrier-divergence)",
)
