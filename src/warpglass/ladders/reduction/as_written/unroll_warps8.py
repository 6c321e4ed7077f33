"""unroll_warps8 as the course notes have it: a volatile pointer instead of warp barriers (C++ only).

volatile makes every access go to memory, but orders nothing between lanes. Before Volta the lanes of a warp
moved in lockstep and this worked; since then it is a race. Python has no volatile.
"""

from warpglass.ladders.reduction.rung import TRUSTS_LOCKSTEP, reduction_rung

RUNG = reduction_rung(
    follows="unroll8_as_written",
    elements_per_thread=8,
    defect=TRUSTS_LOCKSTEP,
)
