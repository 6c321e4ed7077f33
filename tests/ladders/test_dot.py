"""The dot-product ladder: every rung at awkward sizes, and its reference."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from warpglass.engine.launch.backend import Backend
from warpglass.ladders.dot.ladder import LADDER
from warpglass.ladders.dot.problem import MOST_BLOCKS, PROBLEM, exact_dot
from warpglass.ladders.rung import Rung
from warpglass.ladders.trial import Language

from .judging import FULL, LANGUAGES, PLACES, judge, kernels, open_place

# With more than 132 blocks of elements threads take several.
SIZES = (0, 1, 33, 255, MOST_BLOCKS * 64 + 1)
SOME: tuple[tuple[int, str, Language], ...] = (
    (32, "int64", "cuda"),
    (64, "float32", "python"),
    (256, "float64", "cuda"),
    (1024, "int32", "python"),
)
ALL = tuple(product(PROBLEM.blocks, PROBLEM.dtypes, LANGUAGES))


@pytest.fixture(params=PLACES)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each place where kernels run."""
    return open_place(request.param)


@pytest.mark.parametrize(
    ("block", "dtype", "language"),
    tuple(product(PROBLEM.blocks, PROBLEM.dtypes, LANGUAGES)) if FULL else SOME,
)
@pytest.mark.parametrize("rung", kernels(LADDER), ids=lambda rung: rung.name)
def test_awkward_sizes(backend: Backend, rung: Rung, block: int, dtype: str, language: Language) -> None:
    for size in SIZES:
        if language in rung.languages:
            verdict = judge(LADDER, rung.name, backend, language, size, dtype, block)
            assert verdict.verified, f"{size} elements: {verdict}"


@pytest.mark.parametrize("data", PROBLEM.data)
@pytest.mark.parametrize("rung", kernels(LADDER), ids=lambda rung: rung.name)
def test_inputs(backend: Backend, rung: Rung, data: str) -> None:
    for dtype, block in (("float64", 256), ("int64", 32)):
        verdict = judge(LADDER, rung.name, backend, "cuda", 10_007, dtype, block, data)
        assert verdict.verified, verdict


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_reference_is_exact(dtype: str) -> None:
    case = PROBLEM.case("dot", 501, dtype, "extreme", 1)
    x, y = case.arrays["x"], case.arrays["y"]
    true = sum(Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), y.tolist(), strict=True))
    assert exact_dot(x, y) == float(true)
