"""How many elements of A and B the threads read from global memory, as the notes count them."""

from __future__ import annotations

from ..access_counts import AccessCounts, Erratum, Formula, by_bytes, by_lanes


def naive_reads(n: int) -> int:
    """Each of n^2 threads reads a row of A and a column of B: 2 n^3 elements."""
    return 2 * n**3


def tiled_reads(n: int, tile: int) -> int:
    """Every row of tiles reads all of B, and every column of tiles all of A: 2 n^3 / tile for whole tiles."""
    return 2 * n * n * -(-n // tile)


def share_left(tile: int) -> float:
    """The share of the naive reads that tiles leave: 1/16 for 16 x 16, where the notes print 1/6."""
    return 1 / tile


def _tiled(tile: int) -> Formula:
    return Formula(f"2 n^2 ceil(n / {tile})", lambda n, block: tiled_reads(n, tile), by_bytes)


COUNTS = AccessCounts(
    "bytes that loads ask for, in elements; of naive, whose lanes share elements, loads x 32 lanes",
    {
        "naive": Formula("2 n^3", lambda n, block: naive_reads(n), by_lanes),
        "tiled_16": _tiled(16),
        "tiled_32": _tiled(32),
        "register_tile": _tiled(64),
        "vector_loads": _tiled(64),
        "wide_tile": _tiled(128),
    },
    (Erratum("accesses that 16 x 16 tiles leave", "1/6", "1/16"),),
)
