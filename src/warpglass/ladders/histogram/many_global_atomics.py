"""4096 bins by global atomics: random keys seldom agree, so they hardly wait for each other.

The kernel is global_atomics. Look at the atomics' transactions: nearly every lane of a warp has a line of its
own.
"""

from warpglass.ladders.histogram.global_atomics import global_atomics
from warpglass.ladders.rung import Claim, Rung, RungKernel

RUNG = Rung(
    table="bins",
    follows="many_on_host",
    kernels=(RungKernel(python=global_atomics),),
    claims=(Claim("atomic_transactions_per_request", ">", 16.0),),
)
