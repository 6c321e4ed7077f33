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

import numpy as np

from warpglass.ladders.problem import Case
from warpglass.ladders.run import HostRun
from warpglass.ladders.rung import Claim, LaunchShape, Rung, RungKernel

PER_THREAD = 7  # as in the .cu file


def shape(case: Case, block: int) -> LaunchShape:
    """A block for every tile, at least one."""
    tile = PER_THREAD * block
    return LaunchShape(max(1, -(-case.size // tile)), block, tile * case.dtype.itemsize)


def program(run: HostRun) -> None:
    """Scan, then forget the states, which are zeros at the start of every run."""
    tiles = shape(run.case, run.block)
    count = tiles.grid3[0]
    states, ticket = run.scratch("states", count, np.uint32), run.scratch("ticket", 1, np.uint32)
    totals, prefixes = (run.scratch(name, count, run.case.dtype) for name in ("totals", "prefixes"))
    run.launch("single_pass", tiles, "x", "y", totals, prefixes, states, ticket, "n")
    run.launch("forget", LaunchShape(-(-count // run.block), run.block), states, ticket, np.uint32(count))


def depth(case: Case, block: int) -> int:
    """Seven in the thread, 10 in the block, 4 to join; a look-back over m tiles adds at most m + 2 times."""
    return PER_THREAD + 10 + 4 + 3 * shape(case, block).grid3[0]


RUNG = Rung(
    follows="warp_shuffle",
    kernels=(
        RungKernel(),
        RungKernel("forget", file=Path(__file__).with_name("forget.cu"), cuda="forget"),
    ),
    program=program,
    shape=shape,
    depth=depth,
    claims=(Claim("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "==", 0.0),),
)
