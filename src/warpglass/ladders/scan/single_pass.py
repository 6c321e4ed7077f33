"""A single pass: tiles pass their sums on while others still load, so every element is read and written once.

This is the decoupled look-back of Merrill and Garland (Single-pass parallel prefix scan with decoupled
look-back, 2016). A block scans a tile and makes its total known. Then one warp looks back over the tiles
before it, 32 at a time: those that know the sum of everything up to them end the search, of others the
totals are added. The result makes this tile's own sum known in turn. A state per tile says what others may
read; a fence stands between value and state on both sides. Tiles are numbered as blocks start, so that a
block only waits for blocks that run already. (C++ only: numba-cuda-mlir has no fence.)

Look at the launches and at the sectors: no kernel comes back to add offsets, which reads and writes the array
once more. A thread has seven elements, an odd number, so that neighbours meet in no bank. The engine lets
blocks with such atomics take turns: its time says little here.
"""

from pathlib import Path
from typing import Any

import numpy as np

from warpglass.ladders.plan import Plan, Scratch, Step
from warpglass.ladders.problem import C_NAMES, Case
from warpglass.ladders.rung import Claim, Rung

PER_THREAD = 7  # as in the .cu file


def plan(n: int, dtype: np.dtype[Any], block: int = 256) -> Plan:
    """Scan the n elements of `x` into `y`, then forget the states, which are zeros before every run."""
    tile, count = PER_THREAD * block, tiles(n, block)
    return Plan(
        steps=(
            Step(
                f"single_pass<{C_NAMES[dtype.name]}>",
                Path(__file__).with_suffix(".cu"),
                grid=count,
                block=block,
                shared=tile * dtype.itemsize,
                arguments=("x", "y", "totals", "prefixes", "states", "ticket", np.uint32(n)),
            ),
            Step(
                "forget",
                Path(__file__).with_name("forget.cu"),
                grid=-(-count // block),
                block=block,
                shared=0,
                arguments=("states", "ticket", np.uint32(count)),
            ),
        ),
        scratch=(
            Scratch("totals", dtype, count),
            Scratch("prefixes", dtype, count),
            Scratch("states", np.dtype(np.uint32), count, zeroed=True),
            Scratch("ticket", np.dtype(np.uint32), 1, zeroed=True),
        ),
    )


def tiles(n: int, block: int) -> int:
    """How many tiles n elements make, at least one; a block has each."""
    return max(1, -(-n // (PER_THREAD * block)))


def depth(case: Case, block: int) -> int:
    """Seven in the thread, 10 in the block, 4 to join; a look-back over m tiles adds at most m + 2 times."""
    return PER_THREAD + 10 + 4 + 3 * tiles(case.size, block)


RUNG = Rung(
    follows="warp_shuffle",
    plan=lambda case, block: plan(case.size, case.dtype, block),
    depth=depth,
    claims=(Claim("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "==", 0.0),),
)
