"""4096 bins in shared memory: 16 KiB of counters for every block, to be set to zero and added up.

The kernel is shared_bins. Look at the occupancy that the counters leave, and at what they cost where a
block has few keys for each of its bins.
"""

from __future__ import annotations

from warpglass.ladders.histogram.problem import few_blocks
from warpglass.ladders.histogram.shared_bins import KERNEL, program
from warpglass.ladders.rung import Claim, Rung

RUNG = Rung(
    name="many_shared_bins",
    table="bins",
    explanation=__doc__ or "",
    follows="many_global_atomics",
    kernels=(KERNEL,),
    program=program,
    shape=few_blocks,
    claims=(Claim("atomic_transactions", "<", "many_global_atomics"),),
)
