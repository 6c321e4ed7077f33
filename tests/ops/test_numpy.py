"""Operations on the engine against NumPy in double precision: types, shapes, axes, strides."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.levels import LEVEL
from warpglass import ops
from warpglass.ladders.image.problem import blurred

Array = np.ndarray[Any, np.dtype[Any]]

TYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
SHAPES = ((), (1,), (33,), (1000,), (5, 37), (3, 4, 50), (0,), (4, 0, 3))


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Array:
    """Small numbers of a type."""
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype)
    if kind.kind != "f":
        low = 0 if kind.kind in "bu" else -9
        return rng.integers(low, 2 if kind.kind == "b" else 10, shape).astype(kind)
    return np.asarray(rng.standard_normal(shape)).astype(kind)


def wide(x: Array) -> Array:
    """Floats in double precision; other types as they are."""
    return x.astype(np.float64) if x.dtype.kind == "f" else x


def agree(found: Any, expected: Any, dtype: np.dtype[Any], magnitude: Any = 0.0) -> None:
    """Types and shapes are equal, and so are numbers but for what rounding explains."""
    assert (np.shape(found), np.asarray(found).dtype) == (np.shape(expected), dtype)
    if dtype.kind != "f":
        np.testing.assert_array_equal(found, expected)
        return
    unit = float(np.finfo(dtype).eps)
    bound = 64 * float(np.finfo(np.float32).eps if dtype == np.float16 else unit) * magnitude + unit * np.abs(
        expected
    )
    assert np.all(np.abs(wide(np.asarray(found)) - expected) <= bound)


def axes_of(x: Array) -> list[Any]:
    return [
        None,
        *range(-x.ndim, x.ndim),
        tuple(range(x.ndim)),
        (),
        *itertools.combinations(range(x.ndim), 2),
    ]


@pytest.mark.sampled(quick=24, ci=20)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_sums(dtype: str, shape: tuple[int, ...]) -> None:
    x = numbers(shape, dtype)
    for axis, keep in itertools.product(axes_of(x), (False, True)):
        expected = wide(x).sum(axis, keepdims=keep)
        agree(
            ops.sum(x, axis, keepdims=keep),
            expected,
            x.sum(axis).dtype,
            np.abs(wide(x)).sum(axis, keepdims=keep),
        )


@pytest.mark.sampled(quick=24, ci=20)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_running_sums(dtype: str, shape: tuple[int, ...]) -> None:
    x = numbers(shape, dtype)
    for axis in (None, *range(-x.ndim, x.ndim)):
        agree(ops.cumsum(x, axis), wide(x).cumsum(axis), x.cumsum(axis).dtype, np.abs(wide(x)).cumsum(axis))


@pytest.mark.sampled(quick=30, ci=24)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(1,), (33,), (7000,), (5, 37), (3, 4, 50), (0,), (4, 0, 3)], ids=str)
def test_sorts(dtype: str, shape: tuple[int, ...]) -> None:
    x = numbers(shape, dtype)
    if x.dtype.kind == "f":
        x[..., ::3], x[..., 1::5], x[..., 2::7] = np.nan, -0.0, np.inf
    for axis in (None, *range(x.ndim)):
        np.testing.assert_array_equal(ops.sort(x, axis), np.sort(x, axis))
        np.testing.assert_array_equal(ops.argsort(x, axis), np.argsort(x, axis, kind="stable"))


@pytest.mark.sampled(quick=30, ci=24)
@pytest.mark.parametrize("dtype", TYPES[1:])
@pytest.mark.parametrize(
    "shapes", ["5,7 7,3", "7 7", "7 7,3", "5,7 7", "2,1,5,7 3,7,2", "4,0 0,3", "0,4 4,3", "65,40 40,70"]
)
def test_products(dtype: str, shapes: str) -> None:
    a, b = (
        numbers(tuple(map(int, text.split(","))), dtype, seed) for seed, text in enumerate(shapes.split())
    )
    magnitude = np.matmul(np.abs(wide(a)), np.abs(wide(b)))
    agree(ops.matmul(a, b), np.matmul(wide(a), wide(b)), np.matmul(a, b).dtype, magnitude)
    if max(a.ndim, b.ndim) < 3:
        agree(ops.dot(a, b), np.dot(wide(a), wide(b)), np.dot(a, b).dtype, magnitude)


@pytest.mark.sampled(quick=30, ci=24)
@pytest.mark.parametrize("dtype", TYPES[1:])
@pytest.mark.parametrize("bins", [10, 1, 257, 20_000, (0.0, 1.5, 1.5, 4.0)], ids=str)
def test_histograms(dtype: str, bins: Any) -> None:
    x = numbers((3, 400), dtype)
    computed = x.astype(np.float32) if dtype == "float16" else x
    for ends in (None,) if isinstance(bins, tuple) else (None, (-2, 3.5), (0, bins)):
        counts, edges = ops.histogram(x, bins, ends)
        expected_counts, expected_edges = np.histogram(computed, bins, ends)
        agree(counts, expected_counts, np.dtype(np.int64))
        np.testing.assert_array_equal(edges, expected_edges)


def test_histogram_of_what_has_no_range() -> None:
    assert [part.tolist() for part in ops.histogram([], 2)] == [[0, 0], [0, 0.5, 1]]
    assert [part.tolist() for part in ops.histogram([3.0, 3.0], 2)] == [[0, 2], [2.5, 3, 3.5]]
    assert ops.histogram([1.0, np.nan])[0].sum() == 0
    assert ops.histogram([1.0, np.nan, 7], 3, (0, 3))[0].tolist() == [0, 1, 0]


@pytest.mark.sampled(quick=24, ci=20)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_transposes(dtype: str, shape: tuple[int, ...]) -> None:
    x = numbers(shape, dtype)
    for axes in (None, *itertools.permutations(range(x.ndim))):
        found = ops.transpose(x, axes)
        agree(found, np.transpose(x, axes).copy(), x.dtype)
        assert not np.ndim(found) or found.flags.c_contiguous


@pytest.mark.sampled(quick=30, ci=24)
@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("n", [1, 5, 1003])
@pytest.mark.parametrize("width", [1, 2, 9, 100])
def test_convolutions_of_vectors(dtype: str, n: int, width: int) -> None:
    x, mask = numbers((n,), dtype), numbers((width,), dtype, 1)
    full, magnitude = np.convolve(wide(x), wide(mask)), np.convolve(np.abs(wide(x)), np.abs(wide(mask)))
    parts = {
        "full": slice(None),
        "same": slice((width - 1) // 2, (width - 1) // 2 + n),
        "valid": slice(width - 1, max(n, width - 1)),
    }
    for mode, part in parts.items():
        agree(ops.convolve1d(x, mask, mode=mode), full[part], x.dtype, magnitude[part])


@pytest.mark.sampled(quick=8, ci=7)
@pytest.mark.parametrize("dtype", ["int32", "float32"])
@pytest.mark.parametrize("window", [(1, 1), (3, 3), (4, 1), (2, 5), (9, 9)], ids=str)
def test_convolutions_of_pictures(dtype: str, window: tuple[int, int]) -> None:
    x, mask = numbers((2, 13, 70), dtype), numbers(window, dtype, 1)
    (down, across), (rows, columns) = window, x.shape[1:]
    full, magnitude = np.zeros((2, 2, rows + down - 1, columns + across - 1))
    for (u, v), weight in np.ndenumerate(wide(mask)):
        full[:, u : u + rows, v : v + columns] += weight * x
        magnitude[:, u : u + rows, v : v + columns] += abs(weight * wide(x))
    top, left = (down - 1) // 2, (across - 1) // 2
    parts = {
        "full": np.s_[:, :, :],
        "same": np.s_[:, top : top + rows, left : left + columns],
        "valid": np.s_[:, down - 1 : rows, across - 1 : columns],
    }
    for mode, part in parts.items():
        agree(ops.convolve2d(x, mask, mode), full[part], x.dtype, magnitude[part])
    if 1 in window:
        axis = 1 if across == 1 else 2
        agree(ops.convolve1d(x, mask.ravel(), axis), full[parts["same"]], x.dtype, magnitude[parts["same"]])


@pytest.mark.turns(2)
def test_pictures() -> None:
    rgb = np.random.default_rng(0).integers(0, 256, (2, 31, 45, 3), np.uint8)
    np.testing.assert_array_equal(ops.blur(rgb), [blurred(one) for one in rgb])
    np.testing.assert_array_equal(ops.blur(rgb[0, :, :, 0], 0), rgb[0, :, :, 0])
    grey = ops.rgb_to_grey(rgb)
    value = rgb @ [21, 71, 7]
    assert grey.dtype == np.uint8
    assert grey.shape == rgb.shape[:-1]
    assert np.all(np.abs(grey - value // 100) <= (value % 100 == 0))


LAYOUTS = st.tuples(st.integers(1, 3), st.booleans(), st.integers(0, 2))


@settings(max_examples=8 if LEVEL == "quick" else 25, deadline=None)
@given(
    st.sampled_from(["float32", "int64"]),
    st.lists(st.integers(0, 40), min_size=1, max_size=3),
    LAYOUTS,
    st.data(),
)
def test_any_layout(dtype: str, shape: list[int], layout: tuple[int, bool, int], data: st.DataObject) -> None:
    step, backwards, start = layout
    x = numbers(tuple(shape), dtype, 3)[..., start:][..., :: -step if backwards else step]
    if data.draw(st.booleans()):
        x = x.T
    x.flags.writeable = False
    axis = data.draw(st.sampled_from(axes_of(x)))
    agree(ops.sum(x, axis), wide(x).sum(axis), x.sum(axis).dtype, np.abs(wide(x)).sum(axis))
    one = data.draw(st.sampled_from([None, *range(x.ndim)]))
    agree(ops.cumsum(x, one), wide(x).cumsum(one), x.cumsum(one).dtype, np.abs(wide(x)).cumsum(one))
    np.testing.assert_array_equal(ops.sort(x, one), np.sort(x, one))
    np.testing.assert_array_equal(ops.transpose(x), x.T)
