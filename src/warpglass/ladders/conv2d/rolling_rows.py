"""Sums of five rows roll through registers: a row of the picture is loaded once for all rows that it belongs
to.

A thread makes two columns of twelve rows. It goes down the picture; of each row it loads the six elements
around its columns and adds them, with the weights of five rows of the mask, to the sums of the five rows of
results that are under way. Then the oldest is complete. Loops unroll, since the size of the mask and the
number of rows are compile-time constants: sums and weights stay in registers. There is no tile and no
barrier. Where rows begin at addresses of pairs, the six elements are three loads. Only warps at the edge
compare. Sums have the order of basic's, so results are the same bit for bit.

Counted first: 50 operations an element for 8 bytes, 26 TFLOP/s at the speed of a copy, of an H200's 67. For
two results a row costs three loads of 8 bytes from the L1, and 16 rows are loaded for twelve: two loads a
result, where basic has 25 and as many comparisons. Single words cost the L1 as much as pairs, since lanes'
words lie two apart: pairs halve its time.

On an H200, 4096 x 5632 floats: 54.7 us, where a copy takes 46 and PyTorch (cuDNN) 2.6 ms; with single words
66, with eight rows 61. 2048 x 2816: 20.0 us, a launch and the first loads included; 21.9 before. Pictures of
odd width, which have no pairs, take 66 us. Four columns a thread are as fast in pairs of pairs and slower
without; one column takes 284 us of 8192 x 11264 elements where two took 253.
"""

from pathlib import Path
from typing import Any

import numpy as np

from warpglass.ladders.conv2d.problem import WIDTH
from warpglass.ladders.inputs import columns_of
from warpglass.ladders.plan import Plan, Step
from warpglass.ladders.problem import C_NAMES
from warpglass.ladders.rung import Claim, Rung

MOST_THREADS = 256  # more would want more registers than there are


def plan(
    shape: tuple[int, int],
    mask: tuple[int, int],
    dtype: np.dtype[Any],
    block: int = 128,
    columns: int = 2,
    rows: int = 12,
) -> Plan:
    """`mask` over the picture `n` into `p`, both of that shape; elements beyond the picture count as 0.

    Weight (height // 2, width // 2) of the mask meets the element; it has any size from 1 x 1 on, as many
    weights as a thread has registers. A thread makes `columns` elements in each of `rows` rows.
    """
    (down, across), (height, width) = shape, mask
    return Plan(
        steps=(
            Step(
                f"rolling_rows<{C_NAMES[dtype.name]}, {height}, {width}, {columns}, {rows}>",
                Path(__file__).with_suffix(".cu"),
                grid=max(1, -(-across // (block * columns)) * -(-down // rows)),
                block=block,
                shared=0,
                arguments=("p", "n", np.int64(down), np.int64(across), "mask"),
            ),
        )
    )


RUNG = Rung(
    follows="tiled_28",
    plan=lambda case, block: plan(
        (case.size, columns_of(case.size)), (WIDTH, WIDTH), case.dtype, min(block, MOST_THREADS)
    ),
    claims=(
        Claim("smsp__inst_executed.sum", "<", "tiled_28"),
        Claim("global_load_requests", "<", "basic"),
    ),
)
