"""A continuation of the notes: warps add up by shuffles, so the block needs a word a warp and one barrier.

Lanes of a warp read each other's registers: after five shuffles lane 0 has the warp's sum, without shared
memory and without a barrier. One word a warp goes to shared memory, and after the only barrier the first warp
adds these words in the same way.

Look at shared memory and at the instructions: both fall with the steps that no longer go through a barrier.

In C++ only: numba-cuda-mlir 0.6 shuffles a float64 as a float32.
"""

from __future__ import annotations

from pathlib import Path

from warpglass.ladders.dot.problem import grid_stride, host_sum, products_per_thread
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Claim, Kernel, Rung


def program(run: Run) -> None:
    """Let every block make one sum, and add these on the host."""
    shape = grid_stride(run.case, run.block)
    run.launch("warp_shuffle", shape, "x", "y", "partial", "n")
    run.keep("dot", run.on_host(host_sum, run.to_host(run["partial"])[: shape.grid3[0]]))


RUNG = Rung(
    name="warp_shuffle",
    table="dot",
    explanation=__doc__ or "",
    follows="tree",
    kernels=(
        Kernel(
            name="warp_shuffle",
            file=Path(__file__).with_suffix(".cu"),
            cuda="warp_shuffle<{type}>",
        ),
    ),
    program=program,
    shape=grid_stride,
    depth=lambda case, block: products_per_thread(case, block) + 10,
    claims=(
        Claim("shared_store_transactions", "<", "tree"),
        Claim("shared_load_transactions", "<", "tree"),
        Claim("smsp__inst_executed.sum", "<", "tree"),
    ),
)
