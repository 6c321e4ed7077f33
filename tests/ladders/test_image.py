"""The image ladder: every rung at awkward sizes, the notes' picture, and the references."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from warpglass.engine.launch.backend import Backend
from warpglass.errors import CompileError
from warpglass.ladders.image.grey import grey
from warpglass.ladders.image.ladder import LADDER
from warpglass.ladders.image.problem import PROBLEM, blurred, grey_of, one_thread_each, rows_of
from warpglass.ladders.rung import Rung
from warpglass.ladders.trial import Language
from warpglass.source import from_numba

from .judging import FULL, LANGUAGES, PLACES, judge, kernels, open_place

# One pixel, fewer rows than a neighbourhood, odd numbers, the notes' picture.
SIZES = (1, 9, 37, 76)
SOME: tuple[tuple[int, Language], ...] = ((64, "cuda"), (256, "python"), (1024, "cuda"))
ALL = tuple(product(PROBLEM.blocks, LANGUAGES))


@pytest.fixture(params=PLACES)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each place where kernels run."""
    return open_place(request.param)


@pytest.mark.parametrize(("block", "language"), ALL if FULL else SOME)
@pytest.mark.parametrize("rung", kernels(LADDER), ids=lambda rung: rung.name)
def test_awkward_sizes(backend: Backend, rung: Rung, block: int, language: Language) -> None:
    for size, data in zip(SIZES, (*PROBLEM.data, PROBLEM.data[0]), strict=True):
        if language in rung.languages:
            verdict = judge(LADDER, rung.name, backend, language, size, None, block, data)
            assert verdict.verified, f"{size} x {rows_of(size)}, {data}: {verdict}"


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
