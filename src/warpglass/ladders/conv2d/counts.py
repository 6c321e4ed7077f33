"""How many elements of the picture the threads read from global memory, as the notes count them."""

from __future__ import annotations


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
