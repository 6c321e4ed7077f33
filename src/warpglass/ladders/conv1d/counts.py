"""How many elements of x the threads read from global memory, as the notes count them, and where they err.

With a mask of 2 r + 1 weights, elements at both ends of the array have neighbours that do not exist: ghost
cells, which are taken as 0 and not read. The leftmost ghost is wanted by one thread, the one next to the
array by r threads: r (r + 1) / 2 reads are avoided at each end, r (r + 1) in the array. The notes print r (r
+ 1) for a block at an end, which is twice too much, and forget parentheses: (block * 2 r + 1) for block * (2
r + 1).
"""

from __future__ import annotations

from ..access_counts import AccessCounts, Erratum, Formula, beside_a_mask, by_bytes

RADIUS = 4  # of the ladder's mask of nine weights


def basic_reads(n: int, radius: int) -> int:
    """Every thread reads 2 r + 1 elements, but for the ghosts; arrays of at least r elements."""
    return n * (2 * radius + 1) - radius * (radius + 1)


def edge_block_reads(block: int, radius: int) -> int:
    """Those of the first or the last block, if there are others."""
    return block * (2 * radius + 1) - radius * (radius + 1) // 2


def tiled_reads(n: int, radius: int, block: int) -> int:
    """Every element once, and r halo cells on each side of a border between two blocks.

    That is block + 2 r for a block between others, and block + r at an end, as the notes have it.
    """
    return n + 2 * radius * (-(-n // block) - 1)


def tiled_l2_reads(n: int, radius: int, block: int) -> int:
    """Every element once, and r (r + 1) at each border, where threads need the other block's elements."""
    return n + radius * (radius + 1) * (-(-n // block) - 1)


def inner_ratio(block: int, radius: int) -> float:
    """Reads of the basic version over those with tiles, for a block between others; the notes agree."""
    return block * (2 * radius + 1) / (block + 2 * radius)


def edge_ratio(block: int, radius: int) -> float:
    """The same at an end, where the notes print 2 r + 1: no ghosts, no halo that is loaded."""
    return edge_block_reads(block, radius) / (block + radius)


COUNTS = AccessCounts(
    "bytes that loads ask for, in elements, those of the mask left out",
    {
        "basic": Formula("n (2 r + 1) - r (r + 1)", lambda n, block: basic_reads(n, RADIUS), beside_a_mask),
        "constant": Formula("n (2 r + 1) - r (r + 1)", lambda n, block: basic_reads(n, RADIUS), by_bytes),
        "tiled": Formula("n + 2 r (blocks - 1)", lambda n, block: tiled_reads(n, RADIUS, block), by_bytes),
        "tiled_l2": Formula(
            "n + r (r + 1) (blocks - 1)", lambda n, block: tiled_l2_reads(n, RADIUS, block), by_bytes
        ),
    },
    (
        Erratum("accesses that ghosts spare a block at an end", "r (r + 1)", "r (r + 1) / 2"),
        Erratum("accesses of a block, ghosts included", "block * 2 r + 1", "block * (2 r + 1)"),
        Erratum(
            "the gain by tiles for a block at an end",
            "2 r + 1",
            "(block (2 r + 1) - r (r + 1) / 2) / (block + r)",
        ),
    ),
)
