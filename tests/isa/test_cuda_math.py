"""CUDA's mathematical functions, compiled and run: within the bounds of the CUDA programming guide.

They are made of the rows tested elsewhere, so this shows that none is missing and that they work together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import warpglass as wg
from tests.engines import ENGINES, engine_mode

N = 1024


@dataclass(frozen=True)
class Function:
    """A function, the largest error that CUDA documents in units of the last place, and its arguments."""

    call: str
    exact: Callable[..., float]
    ulps: float
    low: float
    high: float


_FUNCTIONS = (
    Function("sin{}(x)", math.sin, 2, -1e5, 1e5),
    Function("cos{}(x)", math.cos, 2, -1e5, 1e5),
    Function("tan{}(x)", math.tan, 4, -1e3, 1e3),
    Function("asin{}(x)", math.asin, 2, -1, 1),
    Function("acos{}(x)", math.acos, 2, -1, 1),
    Function("atan{}(x)", math.atan, 2, -50, 50),
    Function("sinh{}(x)", math.sinh, 3, -80, 80),
    Function("cosh{}(x)", math.cosh, 2, -80, 80),
    Function("tanh{}(x)", math.tanh, 2, -9, 9),
    Function("asinh{}(x)", math.asinh, 3, -1e4, 1e4),
    Function("acosh{}(x)", math.acosh, 4, 1, 1e4),
    Function("atanh{}(x)", math.atanh, 3, -0.999, 0.999),
    Function("exp{}(x)", math.exp, 2, -80, 80),
    Function("exp2{}(x)", math.exp2, 2, -120, 120),
    Function("exp10{}(x)", lambda x: math.pow(10, x), 2, -30, 30),
    Function("expm1{}(x)", math.expm1, 1, -5, 80),
    Function("log{}(x)", math.log, 1, 1e-30, 1e30),
    Function("log2{}(x)", math.log2, 1, 1e-3, 1e3),
    Function("log10{}(x)", math.log10, 2, 1e-3, 1e3),
    Function("log1p{}(x)", math.log1p, 1, -0.9, 1e3),
    Function("sqrt{}(x)", math.sqrt, 0, 0, 1e30),
    Function("rsqrt{}(x)", lambda x: 1 / math.sqrt(x), 2, 1e-30, 1e30),
    Function("cbrt{}(x)", math.cbrt if hasattr(math, "cbrt") else np.cbrt, 1, -1e9, 1e9),
    Function("erf{}(x)", math.erf, 2, -4, 4),
    Function("erfc{}(x)", math.erfc, 5, -4, 8),
    Function("tgamma{}(x)", math.gamma, 10, 0.1, 30),
    Function("lgamma{}(x)", math.lgamma, 6, 3, 1e4),
    Function("pow{}(x, y)", math.pow, 4, 1e-3, 1e3),
    Function("fmod{}(x, y)", math.fmod, 0, -1e3, 1e3),
    Function("remainder{}(x, y)", math.remainder, 0, -1e3, 1e3),
    Function("atan2{}(x, y)", math.atan2, 3, -1e3, 1e3),
    Function("hypot{}(x, y)", math.hypot, 3, -1e3, 1e3),
    Function("floor{}(x)", math.floor, 0, -1e3, 1e3),
    Function("ceil{}(x)", math.ceil, 0, -1e3, 1e3),
    Function("rint{}(x)", lambda x: float(round(x)), 0, -1e3, 1e3),
    Function("trunc{}(x)", lambda x: float(math.trunc(x)), 0, -1e3, 1e3),
    Function("fma{0}(x, y, x)", lambda x, y: x * y + x, 1, -1e3, 1e3),
)
_KERNEL = """
extern "C" __global__ void k(const T* xs, const T* ys, T* out) {{
    int i = threadIdx.x + blockIdx.x * blockDim.x, n = gridDim.x * blockDim.x;
    T x, y = ys[i];
{}
}}
"""


def _run(text: str, args: list[np.ndarray], engine: str, grid: int = N // 64) -> None:
    kernel = wg.compile(text, "k", language="cuda")
    if engine == "gpu":
        wg.run(kernel, grid, 64, args, device="gpu")
        return
    with engine_mode(engine):
        wg.run(kernel, grid, 64, args, device="cpu")


@pytest.mark.sampled(quick=8, ci=7)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("part", range(4))
def test_functions_are_as_accurate_as_documented(part: int, dtype: type, engine: str):
    rng = np.random.default_rng(part)
    chosen = _FUNCTIONS[part::4]
    single = dtype is np.float32
    xs = np.concatenate([rng.uniform(one.low, one.high, N) for one in chosen]).astype(dtype)
    ys = rng.uniform(0.5, 3, N).astype(dtype)
    out = np.zeros(len(xs), dtype)
    suffix = "f" if single else ""
    lines = [
        f"    x = xs[{k} * n + i]; out[{k} * n + i] = {one.call.format(suffix)};"
        for k, one in enumerate(chosen)
    ]
    text = f"typedef {'float' if single else 'double'} T;" + _KERNEL.format("\n".join(lines))
    _run(text, [xs, ys, out], engine)
    for k, one in enumerate(chosen):
        part_of = slice(k * N, (k + 1) * N)
        wide = [float(x) for x in xs[part_of]]
        pairs = zip(wide, ys.tolist(), strict=True)
        want = [one.exact(x, y) if ", y" in one.call else one.exact(x) for x, y in pairs]
        # Python's functions are the reference: in double precision they have an error of their own.
        room = one.ulps + (0.51 if single else 1) if one.ulps else 0
        error = np.abs(out[part_of].astype(np.float64) - np.array(want)) / np.spacing(
            np.abs(np.array(want, dtype))
        )
        if not one.ulps:
            error = np.abs(out[part_of] - np.array(want, dtype))
        assert error.max() <= room, f"{one.call}: {error.max()} at {wide[int(error.argmax())]}"


_HALVES = """
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void k(const TYPE* a, const TYPE* b, const TYPE* c, TYPE* sum, TYPE* product,
                             TYPE* fused, TYPE* least, float* wide, unsigned char* less) {
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    TYPE2 x = {a[2 * i], a[2 * i + 1]}, y = {b[2 * i], b[2 * i + 1]}, z = {c[2 * i], c[2 * i + 1]};
    TYPE2 s = __hadd2(x, y), p = __hmul2(x, y), f = __hfma2(x, y, z), m = __hmin2(x, y);
    sum[2 * i] = s.x; sum[2 * i + 1] = s.y;
    product[2 * i] = p.x; product[2 * i + 1] = p.y;
    fused[2 * i] = f.x; fused[2 * i + 1] = f.y;
    least[2 * i] = m.x; least[2 * i + 1] = m.y;
    wide[2 * i] = TOFLOAT(x.x / y.x); wide[2 * i + 1] = TOFLOAT(TYPE(TOFLOAT(x.y)));
    less[2 * i] = x.x < y.x; less[2 * i + 1] = __hlt(x.y, y.y);
}
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_half_arithmetic_equals_numpy(engine: str):
    rng = np.random.default_rng(7)
    a, b, c = (rng.normal(0, 8, N).astype(np.float16) for _ in range(3))
    sums, products, fused, least = (np.zeros(N, np.float16) for _ in range(4))
    wide, less = np.zeros(N, np.float32), np.zeros(N, np.uint8)
    text = _HALVES.replace("TYPE2", "__half2").replace("TYPE", "__half").replace("TOFLOAT", "__half2float")
    _run(text, [a, b, c, sums, products, fused, least, wide, less], engine, grid=N // 128)
    assert np.array_equal(sums, a + b)
    assert np.array_equal(products, a * b)
    # A product of halves and its sum with a third are exact in double precision here.
    exact = a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)
    assert np.array_equal(fused, exact.astype(np.float16))
    assert np.array_equal(least, np.minimum(a, b))
    assert np.array_equal(wide[1::2], a[1::2].astype(np.float32))
    assert np.array_equal(wide[::2], (a[::2] / b[::2]).astype(np.float32))
    assert np.array_equal(less, (a < b).astype(np.uint8))


@pytest.mark.parametrize("engine", ENGINES)
def test_bfloat_arithmetic_rounds_once(engine: str):
    rng = np.random.default_rng(8)
    a, b, c = (_bfloat(rng.normal(0, 8, N)) for _ in range(3))
    sums, products, fused, least = (np.zeros(N, np.uint16) for _ in range(4))
    wide, less = np.zeros(N, np.float32), np.zeros(N, np.uint8)
    text = _HALVES.replace("TYPE2", "__nv_bfloat162").replace("TYPE", "__nv_bfloat16")
    _run(
        text.replace("TOFLOAT", "__bfloat162float"),
        [a, b, c, sums, products, fused, least, wide, less],
        engine,
        N // 128,
    )
    x, y, z = (_value(one) for one in (a, b, c))
    assert np.array_equal(sums, _bfloat(x + y))
    assert np.array_equal(products, _bfloat(x * y))
    assert np.array_equal(fused, _bfloat(x * y + z))
    assert np.array_equal(least, _bfloat(np.minimum(x, y)))
    assert np.array_equal(wide[1::2], x[1::2].astype(np.float32))
    assert np.array_equal(less, (x < y).astype(np.uint8))


def _value(pattern: np.ndarray) -> np.ndarray:
    return (pattern.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def _bfloat(value: np.ndarray) -> np.ndarray:
    """The nearest patterns, of numbers that a single holds exactly or that lie far from ties."""
    bits = value.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


_FAST = """
extern "C" __global__ void k(const float* xs, const float* ys, float* out) {
    int i = threadIdx.x + blockIdx.x * blockDim.x, n = gridDim.x * blockDim.x;
    float x = xs[i], y = ys[i], s, c;
    out[i] = __expf(x); out[n + i] = __fdividef(x, y); out[2 * n + i] = __sinf(x); out[3 * n + i] = __logf(y);
    sincosf(x, &s, &c);
    out[4 * n + i] = s; out[5 * n + i] = c; out[6 * n + i] = __powf(y, x);
}
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_fast_functions(engine: str):
    rng = np.random.default_rng(9)
    xs, ys = rng.uniform(-3, 3, N).astype(np.float32), rng.uniform(0.5, 3, N).astype(np.float32)
    out = np.zeros(7 * N, np.float32)
    _run(_FAST, [xs, ys, out], engine)
    x, y = xs.astype(np.float64), ys.astype(np.float64)
    exact = [np.exp(x), x / y, np.sin(x), np.log(y), np.sin(x), np.cos(x), y**x]
    for k, want in enumerate(exact):
        assert np.allclose(out[k * N : (k + 1) * N], want, rtol=2e-6, atol=2**-20.5), k
