"""shared_interleaved_strided as the course notes have it: every thread loads, whether its element exists or
not.

The notes pass no n to the kernel at all. It is right for arrays that are a multiple of the block.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpglass.ladders.reduction.rung import reduction_rung

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


def shared_interleaved_strided(x: Any, partial: Any, n: Any) -> None:
    """Add the same pairs with consecutive threads."""
    shared = cuda.shared.array(0, x.dtype)
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + tid
    shared[tid] = x[i]
    cuda.syncthreads()
    stride = 1
    while stride < cuda.blockDim.x:
        index = 2 * stride * tid
        if index < cuda.blockDim.x:
            shared[index] += shared[index + stride]
        cuda.syncthreads()
        stride *= 2
    if tid == 0:
        partial[cuda.blockIdx.x] = shared[0]


RUNG = reduction_rung(
    name="shared_interleaved_strided_as_written",
    file=Path(__file__),
    explanation=__doc__ or "",
    follows="shared_interleaved_modulo_as_written",
    table="shared",
    cuda="shared_interleaved_strided<{type}>",
    kernel=shared_interleaved_strided,
    defect=(
        "when n is no multiple of the block size, the last block reads past the end of the array "
        "(out-of-bounds)"
    ),
)
