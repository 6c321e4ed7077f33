"""Both directions in one pass: bytes come once, sums along rows stay in shared memory, sums down columns
slide.

blur_separable writes two bytes for each and reads them eleven times. A block takes 128 bytes of 32 rows, with
five rows and five pixels more on every side, into shared memory, as the words that they lie in, however rows
are aligned. A thread adds up 16 bytes' neighbours along a row: eleven bytes by dp4a, four at a time, for the
first pixel, and for each next one a byte more and a byte less. Then every lane goes down four columns of
sums, two of 16 bits in a register: what comes in is added, what goes out is taken away. The mean is a
product, not a division: times ceil(2^24 / 121) it is the highest byte, exactly (as in grey_dot). Whole
numbers do not drift.

Words of a row that is not aligned are made of two lanes' bytes, so a picture of odd width is stored by words
too.

Counted first: 2 bytes a byte of the picture where blur_separable has 6 and more, and about 30 instructions,
which are the limit here: three times the time of a copy. On an H200, 9728 x 7936 pixels: 325 us, 2.8 times as
long as a copy, 21 times as fast as cupyx.scipy.ndimage.uniform_filter (7.0 ms); 2432 x 1984 pixels: 39 us, 15
times as fast on bytes and 11 times on floats.
"""

from pathlib import Path

import numpy as np

from warpglass.ladders.image.problem import REACH, rows_of
from warpglass.ladders.plan import Plan, Step
from warpglass.ladders.rung import Claim, Rung

ROWS, BYTES, THREADS = 64, 128, 256  # of a tile, as in the .cu file
WIDEST = 7  # larger sums do not fit into 16 bits


def plan(width: int, height: int, channels: int = 3, reach: int = REACH) -> Plan:
    """The mean of the pixels of `rgb` at most `reach` rows and columns away, as far as there are any, into
    `out`.

    A picture of height x width pixels of so many bytes; `reach` is at most WIDEST.
    """
    return Plan(
        steps=(
            Step(
                f"blur_tile<{channels}, {reach}>",
                Path(__file__).with_suffix(".cu"),
                grid=max(1, -(-channels * width // BYTES) * -(-height // ROWS)),
                block=THREADS,
                shared=0,
                arguments=("out", "rgb", np.int32(width), np.int32(height)),
            ),
        )
    )


RUNG = Rung(
    table="blur",
    follows="blur_separable",
    plan=lambda case, block: plan(case.size, rows_of(case.size)),
    claims=(
        Claim("global_load_requests", "<", "blur_separable"),
        Claim("smsp__inst_executed.sum", "<", "blur_separable"),
    ),
)
