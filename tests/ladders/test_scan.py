"""The scan ladder's reference, against exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

from warpglass.ladders import find_ladder
from warpglass.ladders.scan.problem import PROBLEM, exact_sums

from .judging import judge, open_place

LADDER = find_ladder("scan")


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
