"""Sixteen bytes of keys in one load: a warp that asks for 32 bytes at a time leaves most of a request unused.

A request of 32 lanes may bring 512 bytes. Bytes loaded one by one bring 32, so that a thread has 16 times
as many loads to wait for. What does not fill a vector at the end is counted key by key. (C++ only: kernels
in Python have no vector loads.)

Look at the load requests and at the instructions.
"""

from warpglass.ladders.histogram.problem import few_blocks
from warpglass.ladders.rung import Claim, Rung

RUNG = Rung(
    table="bytes",
    follows="warp_bins",
    shape=few_blocks,
    claims=(
        Claim("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "<", "shared_bins"),
        Claim("smsp__inst_executed.sum", "<", "shared_bins"),
    ),
)
