"""unroll8 as the course notes have it, for arrays that are a multiple of 8 blocks.

The guard asks for the last of the 8 elements only: where it does not exist, the thread adds none of them.
The tree after it reads as if the block were full.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpglass.ladders.reduction.rung import reduction_rung

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


def unroll8(x: Any, partial: Any, n: Any) -> None:
    """Add eight data blocks into one, then reduce it."""
    tid = cuda.threadIdx.x
    base = cuda.blockIdx.x * cuda.blockDim.x * 8
    width = cuda.blockDim.x
    if base + tid + 7 * width < n:
        a0 = x[base + tid]
        a1 = x[base + tid + width]
        a2 = x[base + tid + 2 * width]
        a3 = x[base + tid + 3 * width]
        a4 = x[base + tid + 4 * width]
        a5 = x[base + tid + 5 * width]
        a6 = x[base + tid + 6 * width]
        a7 = x[base + tid + 7 * width]
        x[base + tid] = a0 + a1 + a2 + a3 + a4 + a5 + a6 + a7
    cuda.syncthreads()
    stride = cuda.blockDim.x // 2
    while stride > 0:
        if tid < stride:
            x[base + tid] += x[base + tid + stride]
        cuda.syncthreads()
        stride >>= 1
    if tid == 0:
        partial[cuda.blockIdx.x] = x[base]


RUNG = reduction_rung(
    name="unroll8_as_written",
    file=Path(__file__),
    explanation=__doc__ or "",
    follows="unroll4_as_written",
    elements_per_thread=8,
    cuda="unroll8<{type}>",
    kernel=unroll8,
    defect=(
        "when n is no multiple of 8 * blockDim.x, elements of the tail are dropped (unread-input) "
        "and the tree reads past the end of the array (out-of-bounds)"
    ),
)
