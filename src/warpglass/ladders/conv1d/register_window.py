"""Sixteen bytes of results a thread, from a window in registers: no tile, no barrier, no comparison.

A thread makes four neighbouring floats (two doubles). The elements that they need lie side by side: three
chunks of 16 bytes for nine weights, one load each, and lanes' chunks follow one another, so that every load
is in order. A word in a register is used for up to four results; what neighbours load again is in the L1. The
width of the mask is a compile-time constant, so that the loops unroll and the window needs no addresses;
blocks that touch an end of the array take another path, with comparisons. Chunks begin where x has 16-byte
boundaries, whatever address it has.

Counted first: 8 bytes an element and 18 operations. At the 4.1 TB/s that an H200 copies these are 9 TFLOP/s
of its 67, so memory is all there is to wait for. On an H200, 2^27 floats: 264 us with nine weights, where
cudaMemcpy from device to device takes 261 and PyTorch 1569. 31 weights take 388 us: wider masks wait for the
L1. The window of 31 doubles is 17 chunks for two results, and takes 2.6 times as long as a copy (see
async_tile).
"""

from pathlib import Path
from typing import Any

import numpy as np

from warpglass.ladders.conv1d.problem import WIDTH
from warpglass.ladders.plan import Plan, Step
from warpglass.ladders.problem import C_NAMES
from warpglass.ladders.rung import Claim, Rung

BYTES = 2 * 16  # of results a thread, as in the .cu file


def plan(n: int, width: int, dtype: np.dtype[Any], block: int = 128) -> Plan:
    """`mask`, of so many weights, over the n elements of `x` into `y`; weight width // 2 meets the element.

    Any width from 1 on, even ones too.
    """
    unaligned = 16 // dtype.itemsize - 1  # results before the array, if x has such an address
    return Plan(
        steps=(
            Step(
                f"register_window<{C_NAMES[dtype.name]}, {width}>",
                Path(__file__).with_suffix(".cu"),
                grid=max(1, -(-(n + unaligned) * dtype.itemsize // (BYTES * block))),
                block=block,
                shared=0,
                arguments=("x", "mask", "y", np.int64(n)),
            ),
        )
    )


RUNG = Rung(
    follows="tiled_l2",
    plan=lambda case, block: plan(case.size, WIDTH, case.dtype, block),
    claims=(
        Claim("smsp__inst_executed.sum", "<", "tiled"),
        Claim("global_load_requests", "<", "constant"),
    ),
)
