"""The matrix-multiplication ladder: every rung at awkward sizes, the notes' counts beside the engine's."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from warpglass.engine.launch.backend import Backend
from warpglass.ladders.matmul.counts import naive_reads, share_left, tiled_reads
from warpglass.ladders.matmul.ladder import LADDER
from warpglass.ladders.matmul.problem import PROBLEM, wrapped_product
from warpglass.ladders.rung import Rung
from warpglass.ladders.trial import Language

from .judging import FULL, LANGUAGES, PLACES, judge, kernels, open_place

SIZES = (1, 17, 84)
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
    for size in SIZES:
        if language in rung.languages:
            verdict = judge(LADDER, rung.name, backend, language, size, dtype, block)
            assert verdict.verified, f"{size} x {size}: {verdict}"


@pytest.mark.parametrize("data", PROBLEM.data)
@pytest.mark.parametrize("rung", kernels(LADDER), ids=lambda rung: rung.name)
def test_inputs(backend: Backend, rung: Rung, data: str) -> None:
    for dtype in ("float64", "int64"):
        verdict = judge(LADDER, rung.name, backend, "cuda", 70, dtype, 256, data)
        assert verdict.verified, verdict


def test_a_tile_of_sixteen_leaves_a_sixteenth() -> None:
    assert tiled_reads(64, 16) / naive_reads(64) == share_left(16) == 1 / 16
    assert tiled_reads(65, 16) == 2 * 65 * 65 * 5  # a broken row of tiles reads all of B once more


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_the_reference_wraps_as_integers_do(dtype: str) -> None:
    case = PROBLEM.case("matmul", 37, dtype, "extreme", 1)
    a, b = case.arrays["a"], case.arrays["b"]
    assert np.array_equal(wrapped_product(a, b), a @ b)
