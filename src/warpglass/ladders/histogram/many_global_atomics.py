"""4096 bins by global atomics: random keys seldom agree, so they hardly wait for each other.

The kernel is global_atomics. Look at the atomics' transactions: nearly every lane of a warp has a line of its
own.
"""

from __future__ import annotations

from warpglass.ladders.histogram.global_atomics import KERNEL, program
from warpglass.ladders.histogram.problem import one_thread_each
from warpglass.ladders.rung import Claim, Rung

RUNG = Rung(
    name="many_global_atomics",
    table="bins",
    explanation=__doc__ or "",
    follows="many_on_host",
    kernels=(KERNEL,),
    program=program,
    shape=one_thread_each,
    claims=(Claim("atomic_transactions_per_request", ">", 16.0),),
)
