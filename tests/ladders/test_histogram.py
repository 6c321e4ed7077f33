"""The histogram ladder: every rung at awkward sizes, types, block sizes and inputs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from warpglass.engine.launch.backend import Backend
from warpglass.ladders.histogram.ladder import LADDER
from warpglass.ladders.histogram.problem import PROBLEM, count_on_host
from warpglass.ladders.rung import Rung
from warpglass.ladders.trial import Language

from .judging import FULL, PLACES, judge, kernels, open_place

SIZES = (0, 1, 31, 33, 1000, 32 * 16 * 3 + 5)
RUNGS = [(rung, language) for rung in kernels(LADDER) for language in rung.languages]
SOME_PAIRS = ((64, "uint32"), (256, "uint16"), (1024, "int32"))


def names(value: object) -> str:
    return value.name if isinstance(value, Rung) else str(value)


@pytest.fixture(params=PLACES)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each place where kernels run."""
    return open_place(request.param)


@pytest.mark.parametrize(("rung", "language"), RUNGS, ids=names)
def test_awkward_sizes(backend: Backend, rung: Rung, language: Language) -> None:
    for size in SIZES:
        verdict = judge(LADDER, rung.name, backend, language, size, block=32)
        assert verdict.verified, f"{size} keys: {verdict}"


@pytest.mark.parametrize(
    ("block", "dtype"), tuple(product(PROBLEM.blocks, PROBLEM.dtypes)) if FULL else SOME_PAIRS
)
@pytest.mark.parametrize("rung", kernels(LADDER), ids=names)
def test_types_and_blocks(backend: Backend, rung: Rung, block: int, dtype: str) -> None:
    for language in rung.languages if FULL else rung.languages[-1:]:
        verdict = judge(LADDER, rung.name, backend, language, 33 * block + 3, dtype, block, "outside")
        assert verdict.verified, f"{language}: {verdict}"


@pytest.mark.parametrize(("rung", "language"), RUNGS, ids=names)
def test_inputs(backend: Backend, rung: Rung, language: Language) -> None:
    for data in PROBLEM.data:
        verdict = judge(LADDER, rung.name, backend, language, 3001, "int32", 64, data)
        assert verdict.verified, f"{data}: {verdict}"


def test_the_reference_counts_what_is_inside() -> None:
    x = np.array([-1, 0, 3, 3, 4, 2**31 - 1, -(2**31)], np.int32)
    assert count_on_host(x, 4).tolist() == [1, 0, 0, 2]
    assert count_on_host(np.array([255, 0, 255], np.uint8), 300)[255] == 2
