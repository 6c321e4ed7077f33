"""shared_interleaved_modulo as the course notes have it: every thread loads, whether its element exists or
not.

The notes pass no n to the kernel at all. It is right for arrays that are a multiple of the block.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from warpglass.ladders.reduction.rung import reduction_rung

if TYPE_CHECKING:
    cuda: Any = ...  # the front end supplies it when it compiles the kernel


def shared_interleaved_modulo(x: Any, partial: Any, n: Any) -> None:
    """Add neighbours at distance 1, 2, 4, ... in shared memory."""
    shared = cuda.shared.array(0, x.dtype)
    tid = cuda.threadIdx.x
    i = cuda.blockIdx.x * cuda.blockDim.x + tid
    shared[tid] = x[i]
    cuda.syncthreads()
    stride = 1
    while stride < cuda.blockDim.x:
        if tid % (2 * stride) == 0:
            shared[tid] += shared[tid + stride]
        cuda.syncthreads()
        stride *= 2
    if tid == 0:
        partial[cuda.blockIdx.x] = shared[0]


RUNG = reduction_rung(
    name="shared_interleaved_modulo_as_written",
    file=Path(__file__),
    explanation=__doc__ or "",
    follows=None,
    table="shared",
    cuda="shared_interleaved_modulo<{type}>",
    kernel=shared_interleaved_modulo,
    defect=(
        "when n is no multiple of the block size, the last block reads past the end of the array "
        "(out-of-bounds)"
    ),
)
