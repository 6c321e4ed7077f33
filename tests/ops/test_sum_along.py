"""Sums along one axis: every kernel, at any place in memory, on the engine and on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpglass as wg
from tests.ladders.following import apart, follow
from warpglass.ops.sum_along import Extents, plan

# Outer x n x inner: the kernel of each, for elements of four bytes.
KERNELS = (
    ("add_tiny_rows", (300, 5, 1)),
    ("add_tiny_rows", (3, 32, 1)),
    ("add_short_rows", (13, 70, 1)),
    ("add_short_rows", (3, 4095, 1)),
    ("add_rows", (2, 5001, 1)),
    ("add_rows", (1, 20000, 1)),
    ("add_few", (1500, 3, 90)),
    ("add_columns", (2, 3, 301)),
    ("add_columns", (3, 41, 44)),
    ("add_columns", (1, 700, 37)),  # in pieces
)


def sums(
    x: np.ndarray[Any, Any], extents: Extents, adds: str, result: str
) -> tuple[str, np.ndarray[Any, Any]]:
    """The kernel that adds the middle extent of `x`, and its sums after it ran twice."""
    found = np.full(extents[0] * extents[2], 7, result)
    made = plan(extents, x.dtype, np.dtype(adds), np.dtype(result))
    follow(made, times=2, x=x, sums=found)
    return made.steps[0].kernel.partition("<")[0], found.reshape(extents[0], extents[2])


@pytest.mark.sampled(quick=6, ci=3)
@pytest.mark.parametrize(("kernel", "extents"), KERNELS)
def test_every_kernel_at_any_place(kernel: str, extents: Extents) -> None:
    x = np.random.default_rng(0).integers(-99, 99, extents).astype(np.float32)
    for elements in (0, 3):
        launched, found = sums(apart(x, elements), extents, "float32", "float32")
        assert launched == kernel
        np.testing.assert_array_equal(found, x.sum(1))


@pytest.mark.sampled(quick=32, ci=16)
@pytest.mark.parametrize("extents", [extents for _, extents in KERNELS])
@pytest.mark.parametrize(
    ("dtype", "adds", "result"),
    [
        ("bool", "int64", "int64"),
        ("int8", "int64", "int64"),
        ("uint8", "uint64", "uint64"),
        ("int16", "int64", "int64"),
        ("uint32", "uint64", "uint64"),
        ("float16", "float32", "float16"),
        ("float64", "float64", "float64"),
        ("int64", "int32", "int8"),
    ],
)
def test_element_types(extents: Extents, dtype: str, adds: str, result: str) -> None:
    rng = np.random.default_rng(1)
    if dtype == "bool":
        x = rng.integers(0, 2, extents).astype(bool)
    elif dtype[0] == "f":
        x = rng.integers(-9, 9, extents).astype(dtype)
    else:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        x = rng.integers(low, high, extents, dtype, endpoint=True)
    _, found = sums(apart(x, 1), extents, adds, result)
    np.testing.assert_array_equal(found, x.sum(1, dtype=adds).astype(result))


@pytest.mark.parametrize(("kernel", "extents"), KERNELS[::3])
def test_what_is_no_number_stays_in_its_sum(kernel: str, extents: Extents) -> None:
    """NumPy's sums of -0 alone are +0, IEEE's -0: which of them is not promised."""
    x = np.full(extents, -0.0, np.float32)
    x[0, 0, 0], x[-1, -1, -1] = np.inf, np.nan
    _, found = sums(x, extents, "float32", "float32")
    with np.errstate(invalid="ignore"):
        expected = x.sum(1)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(("kernel", "extents"), [KERNELS[1], KERNELS[9]])
def test_checked(kernel: str, extents: Extents) -> None:
    made = plan(extents, *(np.dtype(np.float32),) * 3)
    arrays: dict[str, Any] = {one.name: np.zeros(one.size, one.dtype) for one in made.scratch}
    arrays["x"] = np.ones(extents, np.float32)
    arrays["sums"] = wg.out(np.zeros(extents[0] * extents[2], np.float32))
    (step,) = made.steps
    args = [arrays[one] if isinstance(one, str) else one for one in step.arguments]
    checked = wg.check(wg.load(step.file, step.kernel), step.grid, step.block, args, shared=step.shared)
    assert not checked.findings


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64", "int32"])
@pytest.mark.parametrize(
    "shape",
    [(1, 4097), (4097, 1), (3, 1 << 20), (1 << 20, 3), (1 << 18, 33), (64, 3, 257, 256), (511, 1000, 333)],
    ids=str,
)
def test_on_a_gpu(dtype: str, shape: tuple[int, ...]) -> None:
    cupy = pytest.importorskip("cupy")
    x = cupy.random.RandomState(2).randint(0, 2, shape).astype(dtype)
    whole = cupy.zeros(x.size + 8, dtype)
    for elements in (0, 1):
        there = whole[elements : elements + x.size].reshape(shape)
        there[...] = x
        for axis in range(x.ndim):
            found = wg.ops.sum(there, axis)
            exact = x.sum(axis, dtype=cupy.int64).astype(found.dtype)
            assert bool((found == exact).all()), axis
