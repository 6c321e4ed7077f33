"""The 1-D convolution ladder: the notes' counts beside the engine's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from warpglass.ladders import find_ladder
from warpglass.ladders.conv1d import async_tile, counts, fastest, register_window
from warpglass.ladders.conv1d.problem import RADIUS, convolve

from .following import apart, follow
from .judging import count

LADDER = find_ladder("conv1d")


def test_the_mask_costs_as_many_loads_as_x() -> None:
    basic, constant = (count(LADDER, rung, 1024)["global_load_requests"] for rung in ("basic", "constant"))
    assert basic == 2 * constant == 2 * 1024 / 32 * 9


def test_the_formulas_are_those_of_the_definition() -> None:
    n, block = 96, 32
    reads = np.array([[0 <= i - RADIUS + j < n for j in range(9)] for i in range(n)])
    assert counts.basic_reads(n, RADIUS) == reads.sum()
    assert counts.edge_block_reads(block, RADIUS) == reads[:block].sum() == reads[-block:].sum()
    assert reads[block : 2 * block].sum() / (block + 2 * RADIUS) == counts.inner_ratio(block, RADIUS)
    assert reads[:block].sum() / (block + RADIUS) == counts.edge_ratio(block, RADIUS)
    elements = [range(max(0, first - RADIUS), min(n, first + block + RADIUS)) for first in range(0, n, block)]
    assert counts.tiled_reads(n, RADIUS, block) == sum(map(len, elements))


@pytest.mark.parametrize("rung", [register_window, async_tile])
@pytest.mark.parametrize("width", [1, 3, 31])
def test_masks_of_any_width_at_any_address(rung: Any, width: int) -> None:
    random = np.random.default_rng(width)
    for n, before, behind in ((1, 1, 0), (30, 3, 3), (3333, 0, 0), (3334, 1, 2), (3075, 3, 3)):
        x = apart(random.integers(-(2**31), 2**31, n, np.int32), before)
        mask, y = random.integers(-(2**31), 2**31, width, np.int32), apart(np.zeros(n, np.int32), behind)
        follow(rung.plan(n, width, x.dtype), x=x, mask=mask, y=y)
        assert np.array_equal(y, convolve(x, mask)), n


def test_nan_and_infinity_reach_as_far_as_the_mask() -> None:
    x, mask = np.ones(600), np.arange(1.0, 32.0)
    x[[5, 300, 599]] = np.nan, np.inf, -np.inf
    y = np.zeros_like(x)
    follow(fastest.plan(x.size, mask.size, x.dtype), x=x, mask=mask, y=y)
    assert np.array_equal(y, convolve(x, mask), equal_nan=True)


def test_wide_masks_are_for_tiles() -> None:
    def kernel(width: int, dtype: type) -> str:
        return fastest.plan(1000, width, np.dtype(dtype)).steps[0].kernel

    assert kernel(9, np.float32) == "register_window<float, 9>"
    assert kernel(31, np.int32) == "async_tile<int, 31, 128>"
    assert kernel(9, np.float64) == "async_tile<double, 9, 128>"
