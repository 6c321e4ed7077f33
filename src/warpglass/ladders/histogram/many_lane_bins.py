"""4096 bins with two copies of the counters: what the 32 KiB hold that a block takes of shared memory.

The kernel is lane_bins. With two copies some lanes still meet in a bank; but keys of 4 bytes take four times
as long to come as bytes.

Prediction: 2^26 keys are 268 MB, 60 microseconds of reading. With three or four lanes in the fullest bank an
addition takes a warp four clocks, and 2^26 of them 32 microseconds: reading is what takes the time.

Outcome, H200: 70 us for random keys and 68 for equal ones, 3.9 TB/s; CuPy's bincount takes 1319 and 732.
"""

from warpglass.ladders.histogram.lane_bins import ladder_plan
from warpglass.ladders.rung import Claim, Rung

RUNG = Rung(
    table="bins",
    follows="many_shared_bins",
    plan=ladder_plan,
    claims=(Claim("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "<", "many_shared_bins"),),
)
