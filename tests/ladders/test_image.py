"""The image ladder: the notes' picture, and the references."""

from __future__ import annotations

import numpy as np
import pytest

from warpglass.errors import CompileError
from warpglass.ladders.image import blur_tile, grey_dot
from warpglass.ladders.image.grey import grey
from warpglass.ladders.image.problem import PROBLEM, blurred, grey_of, one_thread_each
from warpglass.source import from_numba

from .following import Array, apart, follow

pytestmark = pytest.mark.turns(2)


def test_the_picture_of_the_notes_takes_twenty_blocks() -> None:
    case = PROBLEM.case("grey", 76, None, None, 0)
    shape = one_thread_each(case, 256)
    assert case.arrays["rgb"].shape == (62, 76, 3)
    assert (shape.grid3, shape.block3) == ((5, 4, 1), (16, 16, 1))


def test_python_refuses_the_arguments_in_the_wrong_order() -> None:
    picture, result = np.zeros((4, 4, 3), np.uint8), np.zeros((4, 4), np.uint8)
    with pytest.raises(CompileError):
        from_numba(grey).compile((picture, result, np.int32(4), np.int32(4)))


def test_grey_may_be_off_by_one_only_beside_a_whole_number() -> None:
    colours = np.array([[[0, 0, 0], [255, 255, 255], [100, 0, 0], [1, 1, 1]]], np.uint8)
    found = grey_of(colours)
    assert found.value.tolist() == [[0, 252, 21, 0]]  # 252.45, 21 and 0.99
    assert np.asarray(found.bound).tolist() == [[0, 0, 1, 0]]


def test_blurred_is_the_mean_of_what_there_is() -> None:
    picture = np.random.default_rng(1).integers(0, 256, (8, 13, 3), np.uint8)
    result = blurred(picture)
    for row, column in np.ndindex(8, 13):
        near = picture[max(0, row - 5) : row + 6, max(0, column - 5) : column + 6].reshape(-1, 3)
        assert result[row, column].tolist() == (near.sum(axis=0, dtype=int) // len(near)).tolist()


def test_grey_by_whole_numbers_is_exact() -> None:
    """Nearly all sums that there are; at odd addresses, too."""
    levels = np.stack(np.meshgrid(*[np.arange(0, 256, 3)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    hundredfold = levels @ [21, 71, 7]
    _, chosen = np.unique(hundredfold, return_index=True)
    colours = levels[chosen].astype(np.uint8)
    for before in (0, 1):
        rgb, out = apart(colours, before), apart(np.zeros(len(colours), np.uint8), before)
        follow(grey_dot.plan(len(colours)), rgb=rgb, out=out)
        assert np.array_equal(out, hundredfold[chosen] // 100)


def sum_around(values: Array, reach: int) -> Array:
    """Of (rows, columns, channels), sums over squares as far as there is something."""
    height, width, channels = values.shape
    padded = np.zeros((height + 2 * reach, width + 2 * reach, channels), int)
    padded[reach : reach + height, reach : reach + width] = values
    total = np.zeros(values.shape, int)
    for down, across in np.ndindex(2 * reach + 1, 2 * reach + 1):
        total += padded[down : down + height, across : across + width]
    return total


@pytest.mark.parametrize(("channels", "reach"), [(1, 1), (1, 7), (3, 5), (4, 2)])
def test_blurs_of_any_picture(channels: int, reach: int) -> None:
    """Broken tiles, tiles inside the picture, odd rows, the largest sums."""
    random = np.random.default_rng(1)
    for height, width, before in ((1, 1, 0), (3, 70, 1), (150, 401 // channels, 3)):
        picture = apart(random.integers(200, 256, (height, width, channels), np.uint8), before)
        picture[: height // 2] = 255
        out = apart(np.zeros_like(picture), 1)
        follow(blur_tile.plan(width, height, channels, reach), rgb=picture, out=out)
        pixels = sum_around(np.ones((height, width, 1)), reach)
        assert np.array_equal(out, sum_around(picture, reach) // pixels), (height, width)
