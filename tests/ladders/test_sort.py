"""The sort ladder: every rung at awkward sizes, types, block sizes and inputs."""

from __future__ import annotations

from itertools import product

import pytest

from warpglass.engine.launch.backend import Backend
from warpglass.ladders.rung import Rung
from warpglass.ladders.sort.ladder import LADDER
from warpglass.ladders.sort.problem import PROBLEM
from warpglass.ladders.trial import Language

from .judging import FULL, LANGUAGES, PLACES, judge, kernels, open_place

# Around a span of 64 keys and two of them; odd and even numbers of merges, a run that has no partner.
SIZES = (0, 1, 2, 3, 31, 63, 64, 65, 127, 129, 200, 64 * 5 + 7)
SOME_PAIRS = ((64, "int32"), (512, "uint32"), (1024, "float64"))


def names(value: object) -> str:
    return value.name if isinstance(value, Rung) else str(value)


@pytest.fixture(params=PLACES)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each place where kernels run."""
    return open_place(request.param)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("rung", kernels(LADDER), ids=names)
def test_awkward_sizes(backend: Backend, rung: Rung, language: Language) -> None:
    for size in SIZES:
        verdict = judge(LADDER, rung.name, backend, language, size, "float32", 32)
        assert verdict.verified, f"{size} keys: {verdict}"


@pytest.mark.parametrize(
    ("block", "dtype"), tuple(product(PROBLEM.blocks, PROBLEM.dtypes)) if FULL else SOME_PAIRS
)
@pytest.mark.parametrize("rung", kernels(LADDER), ids=names)
def test_types_and_blocks(backend: Backend, rung: Rung, block: int, dtype: str) -> None:
    for language in LANGUAGES if FULL else ("python",):
        verdict = judge(LADDER, rung.name, backend, language, 6 * block + 3, dtype, block)
        assert verdict.verified, f"{language}: {verdict}"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("rung", kernels(LADDER), ids=names)
def test_inputs(backend: Backend, rung: Rung, language: Language) -> None:
    for data in PROBLEM.data:
        verdict = judge(LADDER, rung.name, backend, language, 300, "float32", 32, data)
        assert verdict.verified, f"{data}: {verdict}"
