"""Sixteen pixels a thread, and the weighted sum of each in one instruction: whole numbers, exact.

Of the time of grey_words most goes into taking bytes for floats and back: four conversions a pixel, of which
a multiprocessor makes 16 in a cycle. The weights are hundredths, so 21 red + 71 green + 7 blue is a whole
number of at most 25245, and dp4a multiplies and adds all four bytes of a word (the weight of the fourth is
0). Times ceil(2^24 / 100) it has the grey in its highest byte, with every fraction cut off as it should be:
the product is too large by less than 25245 / 2^24 = 0.0015, and the next whole number is at least 0.01 away.
__byte_perm gathers the highest bytes of four pixels. 48 bytes of a thread come as three loads of 16.

Counted first: 4 bytes and about 5 instructions a pixel. An H200 copies 4.2 TB/s, 4.5 pixels a cycle in each
of its multiprocessors, which issue 128 lanes' instructions: memory's time. On an H200, 16384 x 13365 pixels:
207 us, 4.2 TB/s, as long as cudaMemcpy of as many bytes (208 us).
"""

from pathlib import Path

import numpy as np

from warpglass.ladders.image.problem import rows_of
from warpglass.ladders.plan import Plan, Step
from warpglass.ladders.rung import Claim, Rung

PIXELS = 16  # of a thread, as in the .cu file


def plan(pixels: int, block: int = 256) -> Plan:
    """The grey of so many pixels of `rgb`, three bytes each, into `out`, one byte each."""
    return Plan(
        steps=(
            Step(
                "grey_dot",
                Path(__file__).with_suffix(".cu"),
                grid=max(1, -(-pixels // (PIXELS * block))),
                block=block,
                shared=0,
                arguments=("out", "rgb", np.int64(pixels)),
            ),
        )
    )


RUNG = Rung(
    table="grey",
    follows="grey_words",
    plan=lambda case, block: plan(case.size * rows_of(case.size), block),
    claims=(
        Claim("global_load_requests", "<", "grey_words"),
        Claim("smsp__inst_executed.sum", "<", "grey_words"),
    ),
)
