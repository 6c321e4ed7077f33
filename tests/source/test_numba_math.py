"""Python kernels and mathematics: math, NumPy's functions, intrinsics, libdevice, half precision.

NumPy is the judge, in double precision for singles. Bounds are in units of the last place: those of CUDA's
Math API for single precision, 2 for double precision, whose functions err by 2 at most in both.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.source.refused import refused_by
from warpglass.source.numba_package import Package

Launch = Callable[..., None]
N = 500

# Name, least and greatest argument, units in the last place (single, double).
UNARY = [
    ("acos", -1, 1, 2, 2),
    ("acosh", 1, 1000, 4, 4),
    ("asin", -1, 1, 2, 2),
    ("asinh", -1000, 1000, 3, 3),
    ("atan", -1000, 1000, 2, 2),
    ("atanh", -0.999, 0.999, 3, 3),
    ("ceil", -1000, 1000, 0, 0),
    ("cos", -10, 10, 2, 2),
    ("cosh", -10, 10, 2, 2),
    ("erf", -4, 4, 2, 3),
    ("erfc", -3, 8, 4, 6),
    ("exp", -80, 80, 2, 2),
    ("expm1", -10, 10, 2, 2),
    ("fabs", -1000, 1000, 0, 0),
    ("floor", -1000, 1000, 0, 0),
    ("gamma", 0.5, 30, 6, 11),
    ("lgamma", 3, 100, 6, 11),
    ("log", 0.001, 1000, 2, 2),
    ("log10", 0.001, 1000, 3, 3),
    ("log1p", -0.9, 1000, 2, 2),
    ("log2", 0.001, 1000, 2, 2),
    ("sin", -10, 10, 2, 2),
    ("sinh", -10, 10, 3, 3),
    ("sqrt", 0, 1000, 0, 0),
    ("tan", -1.5, 1.5, 4, 4),
    ("tanh", -5, 5, 2, 2),
    ("trunc", -1000, 1000, 0, 0),
    ("degrees", -10, 10, 2, 2),
    ("radians", -1000, 1000, 2, 2),
]
BINARY = [
    ("atan2", -10, 10, 3, 2),
    ("copysign", -10, 10, 0, 0),
    ("fmod", -100, 100, 0, 0),
    ("hypot", -100, 100, 3, 2),
    ("pow", 0.01, 10, 4, 2),
]
SINGLE_DOUBLE = [np.float32, np.float64]


def sample(low: float, high: float, dtype: Any, seed: int = 1) -> np.ndarray[Any, Any]:
    """Arguments of a function, the ends of the interval included."""
    x = np.random.default_rng(seed).uniform(low, high, N)
    x[:2] = low, high
    return x.astype(dtype)


def close(found: np.ndarray[Any, Any], wanted: Any, ulps: int, least: float = 0.0) -> None:
    """Assert that results are within so many units of the last place; `least` is the unit near 0."""
    exact = np.asarray(wanted, np.float64)
    if ulps == 0:
        exact = exact.astype(found.dtype).astype(np.float64)
    unit = np.maximum(np.spacing(np.abs(exact).astype(found.dtype)).astype(np.float64), least)
    # half a unit more for the judge's own rounding where it is as precise as the result
    assert (np.abs(found.astype(np.float64) - exact) <= (ulps + 0.5 * (ulps > 0)) * unit).all()


def exact(name: str) -> Any:
    """A function of math for whole arrays."""
    return np.vectorize(getattr(math, name), otypes=[np.float64])


@pytest.mark.sampled(quick=8, ci=7)
@pytest.mark.parametrize("dtype", SINGLE_DOUBLE)
@pytest.mark.parametrize(("name", "low", "high", "single", "double"), UNARY, ids=[row[0] for row in UNARY])
def test_math(
    launch: Launch, cuda: Any,
    name: str, low: float, high: float, single: int, double: int, dtype: Any,
) -> None:  # fmt: skip
    function = getattr(math, name)

    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = function(x[i])

    x, out = sample(low, high, dtype), np.zeros(N, dtype)
    launch(kernel, 8, 64, x, out)
    close(out, exact(name)(x.astype(np.float64)), single if dtype is np.float32 else double)


@pytest.mark.sampled(quick=6)
@pytest.mark.parametrize("dtype", SINGLE_DOUBLE)
@pytest.mark.parametrize(("name", "low", "high", "single", "double"), BINARY, ids=[row[0] for row in BINARY])
def test_math_of_two(
    launch: Launch, cuda: Any, name: str, low: float, high: float, single: int, double: int, dtype: Any
) -> None:
    function = getattr(math, name)

    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = function(x[i], y[i])

    x, y, out = sample(low, high, dtype), sample(low, high, dtype, 2), np.zeros(N, dtype)
    launch(kernel, 8, 64, x, y, out)
    wanted = exact(name)(x.astype(np.float64), y.astype(np.float64))
    close(out, wanted, single if dtype is np.float32 else double)


@pytest.mark.parametrize("dtype", SINGLE_DOUBLE)
def test_math_of_special_values(launch: Launch, cuda: Any, dtype: Any) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[0, i] = math.isnan(x[i])
            out[1, i] = math.isinf(x[i])
            out[2, i] = math.isfinite(x[i])

    x = np.array([0.0, -0.0, 1.5, math.inf, -math.inf, math.nan], dtype)
    out = np.zeros((3, 6), np.bool_)
    launch(kernel, 1, 32, x, out)
    np.testing.assert_array_equal(out, [np.isnan(x), np.isinf(x), np.isfinite(x)])


@pytest.mark.parametrize("dtype", SINGLE_DOUBLE)
def test_powers(launch: Launch, cuda: Any, dtype: Any) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[0, i] = x[i] ** 2
            out[1, i] = x[i] ** 3
            out[2, i] = x[i] ** 0.5
            out[3, i] = x[i] ** -1

    x, out = sample(0.1, 20, dtype), np.zeros((4, N), dtype)
    launch(kernel, 8, 64, x, out)
    wide = x.astype(np.float64)
    close(out, [wide**2, wide**3, wide**0.5, wide**-1], 4 if dtype is np.float32 else 2)


def test_integer_powers(launch: Launch, cuda: Any) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = x[i] ** 3

    x, out = np.arange(-16, 16), np.zeros(32, np.int64)
    launch(kernel, 1, 32, x, out)
    np.testing.assert_array_equal(out, x**3)


@pytest.mark.parametrize("dtype", SINGLE_DOUBLE)
def test_rounding(package: Package, launch: Launch, cuda: Any, dtype: Any) -> None:
    def kernel(x, out, whole):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = round(x[i])
            whole[i] = int(x[i])

    x = np.concatenate([np.arange(-4, 4.5, 0.5), sample(-100, 100, dtype)]).astype(dtype)
    out, whole = np.zeros(x.shape, dtype), np.zeros(x.shape, np.int64)
    launch(kernel, 9, 64, x, out, whole)
    away = np.copysign(np.floor(np.abs(x) + 0.5), x)  # of ties; so does numba-cuda-mlir 0.6
    np.testing.assert_array_equal(out, away if package.name == "numba-cuda-mlir" else np.rint(x))
    np.testing.assert_array_equal(whole, np.trunc(x))


UFUNCS = "sin cos log arctan sinh tanh log2 log10".split()  # what both packages have


@pytest.mark.sampled(quick=6)
@pytest.mark.parametrize("name", UFUNCS)
def test_functions_of_numpy(launch: Launch, cuda: Any, name: str) -> None:
    function = getattr(np, name)

    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = function(x[i])

    x, out = sample(0.5, 3, np.float64), np.zeros(N)
    launch(kernel, 8, 64, x, out)
    close(out, function(x), 3)


# ---------------------------------------------------------------------------------------- intrinsics
@pytest.mark.parametrize("dtype", [np.uint32, np.uint64])
def test_bits(launch: Launch, cuda: Any, dtype: Any) -> None:
    def kernel(x, out, reversed_):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[0, i] = cuda.popc(x[i])
            out[1, i] = cuda.clz(x[i])
            out[2, i] = cuda.ffs(x[i])
            reversed_[i] = cuda.brev(x[i])

    width = np.dtype(dtype).itemsize * 8
    x = np.random.default_rng(1).integers(0, 2**width, N, dtype) >> np.arange(N).astype(dtype) % width
    x[:2] = 0, 1
    out, reversed_ = np.zeros((3, N), np.int64), np.zeros(N, dtype)
    launch(kernel, 8, 64, x, out, reversed_)
    texts = [format(value, f"0{width}b") for value in x.tolist()]
    assert out[0].tolist() == [text.count("1") for text in texts]
    assert out[1].tolist() == [width - len(text.lstrip("0")) for text in texts]
    assert out[2].tolist() == [text[::-1].find("1") + 1 for text in texts]
    assert reversed_.tolist() == [int(text[::-1], 2) for text in texts]


@pytest.mark.parametrize("dtype", SINGLE_DOUBLE)
def test_fused_multiply_add_and_roots(launch: Launch, cuda: Any, dtype: Any) -> None:
    def kernel(x, y, z, fused, roots, chosen):
        i = cuda.grid(1)
        if i < x.shape[0]:
            fused[i] = cuda.fma(x[i], y[i], z[i])
            roots[i] = cuda.cbrt(x[i])
            chosen[i] = cuda.selp(x[i] > 0, y[i], z[i])

    x, y, z = (sample(-10, 10, dtype, seed) for seed in (1, 2, 3))
    fused, roots, chosen = np.zeros(N, dtype), np.zeros(N, dtype), np.zeros(N, dtype)
    launch(kernel, 8, 64, x, y, z, fused, roots, chosen)
    wide = np.longdouble if dtype is np.float64 else np.float64
    np.testing.assert_array_equal(fused, (x.astype(wide) * y.astype(wide) + z.astype(wide)).astype(dtype))
    close(roots, np.cbrt(x.astype(np.float64)), 1)
    np.testing.assert_array_equal(chosen, np.where(x > 0, y, z))


def libdevice_of(package: Package) -> Any:
    """The package's module of libdevice's functions."""
    return importlib.import_module(package.modules["cuda"] + ".libdevice")


def test_libdevice(package: Package, launch: Launch, cuda: Any) -> None:
    libdevice = libdevice_of(package)

    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[0, i] = libdevice.sin(x[i])
            out[1, i] = libdevice.exp2(x[i])
            out[2, i] = libdevice.rsqrt(x[i])
            out[3, i] = libdevice.normcdf(x[i])
            out[4, i] = libdevice.j0(x[i])
            out[5, i] = libdevice.fma(x[i], x[i], 1.0)

    x, out = sample(0.5, 4, np.float64), np.zeros((6, N))
    launch(kernel, 8, 64, x, out)
    close(out[:3], [np.sin(x), np.exp2(x), 1 / np.sqrt(x)], 2)
    np.testing.assert_allclose(out[3], 0.5 * exact("erfc")(-x / math.sqrt(2)), rtol=1e-14)
    angles = (np.arange(2000) + 0.5) * math.pi / 2000  # Bessel's integral
    np.testing.assert_allclose(out[4], [np.cos(one * np.sin(angles)).mean() for one in x], atol=1e-13)
    close(out[5], (x.astype(np.longdouble) ** 2 + 1).astype(np.float64), 0)


def test_libdevice_in_single_precision(package: Package, launch: Launch, cuda: Any) -> None:
    libdevice = libdevice_of(package)

    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[0, i] = libdevice.sinf(x[i])
            out[1, i] = libdevice.fast_cosf(x[i])
            out[2, i] = libdevice.fast_expf(x[i])
            out[3, i] = libdevice.fast_logf(x[i])
            out[4, i] = libdevice.rcbrtf(x[i])
            out[5, i] = libdevice.saturatef(x[i] - 1)

    x, out = sample(0.5, 3, np.float32), np.zeros((6, N), np.float32)
    launch(kernel, 8, 64, x, out)
    wide = x.astype(np.float64)
    np.testing.assert_allclose(out[0], np.sin(wide), atol=2e-7)
    np.testing.assert_allclose(out[1], np.cos(wide), atol=2**-20.5)
    np.testing.assert_allclose(out[2], np.exp(wide), rtol=1e-6)
    np.testing.assert_allclose(out[3], np.log(wide), atol=2e-6)
    np.testing.assert_allclose(out[4], 1 / np.cbrt(wide), rtol=3e-7)
    np.testing.assert_array_equal(out[5], np.clip(x - np.float32(1), 0, 1))


def test_integers_of_libdevice(package: Package, launch: Launch, cuda: Any) -> None:
    libdevice = libdevice_of(package)

    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[0, i] = libdevice.mulhi(x[i], y[i])
            out[1, i] = libdevice.hadd(x[i], y[i])
            out[2, i] = libdevice.abs(x[i])
            out[3, i] = libdevice.sad(x[i], y[i], 7)

    x, y = (np.random.default_rng(k).integers(-(2**30), 2**30, N).astype(np.int32) for k in (1, 2))
    out = np.zeros((4, N), np.int32)
    launch(kernel, 8, 64, x, y, out)
    wide, other = x.astype(np.int64), y.astype(np.int64)
    wanted = [wide * other >> 32, wide + other >> 1, abs(wide), abs(wide - other) + 7]
    np.testing.assert_array_equal(out, wanted)


# ---------------------------------------------------------------------------------------- half precision
def test_half_arithmetic(launch: Launch, cuda: Any) -> None:
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[0, i] = x[i] + y[i]
            out[1, i] = x[i] - y[i]
            out[2, i] = x[i] * y[i]
            out[3, i] = -x[i]

    x, y, out = sample(-30, 30, np.float16), sample(-30, 30, np.float16, 2), np.zeros((4, N), np.float16)
    launch(kernel, 8, 64, x, y, out)
    np.testing.assert_array_equal(out, [x + y, x - y, x * y, -x])


def test_half_functions(package: Package, launch: Launch, cuda: Any) -> None:
    fp16 = importlib.import_module(package.modules["cuda"] + ".fp16")

    def kernel(x, y, out, less):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[0, i] = fp16.hadd(x[i], y[i])
            out[1, i] = fp16.hmul(x[i], y[i])
            out[2, i] = fp16.hfma(x[i], y[i], x[i])
            out[3, i] = fp16.hmax(x[i], y[i])
            out[4, i] = fp16.hsqrt(x[i])
            out[5, i] = fp16.hfloor(x[i])
            less[i] = fp16.hlt(x[i], y[i])

    x, y = sample(0.1, 8, np.float16), sample(0.1, 8, np.float16, 2)
    out, less = np.zeros((6, N), np.float16), np.zeros(N, np.bool_)
    launch(kernel, 8, 64, x, y, out, less)
    fused = (x.astype(np.float64) * y + x).astype(np.float16)
    wanted = [x + y, x * y, fused, np.maximum(x, y), np.sqrt(x), np.floor(x)]
    np.testing.assert_array_equal(out[[0, 1, 2, 3, 5]], [wanted[k] for k in (0, 1, 2, 3, 5)])
    close(out[4], wanted[4], 1)
    np.testing.assert_array_equal(less, x < y)


def test_half_and_single(launch: Launch, cuda: Any) -> None:
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = np.float32(x[i]) * y[i]

    x, y, out = sample(-30, 30, np.float16), sample(-30, 30, np.float32), np.zeros(N, np.float32)
    launch(kernel, 8, 64, x, y, out)
    np.testing.assert_array_equal(out, x.astype(np.float32) * y)


def test_bfloat16(package: Package, launch: Launch, cuda: Any) -> None:
    bfloat16 = cuda.bfloat16 if hasattr(cuda, "bfloat16") else None
    if bfloat16 is None:
        pytest.skip(f"{package.name} has no bfloat16")

    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = np.float32(bfloat16(x[i]) * bfloat16(2.0))

    x, out = (np.arange(32) * 8).astype(np.float32), np.zeros(32, np.float32)
    with refused_by(package):
        launch(kernel, 1, 32, x, out)
        np.testing.assert_array_equal(out, x * 2)
