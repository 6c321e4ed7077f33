"""Python kernels over every type that they can take: numbers, records, tuples, enums, dates."""

from __future__ import annotations

import enum
import typing
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.source.refused import refused_by
from warpglass.errors import CompileError, KernelFault
from warpglass.source.numba_package import Package

Launch = Callable[..., None]

INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
FLOATS = [np.float16, np.float32, np.float64]
COMPLEX = [np.complex64, np.complex128]
N = 70


def integers(dtype: Any, seed: int = 1) -> np.ndarray[Any, Any]:
    """Random integers over the type's whole range, its ends included."""
    info = np.iinfo(dtype)
    values = np.random.default_rng(seed).integers(info.min, info.max, N, dtype, endpoint=True)
    values[:2] = info.min, info.max
    return values


def numbers(dtype: Any, seed: int = 1) -> np.ndarray[Any, Any]:
    """Random numbers of any type."""
    kind = np.dtype(dtype).kind
    if kind in "iu":
        return integers(dtype, seed)
    rng = np.random.default_rng(seed)
    if kind == "c":
        return (rng.normal(size=N) + 1j * rng.normal(size=N)).astype(dtype)
    if kind == "b":
        return rng.integers(0, 2, N).astype(dtype)
    return (rng.normal(size=N) * 100).astype(dtype)


@pytest.mark.parametrize("dtype", [*INTEGERS, *FLOATS, *COMPLEX, np.bool_])
def test_copying(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = x[x.shape[0] - 1 - i]

    x, out = numbers(dtype), np.zeros(N, dtype)
    launch(kernel, 3, 32, x, out)
    np.testing.assert_array_equal(out, x[::-1])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_arithmetic(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[0, i] = x[i] + y[i]
            out[1, i] = x[i] - y[i]
            out[2, i] = x[i] * y[i]
            out[3, i] = x[i] & y[i]
            out[4, i] = x[i] | y[i]
            out[5, i] = x[i] ^ y[i]
            out[6, i] = ~x[i]
            out[7, i] = x[i] << 3
            out[8, i] = x[i] >> 3

    x, y, out = integers(dtype), integers(dtype, 2), np.zeros((9, N), dtype)
    launch(kernel, 3, 32, x, y, out)
    three = dtype(3)
    wanted = [x + y, x - y, x * y, x & y, x | y, x ^ y, ~x, x << three, x >> three]
    np.testing.assert_array_equal(out, np.array(wanted))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_division(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, y, quotients, remainders):
        i = cuda.grid(1)
        if i < x.shape[0]:
            quotients[i] = x[i] // y[i]
            remainders[i] = x[i] % y[i]

    x, y = integers(dtype), integers(dtype, 2)
    y[y == 0] = 3
    quotients, remainders = np.zeros(N, dtype), np.zeros(N, dtype)
    launch(kernel, 3, 32, x, y, quotients, remainders)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(quotients, x // y)
    np.testing.assert_array_equal(remainders, x % y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float_arithmetic(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[0, i] = x[i] + y[i]
            out[1, i] = x[i] - y[i]
            out[2, i] = x[i] * y[i]
            out[3, i] = x[i] / y[i]
            out[4, i] = -x[i]
            out[5, i] = abs(x[i])
            out[6, i] = min(x[i], y[i])
            out[7, i] = max(x[i], y[i])

    x, y, out = numbers(dtype), numbers(dtype, 2), np.zeros((8, N), dtype)
    launch(kernel, 3, 32, x, y, out)
    wanted = [x + y, x - y, x * y, x / y, -x, abs(x), np.minimum(x, y), np.maximum(x, y)]
    np.testing.assert_array_equal(out, np.array(wanted, dtype))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float_floor_division(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, y, quotients, remainders):
        i = cuda.grid(1)
        if i < x.shape[0]:
            quotients[i] = x[i] // y[i]
            remainders[i] = x[i] % y[i]

    x, y = numbers(dtype), numbers(dtype, 2)
    quotients, remainders = np.zeros(N, dtype), np.zeros(N, dtype)
    launch(kernel, 3, 32, x, y, quotients, remainders)
    np.testing.assert_array_equal(quotients, x // y)
    # numba-cuda computes x - y * trunc(x / y), which loses the digits that the quotient has
    np.testing.assert_allclose(remainders, x % y, atol=200 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", [*INTEGERS, np.float32, np.float64])
def test_comparisons(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[0, i] = x[i] < y[i]
            out[1, i] = x[i] <= y[i]
            out[2, i] = x[i] > y[i]
            out[3, i] = x[i] >= y[i]
            out[4, i] = x[i] == y[i]
            out[5, i] = x[i] != y[i]

    x, y, out = numbers(dtype), numbers(dtype, 2), np.zeros((6, N), np.bool_)
    y[::5] = x[::5]
    launch(kernel, 3, 32, x, y, out)
    np.testing.assert_array_equal(out, np.array([x < y, x <= y, x > y, x >= y, x == y, x != y]))


@pytest.mark.parametrize("source", [*INTEGERS, np.float32, np.float64])
def test_conversions(cuda: Any, launch: Launch, source: Any) -> None:
    def kernel(x, i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, flag):
        i = cuda.grid(1)
        if i < x.shape[0]:
            i8[i] = x[i]
            u8[i] = x[i]
            i16[i] = x[i]
            u16[i] = x[i]
            i32[i] = x[i]
            u32[i] = x[i]
            i64[i] = x[i]
            u64[i] = x[i]
            f32[i] = x[i]
            f64[i] = x[i]
            flag[i] = x[i] != 0

    x = numbers(source)
    if np.dtype(source).kind == "f":
        x = np.abs(x) % 100  # what does not fit is undefined
    types = [*INTEGERS[:1], np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
    outs = [np.zeros(N, dtype) for dtype in (*types, np.float32, np.float64, np.bool_)]
    launch(kernel, 3, 32, x, *outs)
    for out in outs:
        np.testing.assert_array_equal(out, x.astype(out.dtype))


def test_booleans(cuda: Any, launch: Launch) -> None:
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[0, i] = x[i] and y[i]
            out[1, i] = x[i] or y[i]
            out[2, i] = not x[i]
            out[3, i] = x[i] ^ y[i]

    x, y, out = numbers(np.bool_), numbers(np.bool_, 2), np.zeros((4, N), np.bool_)
    launch(kernel, 3, 32, x, y, out)
    np.testing.assert_array_equal(out, np.array([x & y, x | y, ~x, x ^ y]))


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_arithmetic(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[0, i] = x[i] + y[i]
            out[1, i] = x[i] - y[i]
            out[2, i] = x[i] * y[i]
            out[3, i] = x[i] / y[i]
            out[4, i] = x[i].conjugate()
            out[5, i] = complex(x[i].imag, x[i].real)
            out[6, i] = -x[i]

    x, y, out = numbers(dtype), numbers(dtype, 2), np.zeros((7, N), dtype)
    launch(kernel, 3, 32, x, y, out)
    swapped = x.imag + 1j * x.real
    wanted = np.array([x + y, x - y, x * y, x / y, x.conj(), swapped, -x])
    np.testing.assert_allclose(out, wanted, rtol=20 * np.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", COMPLEX)
def test_complex_magnitude(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = abs(x[i])

    x = numbers(dtype)
    out = np.zeros(N, x.real.dtype)
    launch(kernel, 3, 32, x, out)
    np.testing.assert_allclose(out, np.abs(x), rtol=4 * np.finfo(dtype).eps)


def test_scalar_arguments_of_every_type(cuda: Any, launch: Launch) -> None:
    def kernel(a, b, c, d, e, f, g, h, i, j, k, out):
        out[0] = a
        out[1] = b
        out[2] = c
        out[3] = d
        out[4] = e
        out[5] = f
        out[6] = g
        out[7] = h
        out[8] = i
        out[9] = j
        out[10] = k

    values = [
        *(np.int8(-3), np.int16(-300), np.int32(-70000), np.int64(-(2**40)), np.uint8(200)),
        *(np.uint16(60000), np.uint32(2**32 - 1), np.uint64(2**52 + 1), np.float32(1.5), 2.25, True),
    ]
    out = np.zeros(11)
    launch(kernel, 1, 1, *values, out)
    assert out.tolist() == [float(value) for value in values]


def test_half_scalars(cuda: Any, launch: Launch) -> None:
    def kernel(h, x, out):
        out[0] = h
        out[1] = x[0] + h

    out = np.zeros(2, np.float32)
    launch(kernel, 1, 1, np.float16(1.5), np.array([0.25], np.float16), out)
    assert out.tolist() == [1.5, 1.75]


def test_complex_scalars(cuda: Any, launch: Launch) -> None:
    def kernel(a, b, out):
        out[0] = a
        out[1] = b
        out[2] = a * b

    out = np.zeros(3, np.complex128)
    launch(kernel, 1, 1, np.complex64(1 + 2j), 3 - 4j, out)
    assert out.tolist() == [1 + 2j, 3 - 4j, 11 + 2j]


# ---------------------------------------------------------------------------------------- records
PLAIN = np.dtype([("a", np.int32), ("b", np.float64), ("c", np.uint8)], align=True)
PACKED = np.dtype([("a", np.uint8), ("b", np.float32), ("c", np.int16)])
NESTED = np.dtype([("p", [("x", np.float32), ("y", np.float32)]), ("w", np.int64)], align=True)
WITH_ARRAY = np.dtype([("n", np.int32), ("v", np.float64, (3,))], align=True)


def records(dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An array of records, every field random."""
    out = np.zeros(N, dtype)
    rng = np.random.default_rng(3)
    for name in dtype.names or ():
        field = out[name]
        if field.dtype.names:
            for inner in field.dtype.names:
                field[inner] = rng.integers(0, 100, N)
        else:
            field[...] = rng.integers(0, 100, field.shape)
    return out


@pytest.mark.parametrize("align", [True, False], ids=["aligned", "packed"])
def test_records(cuda: Any, launch: Launch, align: bool) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i].a = x[i].c
            out[i].b = x[i].b * 2
            out[i].c = x[i].a

    dtype = np.dtype([("a", np.int32), ("c", np.int32), ("b", np.float64)], align=align)
    x, out = records(dtype), np.zeros(N, dtype)
    launch(kernel, 3, 32, x, out)
    np.testing.assert_array_equal(out["a"], x["c"])
    np.testing.assert_array_equal(out["b"], x["b"] * 2)
    np.testing.assert_array_equal(out["c"], x["a"])


def test_records_with_padding(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = x[i].a + x[i]["b"] + x[i].c

    x, out = records(PLAIN), np.zeros(N)
    launch(kernel, 3, 32, x, out)
    np.testing.assert_array_equal(out, x["a"] + x["b"] + x["c"])


def test_records_out_of_alignment_are_refused(package: Package, cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = x[i].a + x[i].b + x[i].c

    error, said = CompileError, "is not aligned"
    if package.name == "numba-cuda-mlir":  # compiles it into accesses that no GPU makes
        error, said = KernelFault, "byte 1 of x, whose address is no multiple of 4"
    with pytest.raises(error, match=said):
        launch(kernel, 3, 32, records(PACKED), np.zeros(N))


def test_whole_records(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = x[x.shape[0] - 1 - i]

    x, out = records(PLAIN), np.zeros(N, PLAIN)
    launch(kernel, 3, 32, x, out)
    assert out.tolist() == x[::-1].tolist()


def test_nested_records(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = x[i].p.x + 2 * x[i].p.y + x[i].w

    x, out = records(NESTED), np.zeros(N)
    launch(kernel, 3, 32, x, out)
    np.testing.assert_array_equal(out, x["p"]["x"] + 2 * x["p"]["y"] + x["w"])


def test_arrays_in_records(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            total = 0.0
            for k in range(x[i].n % 4):
                total += x[i].v[k]
            out[i] = total

    x, out = records(WITH_ARRAY), np.zeros(N)
    launch(kernel, 3, 32, x, out)
    wanted = [sum(record["v"][: record["n"] % 4]) for record in x]
    np.testing.assert_array_equal(out, wanted)


def test_record_arguments(cuda: Any, launch: Launch) -> None:
    def kernel(record, out):
        out[0] = record.a
        out[1] = record.b
        out[2] = record.c

    out = np.zeros(3)
    record = np.array([(7, 2.5, 200)], PLAIN)[0]
    launch(kernel, 1, 1, record, out)
    assert out.tolist() == [7, 2.5, 200]


# ---------------------------------------------------------------------------------------- tuples and more
class Point(typing.NamedTuple):
    x: Any
    y: Any


class Colour(enum.Enum):
    RED = 3
    BLUE = 5


class Shade(enum.IntEnum):
    DARK = 2
    LIGHT = 8


def test_tuples_in_kernels(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        pair = (x[i], x[i] * 2)
        first, second = pair
        triple = (*pair, first + second)
        out[i] = triple[0] + 10 * triple[1] + 100 * triple[2] + len(triple)

    x, out = np.arange(32), np.zeros(32, np.int64)
    launch(kernel, 1, 32, x, out)
    np.testing.assert_array_equal(out, x + 20 * x + 300 * x + 3)


def test_tuple_arguments(cuda: Any, launch: Launch) -> None:
    def kernel(pair, out):
        out[0] = pair[0]
        out[1] = pair[1]

    out = np.zeros(2)
    launch(kernel, 1, 1, (3, 4.5), out)
    assert out.tolist() == [3, 4.5]


def test_tuples_of_arrays(cuda: Any, launch: Launch) -> None:
    def kernel(arrays, out):
        i = cuda.grid(1)
        out[i] = arrays[0][i] + arrays[1][i]

    x, y, out = np.arange(32.0), np.arange(32.0) * 3, np.zeros(32)
    launch(kernel, 1, 32, (x, y), out)
    np.testing.assert_array_equal(out, x + y)


def test_nested_tuple_arguments(cuda: Any, launch: Launch) -> None:
    def kernel(nested, out):
        out[0] = nested[0]
        out[1] = nested[1][0]
        out[2] = nested[1][1][2]

    out = np.zeros(3)
    launch(kernel, 1, 1, (1, (2.5, np.arange(3.0) + 7)), out)
    assert out.tolist() == [1, 2.5, 9]


def test_namedtuple_arguments(cuda: Any, launch: Launch) -> None:
    def kernel(point, out):
        out[0] = point.x
        out[1] = point.y[2]

    out = np.zeros(2)
    launch(kernel, 1, 1, Point(2.5, np.arange(4)), out)
    assert out.tolist() == [2.5, 2]


def test_namedtuples_in_kernels(package: Package, cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        point = Point(x[i], x[i] + 1)
        out[i] = point.x * point.y

    x, out = np.arange(32), np.zeros(32, np.int64)
    with refused_by(package, "numba-cuda-mlir"):
        launch(kernel, 1, 32, x, out)
        np.testing.assert_array_equal(out, x * (x + 1))


def test_enums_in_kernels(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        colour = Colour.RED if x[i] > 3 else Colour.BLUE
        out[i] = colour.value + Shade.LIGHT

    x, out = np.arange(32), np.zeros(32, np.int64)
    launch(kernel, 1, 32, x, out)
    np.testing.assert_array_equal(out, np.where(x > 3, 3, 5) + 8)


def test_enum_arguments(cuda: Any, launch: Launch) -> None:
    def kernel(colour, shade, out):
        out[0] = colour == Colour.RED
        out[1] = shade == Shade.LIGHT

    out = np.zeros(2, np.int64)
    launch(kernel, 1, 1, Colour.RED, Shade.DARK, out)
    assert out.tolist() == [1, 0]


def test_dates(cuda: Any, launch: Launch) -> None:
    def kernel(start, end, out):
        i = cuda.grid(1)
        out[i] = end[i] - start[i]

    start = np.arange("2020-01-01", "2020-02-02", dtype="datetime64[D]")
    end = start[::-1].copy()
    out = np.zeros(32, "timedelta64[D]")
    launch(kernel, 1, 32, start, end, out)
    np.testing.assert_array_equal(out, end - start)


def test_date_arguments(cuda: Any, launch: Launch) -> None:
    def kernel(start, step, out):
        out[0] = start + step

    out = np.zeros(1, "datetime64[s]")
    launch(kernel, 1, 1, np.datetime64("2021-03-04T05:06:07", "s"), np.timedelta64(9, "s"), out)
    assert out[0] == np.datetime64("2021-03-04T05:06:16", "s")
