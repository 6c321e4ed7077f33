"""Words that hold several elements, no padding, and stores that begin where sectors do.

A tile is 64 x 64 elements of 8 or 4 bytes, 128 x 128 of 2 or 1. Every lane moves whole words: of small
elements it takes a square, two words of two or four of four, which __byte_perm turns around in registers. All
words of a thread are under way at once, before any goes to shared memory. Words of a column would lie in one
bank; the lanes permute them: word g of row c is kept at g ^ c, an exclusive or in place of padding.

Rows of a matrix with an odd number of columns begin anywhere, and where two blocks store parts of one sector
the L2 has to join them. So a block stores each row of b from its last 32-byte boundary before the tile on,
for which it loads a few rows above its tile again; words of small elements are joined from two. Blocks that
follow one another go down the columns of a, so that their neighbours' rows are still in the L2.

Counted first: 2 bytes a byte, nothing to compute; a copy is the limit. Requests are as wide as a copy's, so
what is left to lose are parts of sectors. On an H200, of the speed of cudaMemcpy from device to device (4.1
TB/s): 0.95 to 0.97 for 8192 x 11264 floats and for doubles (186 to 189 us; PyTorch 712), 0.92 to 0.96 for 2
bytes, 0.90 to 0.94 for bytes (197 to 205 us; PyTorch 2437); with 8191 x 11263 floats and as many doubles
0.92. Odd matrices of small elements are left at 0.68: every word of theirs is loaded as two, and a row of 128
bytes lies in five sectors.
"""

from pathlib import Path
from typing import Any

import numpy as np

from warpglass.ladders.inputs import columns_of
from warpglass.ladders.plan import Plan, Step
from warpglass.ladders.problem import C_NAMES
from warpglass.ladders.rung import Claim, Rung

# As in the .cu file, by bytes of an element.
SIDES = {1: 128, 2: 128, 4: 64, 8: 64}
THREADS = {1: 512, 2: 256, 4: 512, 8: 512}
SECTOR = 32  # bytes


def plan(rows: int, columns: int, dtype: np.dtype[Any]) -> Plan:
    """The transpose of `a`, rows x columns elements of 1, 2, 4 or 8 bytes, into `b`."""
    side = SIDES[dtype.itemsize]
    down = (rows + SECTOR // dtype.itemsize - 2) // side + 1
    return Plan(
        steps=(
            Step(
                f"word_tile<{C_NAMES[dtype.name]}>",
                Path(__file__).with_suffix(".cu"),
                grid=max(1, down * -(-columns // side)),
                block=THREADS[dtype.itemsize],
                shared=0,
                arguments=("a", "b", np.int64(rows), np.int64(columns)),
            ),
        )
    )


RUNG = Rung(
    follows="padded_tile",
    plan=lambda case, block: plan(case.size, columns_of(case.size), case.dtype),
    claims=(
        Claim("shared_bank_conflicts", "==", 0.0),
        Claim("gst_transactions", "<", "padded_tile"),
    ),
)
