"""The 2-D convolution ladder: the notes' counts beside their definitions, and the reference."""

from __future__ import annotations

import numpy as np
import pytest

from warpglass.ladders.conv2d import counts, rolling_rows
from warpglass.ladders.conv2d.problem import RADIUS, WEIGHTS, convolve

from .following import apart, follow


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


@pytest.mark.parametrize("size", [(1, 1), (3, 5), (5, 5), (7, 1), (2, 4)])
def test_masks_of_any_size(size: tuple[int, int]) -> None:
    random = np.random.default_rng(1)
    mask = random.integers(-9, 9, size, np.int64)
    for shape in ((1, 1), (1, 700), (700, 1), (29, 523)):
        picture = apart(random.integers(-(2**63), 2**63, shape, np.int64), 1)
        result = np.zeros_like(picture)
        follow(rolling_rows.plan(shape, size, picture.dtype), n=picture, p=result, mask=mask)
        padded = np.zeros((shape[0] + 2 * size[0], shape[1] + 2 * size[1]), np.int64)
        padded[size[0] : -size[0], size[1] : -size[1]] = picture
        expected = np.zeros_like(picture)
        for (u, v), weight in np.ndenumerate(mask):
            down, across = size[0] + u - size[0] // 2, size[1] + v - size[1] // 2
            expected += padded[down : down + shape[0], across : across + shape[1]] * weight
        assert np.array_equal(result, expected), shape
