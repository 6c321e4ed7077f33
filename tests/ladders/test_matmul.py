"""The matrix-multiplication ladder: the notes' counts beside the engine's, and the reference."""

from __future__ import annotations

import numpy as np
import pytest

from warpglass.ladders.matmul.counts import naive_reads, share_left, tiled_reads
from warpglass.ladders.matmul.problem import PROBLEM, wrapped_product


def test_a_tile_of_sixteen_leaves_a_sixteenth() -> None:
    assert tiled_reads(64, 16) / naive_reads(64) == share_left(16) == 1 / 16
    assert tiled_reads(65, 16) == 2 * 65 * 65 * 5  # a broken row of tiles reads all of B once more


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_the_reference_wraps_as_integers_do(dtype: str) -> None:
    case = PROBLEM.case("matmul", 37, dtype, "extreme", 1)
    a, b = case.arrays["a"], case.arrays["b"]
    assert np.array_equal(wrapped_product(a, b), a @ b)
