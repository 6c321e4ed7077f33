"""Sums of five rows roll through registers: a row of the picture is loaded once for all rows that it belongs
to.

A thread makes two columns of eight rows. It goes down the picture; of each row it loads the six elements
around its columns and adds them, with the weights of five rows of the mask, to the sums of the five rows of
results that are under way. Then the oldest is complete. Loops unroll, since the size of the mask and the
number of rows are compile-time constants: sums and weights stay in registers. There is no tile and no
barrier, and no address must be even: a picture of odd width takes as long. Sums have the order of basic's, so
results are the same bit for bit.

Counted first: 50 operations an element for 8 bytes, 26 TFLOP/s at the speed of a copy, of an H200's 67. For
two results a row costs six loads of a word from the L1, and 12 rows are loaded for eight: 4.5 loads a result,
where basic has 25 and as many comparisons. On an H200, 8192 x 11264 floats: 253 us, 1.4 times as long as
cudaMemcpy at its best (180), 41 times as fast as PyTorch (cuDNN, 10.5 ms) and 6.6 times as fast as
cupyx.scipy.ndimage.correlate (1681 us); 8191 x 11263 takes 254 us. What is left is the L1's time: lanes'
words lie two apart. One column a thread takes 284 us, four 363.
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
    rows: int = 8,
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
