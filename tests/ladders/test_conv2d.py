"""The 2-D convolution ladder: the notes' counts beside their definitions, and the reference."""

from __future__ import annotations

import numpy as np

from warpglass.ladders.conv2d import counts
from warpglass.ladders.conv2d.problem import RADIUS, WEIGHTS, convolve


def test_the_ratio_is_that_of_a_tile_away_from_the_borders() -> None:
    for tile in (16, 28):
        basic = np.zeros((5 * tile, 5 * tile), int)
        basic[2 * tile : 3 * tile, 2 * tile : 3 * tile] = 25
        loaded = np.zeros_like(basic)
        loaded[2 * tile - RADIUS : 3 * tile + RADIUS, 2 * tile - RADIUS : 3 * tile + RADIUS] = 1
        assert counts.ratio(tile, RADIUS) == basic.sum() / loaded.sum()
    assert counts.ratio(16, RADIUS) == 16


def test_the_reference_is_the_definition() -> None:
    picture = np.random.default_rng(1).integers(0, 9, (7, 9))
    result = convolve(picture, WEIGHTS)
    for i, j in np.ndindex(picture.shape):
        terms = [
            picture[i + u - 2, j + v - 2] * WEIGHTS[u, v]
            for u, v in np.ndindex(5, 5)
            if 0 <= i + u - 2 < 7 and 0 <= j + v - 2 < 9
        ]
        assert result[i, j] == sum(terms)
