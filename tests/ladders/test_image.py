"""The image ladder: the notes' picture, and the references."""

from __future__ import annotations

import numpy as np
import pytest

from warpglass.errors import CompileError
from warpglass.ladders.image.grey import grey
from warpglass.ladders.image.problem import PROBLEM, blurred, grey_of, one_thread_each
from warpglass.source import from_numba


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
