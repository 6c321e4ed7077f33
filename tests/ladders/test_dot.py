"""The dot-product ladder's reference."""

from __future__ import annotations

from fractions import Fraction

import pytest

from warpglass.ladders.dot.problem import PROBLEM, exact_dot


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_reference_is_exact(dtype: str) -> None:
    case = PROBLEM.case("dot", 501, dtype, "extreme", 1)
    x, y = case.arrays["x"], case.arrays["y"]
    true = sum(Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), y.tolist(), strict=True))
    assert exact_dot(x, y) == float(true)
