"""What the radix sorts promise beyond the bench: every type, values, indices, rows, scratch memory.

Keys are compared bit for bit, so equal ones, zeros of both signs and NaN must keep their order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import warpglass as wg
from warpglass.ladders.plan import Plan
from warpglass.ladders.sort import onesweep, radix_block
from warpglass.ladders.sort.radix import Request
from warpglass.ladders.sort.radix_sort import IN_ONE_BLOCK, plan

pytestmark = pytest.mark.turns(2)

Array = np.ndarray[Any, Any]
Make = Callable[[Request], Plan]

SMALL_TILES: Make = partial(onesweep.plan, threads=256, items=3, blocks=1, copies=2)
TYPES = ("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "float32", "float64")


def keys(dtype: str, size: int) -> Array:
    """Any bits, and of floating-point numbers every special one."""
    rng = np.random.default_rng(size)
    if dtype == "bool":
        return rng.random(size) < 0.5
    bits = rng.bytes(size * np.dtype(dtype).itemsize)
    found = np.frombuffer(bits, dtype).copy()
    if found.dtype.kind == "f":
        special = np.array([np.nan, -np.nan, 0.0, -0.0, np.inf, -np.inf], dtype)
        found[::3] = rng.choice(special, found[::3].size)
    return found


def follow(made: Plan, arrays: Mapping[str, Array], times: int = 1) -> dict[str, Array]:
    """Run a plan on the engine; returns its scratch arrays, which hold anything but the zeros asked for."""
    scratch = {
        one.name: np.zeros(one.size, one.dtype) if one.zeroed else np.full(one.size, 77, one.dtype)
        for one in made.scratch
    }
    have = {**arrays, **scratch}
    for _ in range(times):
        for step in made.steps:
            values = tuple(have[one] if isinstance(one, str) else one for one in step.arguments)
            wg.run(wg.load(step.file, step.kernel), step.grid, step.block, values, shared=step.shared)
    assert not any(scratch[one.name].any() for one in made.scratch if one.zeroed)
    return scratch


def same_bits(found: Array, expected: Array) -> bool:
    return found.dtype == expected.dtype and found.tobytes() == expected.tobytes()


@pytest.mark.sampled(quick=24, ci=20)
@pytest.mark.parametrize("dtype", [*TYPES, *FLOATS])
@pytest.mark.parametrize(("make", "size"), [(SMALL_TILES, 2 * 1024 + 301), (radix_block.plan, 301)])
def test_every_type(make: Make, size: int, dtype: str) -> None:
    for n in (0, 1, size):
        x = keys(dtype, n)
        y = x.copy()
        follow(make(Request(n, x.dtype)), {"x": y})
        assert same_bits(y, x[np.argsort(x, kind="stable")]), f"{n} keys"


@pytest.mark.sampled(quick=10, ci=10)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("make", "size"), [(SMALL_TILES, 2 * 1024 + 301), (radix_block.plan, 301)])
def test_indices(make: Make, size: int, dtype: str) -> None:
    for n in (0, 1, size):
        x = keys(dtype, n)
        before, order = x.copy(), np.full(n, -1)
        follow(make(Request(n, x.dtype, indices="order")), {"x": x, "order": order})
        assert same_bits(order, np.argsort(x, kind="stable"))
        assert same_bits(x, before)


@pytest.mark.sampled(quick=7, ci=7)
@pytest.mark.parametrize(("dtype", "value_dtype"), [("uint8", "float64"), ("float32", "float16")])
@pytest.mark.parametrize(("make", "size"), [(SMALL_TILES, 2 * 1024 + 301), (radix_block.plan, 301)])
def test_values_follow_their_keys(make: Make, size: int, dtype: str, value_dtype: str) -> None:
    x, v = keys(dtype, size), keys(value_dtype, size)
    order = np.argsort(x, kind="stable")
    y, w = np.zeros_like(x), np.zeros_like(v)
    there = Request(size, x.dtype, "x", "y", "v", "w", v.dtype)
    follow(make(there), {"x": x, "y": y, "v": v, "w": w})
    assert same_bits(y, x[order])
    assert same_bits(w, v[order])
    follow(make(replace(there, sorted_keys="x", sorted_values="v")), {"x": x, "v": v})
    assert same_bits(x, y)
    assert same_bits(v, w)


def test_passes_that_move_no_key_are_left_out() -> None:
    """To another array at least one remains, and back to the same one an even number."""
    x = np.arange(256, dtype=np.uint32)[::-1] << 8
    x, y = np.repeat(x, 9), np.zeros(9 * 256, np.uint32)
    last = np.uint32(2**32 - 1)
    in_place = follow(SMALL_TILES(Request(x.size, x.dtype, "y", "y")), {"y": y})
    assert in_place["route"].tolist() == [last] * 4 + [0]
    elsewhere = follow(SMALL_TILES(Request(x.size, x.dtype, sorted_keys="y")), {"x": x, "y": y}, times=2)
    assert elsewhere["route"].tolist() == [last, 0, last, last, 1]
    assert same_bits(y, np.sort(x))
    follow(SMALL_TILES(Request(x.size, x.dtype)), {"x": x})
    assert same_bits(x, y)


@pytest.mark.sampled(quick=4, ci=4)
@pytest.mark.parametrize(("make", "size"), [(SMALL_TILES, 1500), (radix_block.plan, 300)])
def test_rows_are_sorted_each(make: Make, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(onesweep, "_MOST_ROWS", 2)
    x = keys("int16", 3 * size).reshape(3, size)
    order = np.zeros(x.shape, np.int64)
    follow(make(Request(size, x.dtype, indices="order", rows=3)), {"x": x, "order": order})
    assert same_bits(order, np.argsort(x, axis=1, kind="stable"))
    y = np.zeros_like(x)
    follow(make(Request(size, x.dtype, sorted_keys="y", rows=3)), {"x": x, "y": y})
    assert same_bits(y, np.sort(x, axis=1))


@pytest.mark.least("full")
def test_counts_of_64_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for 2^30 keys and more."""
    monkeypatch.setattr(onesweep, "_MANY", 0)
    x = keys("float32", 2500)
    order = np.zeros(x.size, np.int64)
    made = SMALL_TILES(Request(x.size, x.dtype, indices="order"))
    assert all("unsigned long long" in step.kernel for step in made.steps)
    follow(made, {"x": x, "order": order})
    assert same_bits(order, np.argsort(x, kind="stable"))


def test_a_plan_is_made_for_any_size() -> None:
    dtype = np.dtype(np.float32)
    assert len(plan(Request(IN_ONE_BLOCK, dtype)).steps) == 1
    assert len(plan(Request(IN_ONE_BLOCK + 1, dtype)).steps) == 5
    wide = plan(Request(2**33 + 1, dtype))
    assert {one.name: one.size for one in wide.scratch}["spare"] == 2**33 + 1
    with pytest.raises(ValueError, match="both in place or neither"):
        Request(5, dtype, values="v", sorted_values="w", value_dtype=dtype)
