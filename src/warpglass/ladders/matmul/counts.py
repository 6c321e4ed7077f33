"""How many elements of A and B the threads read from global memory, as the notes count them."""

from __future__ import annotations

from ..access_counts import AccessCounts, Erratum, Formula, by_lanes


def naive_reads(n: int) -> int:
    """Each of n^2 threads reads a row of A and a column of B: 2 n^3 elements."""
    return 2 * n**3


def tiled_reads(n: int, tile: int) -> int:
    """Every row of tiles reads all of B, and every column of tiles all of A: 2 n^3 / tile for whole tiles."""
    return 2 * n * n * -(-n // tile)


def share_left(tile: int) -> float:
    """The share of the naive reads that tiles leave: 1/16 for 16 x 16, where the notes print 1/6."""
    return 1 / tile


COUNTS = AccessCounts(
    "load instructions x 32 lanes, those beyond the edge of the matrix included",
    {
        "naive": Formula("2 n^3", lambda n, block: naive_reads(n), by_lanes),
        "tiled_16": Formula("2 n^3 / 16", lambda n, block: tiled_reads(n, 16), by_lanes),
        "tiled_32": Formula("2 n^3 / 32", lambda n, block: tiled_reads(n, 32), by_lanes),
        "register_tile": Formula("2 n^3 / 64", lambda n, block: tiled_reads(n, 64), by_lanes),
    },
    (Erratum("accesses that 16 x 16 tiles leave", "1/6", "1/16"),),
)
