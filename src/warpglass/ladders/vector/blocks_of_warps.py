"""Blocks of whole warps: 4 blocks of 32 threads for 100 elements, and 28 threads that find nothing to do.

The kernel is that of element_per_thread, and the launch is what there is to see: the number of blocks is n /
block, rounded up, (n + block - 1) / block in whole numbers. The last block reaches beyond the array; its
guard, i < n, sends 28 of its 32 threads home.

Look at the requests: one for 32 elements, where one thread a block needed 32.
"""

from __future__ import annotations

from warpglass.ladders.run import Run
from warpglass.ladders.rung import Claim, Rung
from warpglass.ladders.vector.element_per_thread import RUNG as ELEMENT_PER_THREAD
from warpglass.ladders.vector.problem import one_thread_each


def program(run: Run) -> None:
    """Launch a thread for every element."""
    run.launch("element_per_thread", one_thread_each(run.case, run.block), "x", "y", "z", "n")


RUNG = Rung(
    name="blocks_of_warps",
    table="few",
    explanation=__doc__ or "",
    follows="one_thread_a_block",
    kernels=ELEMENT_PER_THREAD.kernels,
    program=program,
    shape=one_thread_each,
    claims=(
        Claim("launch__grid_size", "==", 4.0),
        Claim("launch__thread_count", "==", 128.0),
        Claim("global_load_requests", "<", "one_thread_a_block"),
    ),
)
