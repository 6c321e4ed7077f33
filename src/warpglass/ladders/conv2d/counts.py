"""How many elements of the picture the threads read from global memory, as the notes count them."""

from __future__ import annotations

from collections.abc import Callable

from ..access_counts import LANES, AccessCounts, Formula, Metrics, beside_a_mask, by_bytes
from ..inputs import columns_of

RADIUS = 2  # of the ladder's mask of 5 x 5 weights


def _neighbours(n: int, radius: int) -> int:
    """Pairs of positions in a row of n elements that lie at most `radius` apart, both ways; n >= radius."""
    return n * (2 * radius + 1) - radius * (radius + 1)


def basic_reads(rows: int, columns: int, radius: int) -> int:
    """Every thread reads a square of (2 r + 1)^2 elements, but for the ghosts beyond the picture."""
    return _neighbours(rows, radius) * _neighbours(columns, radius)


def _loaded(n: int, tile: int, radius: int) -> int:
    """Elements of a row that the tiles along it load, halo included, ghosts not."""
    starts = range(0, n, tile)
    return sum(min(n, start + tile + radius) - max(0, start - radius) for start in starts)


def tiled_reads(rows: int, columns: int, tile: int, radius: int) -> int:
    """Every block reads its tile with the halo around it: (tile + 2 r)^2 elements away from the borders."""
    return _loaded(rows, tile, radius) * _loaded(columns, tile, radius)


def ratio(tile: int, radius: int) -> float:
    """Reads of the basic version over those with tiles, for a block away from the borders.

    As the notes have it: it grows with the tile towards (2 r + 1)^2.
    """
    width = 2 * radius + 1
    return (width * tile) ** 2 / (tile + width - 1) ** 2


def mask_reads(rows: int, columns: int, tile: int, radius: int) -> int:
    """Words of the mask that tiled versions read: all weights for each warp with elements to compute."""
    side = tile + 2 * radius
    warps = 0
    for down in range(0, rows, tile):
        for across in range(0, columns, tile):
            height, width = min(tile, rows - down), min(tile, columns - across)
            warps += len({(y * side + x) // LANES for y in range(height) for x in range(width)})
    return warps * (2 * radius + 1) ** 2


def _without_mask(tile: int) -> Callable[[Metrics, int, int], float]:
    def counted(metrics: Metrics, itemsize: int, rows: int) -> float:
        return by_bytes(metrics, itemsize, rows) - mask_reads(rows, columns_of(rows), tile, RADIUS)

    return counted


def _tiled(tile: int, text: str) -> Formula:
    def value(rows: int, block: int) -> int:
        return tiled_reads(rows, columns_of(rows), tile, RADIUS)

    return Formula(text, value, _without_mask(tile))


COUNTS = AccessCounts(
    "bytes that loads ask for, in elements, those of the mask left out",
    {
        "basic": Formula(
            "25 an element, fewer at the borders",
            lambda rows, block: basic_reads(rows, columns_of(rows), RADIUS),
            beside_a_mask,
        ),
        "tiled": _tiled(16, "(16 + 4)^2 a tile, fewer at the borders"),
        "tiled_28": _tiled(28, "(28 + 4)^2 a tile, fewer at the borders"),
    },
)
