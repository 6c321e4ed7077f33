"""complete_unroll_warps8 as the course notes have it: a volatile pointer instead of warp barriers (C++
only).

volatile makes every access go to memory, but orders nothing between lanes. Before Volta the lanes of a warp
moved in lockstep and this worked; since then it is a race. Python has no volatile.
"""

from __future__ import annotations

from pathlib import Path

from warpglass.ladders.reduction.rung import reduction_rung

RUNG = reduction_rung(
    name="complete_unroll_warps8_as_written",
    file=Path(__file__),
    explanation=__doc__ or "",
    follows="unroll_warps8_as_written",
    elements_per_thread=8,
    cuda="complete_unroll_warps8<{type}>",
    defect=(
        "the last warp relies on lockstep (warp-race); when n is no multiple of 8 * blockDim.x, "
        "elements of the tail are dropped (unread-input) and the tree reads past the end of the array "
        "(out-of-bounds)"
    ),
)
