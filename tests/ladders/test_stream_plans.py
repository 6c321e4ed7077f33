"""The plans of last_block, ordered_look_back and lane_bins beyond what a bench asks for.

Element types of mixed widths, arrays that begin anywhere, signed zeros, infinities and NaN; scratch memory is
zeros again after a launch; results do not differ between runs. On a GPU also more than 2^31 elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from warpglass.ladders.dot import last_block as dot
from warpglass.ladders.histogram import lane_bins
from warpglass.ladders.reduction import last_block
from warpglass.ladders.scan import ordered_look_back

from .following import follow

SIZES = (0, 7, 4097)
TYPES = [  # of elements, of additions, of results
    ("float16", "float32", "float16"),
    ("int8", "int64", "int64"),
    ("int16", "int32", "int16"),
    ("int32", "int64", "int64"),
    ("float32", "float64", "float64"),
]


def elements(n: int, dtype: str, offset: int) -> Any:
    """Small values, whose sums are exact but in float16; they begin `offset` elements into memory."""
    rng = np.random.default_rng(n)
    low, high = (0, 2) if dtype == "float16" else (-3, 4)
    return rng.integers(low, high, n + offset).astype(dtype)[offset:]


@pytest.mark.sampled(quick=20, ci=16)
@pytest.mark.parametrize("offset", [0, 1, 3])
@pytest.mark.parametrize("types", TYPES, ids="-".join)
def test_sums_of_mixed_types_from_anywhere(types: tuple[str, str, str], offset: int) -> None:
    dtype, adds, result = map(np.dtype, types)
    for n in SIZES:
        x, y = elements(n, dtype.name, offset), elements(n + 1, dtype.name, 1)[1:]
        total, product = np.ones(1, result), np.ones(1, result)
        follow(last_block.plan(n, dtype, adds=adds, result=result, block=64), 2, x=x, sum=total)
        assert total[0] == x.astype(adds).sum().astype(result)
        follow(dot.plan(n, dtype, adds=adds, result=result, block=64), 2, x=x, y=y, dot=product)
        assert product[0] == (x.astype(adds) * y.astype(adds)).sum().astype(result)


@pytest.mark.sampled(quick=20, ci=16)
@pytest.mark.parametrize("offset", [0, 1, 3])
@pytest.mark.parametrize("types", TYPES, ids="-".join)
def test_prefix_sums_of_mixed_types_from_anywhere(types: tuple[str, str, str], offset: int) -> None:
    dtype, adds, result = map(np.dtype, types)
    for n in (0, 4097):
        x, y = elements(n, dtype.name, offset), np.ones(n + offset, result)[offset:]
        follow(ordered_look_back.plan(n, dtype, adds=adds, result=result, block=32, rows=2), 2, x=x, y=y)
        assert np.array_equal(y, np.cumsum(x.astype(adds)).astype(result))


def test_prefix_sums_take_the_place_of_their_elements() -> None:
    x = elements(5000, "int64", 0)
    want = np.cumsum(np.cumsum(x))  # two launches
    follow(ordered_look_back.plan(x.size, x.dtype, block=64, rows=2), 2, x=x, y=x)
    assert np.array_equal(x, want)


def test_many_groups_add_up_to_the_same_bits() -> None:
    x = np.random.default_rng(3).random(20_001).astype(np.float32)
    first, second = np.zeros_like(x), np.zeros_like(x)
    for y in (first, second):
        follow(ordered_look_back.plan(x.size, x.dtype, block=32, rows=1), 2, x=x, y=y)
    assert np.array_equal(first, second)
    assert np.allclose(first, np.cumsum(x, dtype=np.float64), rtol=1e-6)


@pytest.mark.turns(2)
def test_special_values() -> None:
    for special in (-0.0, np.inf, -np.inf, np.nan):
        judge_special(special)


def judge_special(special: float) -> None:
    x = np.full(1500, -0.0, np.float32)
    x[700] = special
    total, product, y = np.ones(1, np.float32), np.ones(1, np.float32), np.ones_like(x)
    follow(last_block.plan(x.size, x.dtype, block=64), 2, x=x, sum=total)
    follow(dot.plan(x.size, x.dtype, block=64), 2, x=x, y=np.ones_like(x), dot=product)
    follow(ordered_look_back.plan(x.size, x.dtype, block=64, rows=2), 2, x=x, y=y)
    for found in (total[0], product[0], y[-1]):
        assert np.array_equal([found], [special], equal_nan=True)
        assert np.signbit(found) == np.signbit(special) or special != special
    assert np.signbit(y[:700]).all()
    assert not y[:700].any()


@pytest.mark.sampled(quick=2, ci=1)
@pytest.mark.parametrize(
    ("dtype", "bins", "counter"),
    [
        ("uint8", 256, "uint64"),
        ("uint8", 100, "uint32"),
        ("int8", 128, "uint32"),
        ("int64", 4096, "uint32"),
        ("uint16", 65536, "uint32"),  # no room in shared memory
    ],
)
def test_counts_of_all_widths(dtype: str, bins: int, counter: str) -> None:
    limits = np.iinfo(dtype)
    x = np.random.default_rng(1).integers(max(limits.min, -50), min(limits.max, bins + 50), 9003, dtype)[3:]
    counts = np.ones(bins, counter)
    follow(lane_bins.plan(x.size, x.dtype, bins, counter=counts.dtype, block=64), 2, x=x, counts=counts)
    inside = x[(x >= 0) & (x.astype(np.int64) < bins)]
    assert np.array_equal(counts, np.bincount(inside, minlength=bins))


@pytest.mark.gpu
def test_more_elements_than_fit_32_bits() -> None:
    cupy = pytest.importorskip("cupy")
    n = 2**31 + 5
    x = cupy.ones(n + 1, np.uint8)[1:]
    x[-1] = 3
    total, counts = cupy.zeros(1, np.uint64), cupy.zeros(256, np.uint32)
    wide = np.dtype(np.uint64)
    follow(last_block.plan(n, x.dtype, adds=wide), device="gpu", x=x, sum=total)
    assert int(total[0]) == n + 2
    follow(dot.plan(n, x.dtype, adds=wide), device="gpu", x=x, y=x, dot=total)
    assert int(total[0]) == n + 8
    follow(lane_bins.plan(n, x.dtype, 256), device="gpu", x=x, counts=counts)
    assert (int(counts[1]), int(counts[3]), int(counts.sum())) == (n - 1, 1, n)
    y = cupy.zeros(n, np.uint32)
    follow(ordered_look_back.plan(n, x.dtype, adds=np.dtype(np.uint32)), device="gpu", x=x, y=y)
    assert bool((y[:-1] == cupy.arange(1, n, dtype=np.uint32)).all())
    assert int(y[-1]) == n + 2
