"""The 2-D convolution ladder: every rung at awkward sizes, and the notes' counts beside the engine's."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from warpglass.engine.launch.backend import Backend
from warpglass.ladders.conv2d import counts
from warpglass.ladders.conv2d.ladder import LADDER
from warpglass.ladders.conv2d.problem import PROBLEM, RADIUS, WEIGHTS, convolve
from warpglass.ladders.inputs import columns_of
from warpglass.ladders.rung import Rung
from warpglass.ladders.trial import Language

from .judging import FULL, LANGUAGES, PLACES, judge, kernels, open_place

# Smaller than the mask; one tile and a bit of the next.
SIZES = (1, 3, 17, 61)
SOME: tuple[tuple[int, str, Language], ...] = (
    (64, "int64", "cuda"),
    (256, "float32", "python"),
    (1024, "float64", "cuda"),
    (256, "int32", "python"),
)
ALL = tuple(product(PROBLEM.blocks, PROBLEM.dtypes, LANGUAGES))


@pytest.fixture(params=PLACES)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each place where kernels run."""
    return open_place(request.param)


@pytest.mark.parametrize(("block", "dtype", "language"), ALL if FULL else SOME)
@pytest.mark.parametrize("rung", kernels(LADDER), ids=lambda rung: rung.name)
def test_awkward_sizes(backend: Backend, rung: Rung, block: int, dtype: str, language: Language) -> None:
    for size, data in zip(SIZES, (*PROBLEM.data, PROBLEM.data[0]), strict=True):
        verdict = judge(LADDER, rung.name, backend, language, size, dtype, block, data)
        assert verdict.verified, f"{size} x {columns_of(size)}, {data}: {verdict}"


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
