"""Tiles that are fetched while those before them are computed, and twelve floats a thread: for wide masks.

The wider the mask, the more of a window is loaded again by neighbours, and the more registers it takes, so
that fewer warps are there to wait for memory. Here a thread takes three chunks of 16 bytes of a tile in
shared memory, one by one, and adds each element to all results that it belongs to. A chunk of three lies in
other banks for each of eight lanes, since three is odd: no padding. cp.async brings tiles without registers,
one ahead of the one that is computed; it fills with zeros what lies beyond the array. Results change places
within their warp, in shared memory, so that stores are in order.

Counted first: 31 weights are 62 operations for 8 bytes, 32 TFLOP/s at the speed of a copy, half of what an
H200 has: still memory's time, if shared memory keeps up (11 wavefronts for 96 results; straight from the L1
there were 36 for 128, and 68 for 64 with doubles). On an H200: 276 us for 2^27 floats with 31 weights, 1.06
times as long as a copy, 1.4 times as fast as register_window and 9.8 times as fast as PyTorch; 273 us for
2^26 doubles, 1.06 times as long as a copy, 2.5 times as fast as register_window. Integers, which multiply at
half the rate, take 1.2 times as long as a copy. With nine floats it is 1.1 times as slow as register_window,
which has neither barriers nor results to exchange: fastest.py takes this one where weights are more than 48
bytes.
"""

from pathlib import Path
from typing import Any

import numpy as np

from warpglass.ladders.conv1d.problem import WIDTH
from warpglass.ladders.plan import Plan, Step
from warpglass.ladders.problem import C_NAMES
from warpglass.ladders.rung import Claim, Rung

CHUNKS, STAGES = 3, 2  # as in the .cu file
MOST_THREADS = 128  # more would take more shared memory than every launch may have


def plan(n: int, width: int, dtype: np.dtype[Any], block: int = MOST_THREADS, tiles: int = 4) -> Plan:
    """`mask`, of so many weights, over the n elements of `x` into `y`, in `tiles` tiles a block.

    Weight width // 2 meets the element. Any width from 1 on, even ones too.
    """
    count = 16 // dtype.itemsize
    halo = -(-(width // 2) // count)
    chunks = STAGES * (block * CHUNKS + 2 * halo) + block * CHUNKS
    return Plan(
        steps=(
            Step(
                f"async_tile<{C_NAMES[dtype.name]}, {width}, {block}>",
                Path(__file__).with_suffix(".cu"),
                grid=max(1, -(-(n + count - 1) // (block * CHUNKS * count * tiles))),
                block=block,
                shared=16 * chunks,
                arguments=("x", "mask", "y", np.int64(n), np.int32(tiles)),
            ),
        )
    )


RUNG = Rung(
    follows="register_window",
    plan=lambda case, block: plan(case.size, WIDTH, case.dtype, min(block, MOST_THREADS)),
    claims=(Claim("shared_bank_conflicts", "==", 0.0),),
)
