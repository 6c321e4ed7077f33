"""4096 bins in shared memory: 16 KiB of counters for every block, to be set to zero and added up.

The kernel is shared_bins. Look at the occupancy that the counters leave, and at what they cost where a
block has few keys for each of its bins.
"""

from warpglass.ladders.histogram.problem import few_blocks
from warpglass.ladders.histogram.shared_bins import shared_bins
from warpglass.ladders.rung import Claim, Rung, RungKernel

RUNG = Rung(
    table="bins",
    follows="many_global_atomics",
    kernels=(RungKernel(python=shared_bins),),
    shape=few_blocks,
    claims=(Claim("atomic_transactions", "<", "many_global_atomics"),),
)
