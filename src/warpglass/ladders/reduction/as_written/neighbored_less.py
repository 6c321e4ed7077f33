"""neighbored_less as the course notes have it, for arrays that are a multiple of the block.

Threads past the end return at once, but the ones that stay add `x[tid + stride]` without asking whether
that element exists.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpglass.ladders.reduction.rung import reduction_rung

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


def neighbored_less(x: Any, partial: Any, n: Any) -> None:
    """Add the same pairs as neighbored with consecutive threads."""
    tid = cuda.threadIdx.x
    base = cuda.blockIdx.x * cuda.blockDim.x
    if base + tid >= n:
        return
    stride = 1
    while stride < cuda.blockDim.x:
        index = 2 * stride * tid
        if index < cuda.blockDim.x:
            x[base + index] += x[base + index + stride]
        cuda.syncthreads()
        stride *= 2
    if tid == 0:
        partial[cuda.blockIdx.x] = x[base]


RUNG = reduction_rung(
    name="neighbored_less_as_written",
    file=Path(__file__),
    explanation=__doc__ or "",
    follows="neighbored_as_written",
    cuda="neighbored_less<{type}>",
    kernel=neighbored_less,
    defect=(
        "when n is no multiple of the block size, the last block reads past the end of the array "
        "(out-of-bounds)"
    ),
)
