"""Many blocks, each with even and odd elements apart: the passes of multi_block without its conflicts.

Look at the bank conflicts of both, and at the instructions, which hardly differ.
"""

from warpglass.ladders.oddeven_sort.multi_block import sort_in_passes
from warpglass.ladders.oddeven_sort.one_block_split import one_block_split, shape
from warpglass.ladders.rung import Claim, Rung, RungKernel

RUNG = Rung(
    table="oddeven_sort",
    follows="multi_block",
    kernels=(RungKernel(python=one_block_split),),
    program=sort_in_passes,
    shape=shape,
    claims=(Claim("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "<", "multi_block"),),
)
