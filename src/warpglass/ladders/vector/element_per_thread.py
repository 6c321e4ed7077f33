"""One element a thread: thread number i of the grid adds element i, if there is one.

The loop of the host's version is gone: the grid is the loop. Blocks come in whole numbers, so a grid that
covers n elements has up to block - 1 threads too many, and a guard keeps them idle: 100 elements in blocks of
32 take 4 blocks, 128 threads, 28 of them idle.

Look at coalescing: neighbouring threads touch neighbouring elements, so loads and stores move no byte that
nobody wants.
"""

from typing import Any

from warpglass.ladders.rung import Claim, Rung, cuda


def element_per_thread(x: Any, y: Any, z: Any, n: Any) -> None:
    """Add one element."""
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < n:
        z[i] = x[i] + y[i]


RUNG = Rung(
    table="vector",
    claims=(
        Claim("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "==", 100.0),
        Claim("smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", "==", 100.0),
    ),
)
