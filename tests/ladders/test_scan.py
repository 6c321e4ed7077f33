"""The scan ladder: every rung at awkward sizes, types and inputs; the reference against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate, product

import numpy as np
import pytest

from warpglass.engine.launch.backend import Backend
from warpglass.ladders.rung import Rung
from warpglass.ladders.scan.ladder import LADDER
from warpglass.ladders.scan.problem import PROBLEM, exact_sums
from warpglass.ladders.trial import Language

from .judging import FULL, PLACES, judge, kernels, open_place

# Around a warp, a block of 32 and its spans; the last takes three levels of totals.
SIZES = (0, 1, 31, 33, 64, 65, 225, 32 * 32 + 1)
SOME_PAIRS = ((64, "int64"), (256, "float64"), (1024, "int32"))
RUNGS = [(rung, language) for rung in kernels(LADDER) for language in rung.languages]


def names(value: object) -> str:
    return value.name if isinstance(value, Rung) else str(value)


@pytest.fixture(params=PLACES)
def backend(request: pytest.FixtureRequest) -> Backend:
    """Each place where kernels run."""
    return open_place(request.param)


@pytest.mark.parametrize(("rung", "language"), RUNGS, ids=names)
def test_awkward_sizes(backend: Backend, rung: Rung, language: Language) -> None:
    for size in SIZES:
        verdict = judge(LADDER, rung.name, backend, language, size, "float32", 32)
        assert verdict.verified, f"{size} elements: {verdict}"


@pytest.mark.parametrize(
    ("block", "dtype"), tuple(product(PROBLEM.blocks, PROBLEM.dtypes)) if FULL else SOME_PAIRS
)
@pytest.mark.parametrize("rung", kernels(LADDER), ids=names)
def test_types_and_blocks(backend: Backend, rung: Rung, block: int, dtype: str) -> None:
    for language in rung.languages if FULL else rung.languages[-1:]:
        verdict = judge(LADDER, rung.name, backend, language, 5 * block + 3, dtype, block)
        assert verdict.verified, f"{language}: {verdict}"


@pytest.mark.parametrize("rung", kernels(LADDER), ids=names)
def test_inputs(backend: Backend, rung: Rung) -> None:
    for data in PROBLEM.data:
        verdict = judge(LADDER, rung.name, backend, "cuda", 3001, "float32", 64, data)
        assert verdict.verified, f"{data}: {verdict}"


def test_the_bound_is_narrow() -> None:
    verdict = judge(LADDER, "warp_shuffle", open_place("cpu"), size=3001, data="random")
    assert verdict.bound < 1e-5 * verdict.expected


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_reference_against_exact_sums(dtype: str) -> None:
    x = PROBLEM.case("scan", 700, dtype, "cancelling", 3).arrays["x"] * np.logspace(0, 12, 700)
    true = [float(total) for total in accumulate(map(Fraction, x.tolist()))]
    found = exact_sums(x)
    scale = np.cumsum(np.abs(x))
    assert np.all(np.abs(found - true) <= 2.0**-53 * np.abs(true) + (700 * 2.0**-53) ** 2 * scale)


def test_infinity_and_nan_reach_later_sums_only() -> None:
    case = PROBLEM.case("scan", 9, "float32", "special", 0)
    sums = case.expected(1)["y"].value
    assert np.isfinite(sums[:3]).all()
    assert np.isposinf(sums[3:6]).all()
    assert np.isnan(sums[6:]).all()
