"""A continuation of the notes: warps add up by shuffles, so the block needs a word a warp and one barrier.

Lanes of a warp read each other's registers: after five shuffles lane 0 has the warp's sum, without shared
memory and without a barrier. One word a warp goes to shared memory, and after the only barrier the first warp
adds these words in the same way.

Look at shared memory and at the instructions: both fall with the steps that no longer go through a barrier.

In C++ only: numba-cuda-mlir 0.6 shuffles a float64 as a float32.
"""

from warpglass.ladders.dot.problem import products_per_thread
from warpglass.ladders.rung import Claim, Rung

RUNG = Rung(
    follows="tree",
    depth=lambda case, block: products_per_thread(case, block) + 10,
    claims=(
        Claim("shared_store_transactions", "<", "tree"),
        Claim("shared_load_transactions", "<", "tree"),
        Claim("smsp__inst_executed.sum", "<", "tree"),
    ),
)
