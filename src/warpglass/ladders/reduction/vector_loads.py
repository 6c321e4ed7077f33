"""Sixteen bytes a load: the walk over the array in steps of two doubles or four floats a thread.

A load instruction asks for 4, 8 or 16 bytes a lane. Sixteen are the most, and then a warp's one instruction
asks for 512 bytes: four whole lines of the cache. The bytes are the same, the instructions and requests that
fetch them are half (doubles) or a quarter (floats). What does not fill sixteen bytes at the end of the array
is added one by one. C++ has types of that size and alignment; numba's Python has none: this rung is C++ only.

Look at the instructions and at the requests, not at the sectors: those cannot shrink any more.
"""

from warpglass.ladders.reduction.rung import reduction_rung
from warpglass.ladders.rung import Claim

RUNG = reduction_rung(
    follows="warp_shuffle",
    table="beyond",
    most_threads=2**18,
    claims=(
        Claim("smsp__inst_executed.sum", "<", "warp_shuffle"),
        Claim("smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "==", 100.0),
    ),
)
