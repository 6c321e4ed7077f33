"""Many blocks, each with even and odd elements apart: the passes of multi_block without its conflicts.

Look at the bank conflicts of both, and at the instructions, which hardly differ.
"""

from __future__ import annotations

from warpglass.ladders.oddeven_sort.multi_block import sort_in_passes
from warpglass.ladders.oddeven_sort.one_block_split import KERNEL, shape
from warpglass.ladders.run import Run
from warpglass.ladders.rung import Claim, Rung


def program(run: Run) -> None:
    """Dispatch the passes."""
    sort_in_passes(run, "one_block_split", shape)


RUNG = Rung(
    name="multi_block_split",
    table="oddeven_sort",
    explanation=__doc__ or "",
    follows="multi_block",
    kernels=(KERNEL,),
    program=program,
    shape=shape,
    claims=(Claim("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "<", "multi_block"),),
)
