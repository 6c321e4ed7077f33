"""interleaved as the course notes have it, for arrays that are a multiple of the block.

Threads past the end return at once, but the ones that stay add `x[tid + stride]` without asking whether
that element exists.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpglass.ladders.reduction.rung import reduction_rung

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


def interleaved(x: Any, partial: Any, n: Any) -> None:
    """Add the second half of the block to the first, then the second quarter, ..."""
    tid = cuda.threadIdx.x
    base = cuda.blockIdx.x * cuda.blockDim.x
    if base + tid >= n:
        return
    stride = cuda.blockDim.x // 2
    while stride > 0:
        if tid < stride:
            x[base + tid] += x[base + tid + stride]
        cuda.syncthreads()
        stride >>= 1
    if tid == 0:
        partial[cuda.blockIdx.x] = x[base]


RUNG = reduction_rung(
    name="interleaved_as_written",
    file=Path(__file__),
    explanation=__doc__ or "",
    follows="neighbored_less_as_written",
    cuda="interleaved<{type}>",
    kernel=interleaved,
    defect=(
        "when n is no multiple of the block size, the last block reads past the end of the array "
        "(out-of-bounds)"
    ),
)
