"""Python kernels and their arrays: dimensions, layouts, views, indices, constant, shared and local memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.source.refused import refused_by
from warpglass.errors import KernelFault
from warpglass.source.numba_package import Package

Launch = Callable[..., None]


def two_dimensional(layout: str) -> np.ndarray[Any, Any]:
    """A 6 x 10 array in each way of lying in memory."""
    base = np.arange(240.0).reshape(12, 20)
    views = {
        "C": np.ascontiguousarray(base[:6, :10]),
        "F": np.asfortranarray(base[:6, :10]),
        "rows": base[::2, :10],
        "columns": base[:6, ::2],
        "both": base[1:12:2, 1:20:2],
        "transposed": np.arange(240.0).reshape(20, 12)[:10, :6].T,
        "reversed": base[5::-1, 9::-1],
        "broadcast": np.broadcast_to(np.arange(10.0), (6, 10)),
    }
    return views[layout]


LAYOUTS = ["C", "F", "rows", "columns", "both", "transposed", "reversed", "broadcast"]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_reading_every_layout(cuda: Any, launch: Launch, layout: str) -> None:
    def kernel(x, out):
        i, j = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            out[i, j] = x[i, j] + 1

    x, out = two_dimensional(layout), np.zeros((6, 10))
    launch(kernel, (2, 3), (4, 4), x, out)
    np.testing.assert_array_equal(out, x + 1)


@pytest.mark.parametrize("layout", LAYOUTS[:-1])
def test_writing_every_layout(cuda: Any, launch: Launch, layout: str) -> None:
    def kernel(x, out):
        j, i = cuda.grid(2)
        if i < x.shape[0] and j < x.shape[1]:
            out[i, j] = x[i, j] * 2

    out = two_dimensional(layout)
    x = np.random.default_rng(0).normal(size=out.shape)
    around = out.base.copy() if out.base is not None else None
    launch(kernel, (3, 2), (4, 4), x, out)
    np.testing.assert_array_equal(out, x * 2)
    if around is not None:  # and nothing else
        assert np.count_nonzero(np.asarray(out.base) != around) <= out.size


@pytest.mark.parametrize("order", ["C", "F"])
def test_three_dimensions(cuda: Any, launch: Launch, order: Any) -> None:
    def kernel(x, out):
        i, j, k = cuda.grid(3)
        if i < x.shape[0] and j < x.shape[1] and k < x.shape[2]:
            out[k, j, i] = x[i, j, k]

    x = np.asarray(np.arange(105, dtype=np.int32).reshape(3, 5, 7), order=order)
    out = np.zeros((7, 5, 3), np.int32)
    launch(kernel, (2, 2, 2), (2, 4, 4), x, out)
    np.testing.assert_array_equal(out, x.T)


def test_three_dimensional_views(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i, j, k = cuda.grid(3)
        if i < x.shape[0] and j < x.shape[1] and k < x.shape[2]:
            out[i, j, k] += x[i, j, k]

    x = np.arange(480.0).reshape(6, 8, 10)[::2, 1::3, ::-2]
    out = np.ones((3, 3, 5, 2))[..., 1]
    launch(kernel, (2, 2, 2), (2, 2, 4), x, out)
    np.testing.assert_array_equal(out, x + 1)


def test_four_dimensions(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        n = cuda.grid(1)
        if n < x.size:
            out[n] = x[n // 60, n // 20 % 3, n // 5 % 4, n % 5]

    x, out = np.arange(120).reshape(2, 3, 4, 5), np.zeros(120, np.int64)
    launch(kernel, 4, 32, x, out)
    np.testing.assert_array_equal(out, np.arange(120))


def test_no_dimension(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        out[()] = x[()] + 1

    x, out = np.array(4.0), np.array(0.0)
    launch(kernel, 1, 1, x, out)
    assert out == 5


def test_views_that_share_memory(cuda: Any, launch: Launch) -> None:
    def kernel(even, odd):
        i = cuda.grid(1)
        if i < even.shape[0]:
            odd[i] = even[i] * 10

    base = np.arange(20)
    launch(kernel, 1, 32, base[::2], base[1::2])
    np.testing.assert_array_equal(base[1::2], base[::2] * 10)


def test_one_kernel_serves_other_strides(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = x[i]

    decorated = cuda.jit(kernel)
    base = np.arange(100)
    for step in (2, 3, 7, -1, -5):
        x = base[::step]
        out = np.zeros(x.shape[0], np.int64)
        launch(decorated, 4, 32, x, out)
        np.testing.assert_array_equal(out, x)


# ---------------------------------------------------------------------------------------- indices
def test_attributes(cuda: Any, launch: Launch) -> None:
    def kernel(x, y, out):
        out[0] = x.shape[0]
        out[1] = x.shape[1]
        out[2] = x.size
        out[3] = x.ndim
        out[4] = len(y)

    out = np.zeros(5, np.int64)
    launch(kernel, 1, 1, np.zeros((6, 8), np.float32)[::2, ::4], np.zeros(9)[::2], out)
    assert out.tolist() == [3, 2, 6, 2, 5]


def test_strides(package: Package, cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        out[0] = x.strides[0]
        out[1] = x.strides[1]

    out = np.zeros(2, np.int64)
    with refused_by(package, "numba-cuda-mlir"):
        launch(kernel, 1, 1, np.zeros((6, 8), np.float32)[::2, ::4], out)
        assert out.tolist() == [64, 16]


def test_negative_indices(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = x[-1] + x[-1 - i]

    x, out = np.arange(40), np.zeros(40, np.int64)
    launch(kernel, 2, 32, x, out)
    np.testing.assert_array_equal(out, 39 + x[::-1])


def test_negative_indices_in_two_dimensions(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = x[-1 - i, -2]

    x, out = np.arange(60).reshape(10, 6), np.zeros(10, np.int64)
    launch(kernel, 1, 32, x, out)
    np.testing.assert_array_equal(out, x[::-1, -2])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64])
def test_indices_of_every_type(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, index, out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = x[index[i]]

    x = np.arange(100) * 3
    index = np.random.default_rng(1).integers(0, 100, 70).astype(dtype)
    if np.dtype(dtype).kind == "i":
        index[::7] = -1
    out = np.zeros(70, np.int64)
    launch(kernel, 3, 32, x, index, out)
    np.testing.assert_array_equal(out, x[index])


def test_tuple_indices(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        place = cuda.grid(2)
        if place[0] < x.shape[0] and place[1] < x.shape[1]:
            out[place] = x[place] + 1

    x, out = np.arange(60.0).reshape(6, 10), np.zeros((6, 10))
    launch(kernel, (2, 3), (4, 4), x, out)
    np.testing.assert_array_equal(out, x + 1)


def test_rows(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            row = x[i]
            total = 0.0
            for j in range(len(row)):
                total += row[j]
            out[i] = total

    x, out = np.arange(60.0).reshape(10, 6), np.zeros(10)
    launch(kernel, 1, 32, x, out)
    np.testing.assert_array_equal(out, x.sum(1))


def test_columns_and_slices(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[1]:
            column = x[:, i]
            part = column[1:5]  # numba-cuda-mlir 0.6 does not wrap a negative bound
            every = column[::2]
            out[0, i] = part.shape[0]
            out[1, i] = part[0] + part[-1]
            out[2, i] = every[1]

    x, out = np.arange(60.0).reshape(6, 10), np.zeros((3, 10))
    launch(kernel, 1, 32, x, out)
    wanted = [np.full(10, 4), x[1] + x[4], x[2]]
    np.testing.assert_array_equal(out, wanted)


def test_writing_to_slices(cuda: Any, launch: Launch) -> None:
    def kernel(out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            row = out[i, 1:4]
            for j in range(row.shape[0]):
                row[j] = 10 * i + j

    out = np.zeros((10, 6), np.int64)
    launch(kernel, 1, 32, out)
    wanted = np.zeros((10, 6), np.int64)
    wanted[:, 1:4] = 10 * np.arange(10)[:, None] + np.arange(3)
    np.testing.assert_array_equal(out, wanted)


def test_assigning_a_scalar_to_a_slice(package: Package, cuda: Any, launch: Launch) -> None:
    def kernel(out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i, ::2] = i

    out = np.full((10, 6), -1)
    wanted = np.full((10, 6), -1)
    wanted[:, ::2] = np.arange(10)[:, None]
    with refused_by(package, "numba-cuda-mlir"):
        launch(kernel, 1, 32, out)
        np.testing.assert_array_equal(out, wanted)


def test_iteration(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            total = 0
            for value in x[i]:
                total += value
            for row in range(x.shape[0]):
                total += row
            out[i] = total

    x, out = np.arange(60).reshape(10, 6), np.zeros(10, np.int64)
    launch(kernel, 1, 32, x, out)
    np.testing.assert_array_equal(out, x.sum(1) + 45)


def test_indices_beyond_32_bits(cuda: Any, launch: Launch) -> None:
    def kernel(x, far, out):
        i = cuda.grid(1)
        out[i] = x[i + far - 2**40]

    x, out = np.arange(32), np.zeros(32, np.int64)
    launch(kernel, 1, 32, x, 2**40, out)
    np.testing.assert_array_equal(out, x)


def test_a_long_stride(cuda: Any, launch: Launch) -> None:
    def kernel(x):
        i = cuda.grid(1)
        if i < x.shape[0]:
            x[i] = i

    base = np.zeros(1 << 22, np.uint8)
    launch(kernel, 1, 32, base[:: 1 << 17])
    assert base[:: 1 << 17].tolist() == list(range(32))
    assert np.count_nonzero(base) == 31


def test_grid_strides(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        for i in range(cuda.grid(1), x.shape[0], cuda.gridsize(1)):
            out[i] = x[i] * 2

    x, out = np.arange(1000.0), np.zeros(1000)
    launch(kernel, 3, 64, x, out)
    np.testing.assert_array_equal(out, x * 2)


def test_an_index_past_the_end_is_found(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = x[i, 5]

    with pytest.raises(KernelFault, match=r"read of x\[10, 5\], but x has shape \(10, 6\)"):
        launch(kernel, 1, 32, np.zeros((10, 6)), np.zeros(32))


# ---------------------------------------------------------------------------------------- memory spaces
TABLE = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.int32)
PICTURE = np.arange(12.0).reshape(3, 4)


def test_constant_arrays(cuda: Any, launch: Launch) -> None:
    def kernel(out):
        i = cuda.grid(1)
        table = cuda.const.array_like(TABLE)
        out[i] = table[i % 8] * 10 + table[0]

    out = np.zeros(32, np.int64)
    launch(kernel, 1, 32, out)
    np.testing.assert_array_equal(out, np.tile(TABLE, 4) * 10 + 3)


def test_constant_arrays_of_two_dimensions(cuda: Any, launch: Launch) -> None:
    def kernel(out):
        i = cuda.grid(1)
        picture = cuda.const.array_like(PICTURE)
        out[i] = picture[i % 3, i // 3] if i < 12 else picture.shape[1]

    out = np.zeros(32)
    launch(kernel, 1, 32, out)
    np.testing.assert_array_equal(out, [*PICTURE.T.ravel(), *[4] * 20])


def test_global_arrays(cuda: Any, launch: Launch) -> None:
    def kernel(out):
        i = cuda.grid(1)
        out[i] = TABLE[i % 8] + PICTURE[2, 1]

    out = np.zeros(32)
    launch(kernel, 1, 32, out)
    np.testing.assert_array_equal(out, np.tile(TABLE, 4) + 9.0)


SHARED = [np.int8, np.int32, np.uint64, np.float16, np.float32, np.complex128, np.bool_]


@pytest.mark.parametrize("dtype", SHARED)
def test_shared_arrays(cuda: Any, launch: Launch, dtype: Any) -> None:
    def kernel(x, out):
        tile = cuda.shared.array(64, dtype)
        i = cuda.threadIdx.x
        tile[i] = x[cuda.grid(1)]
        cuda.syncthreads()
        out[cuda.grid(1)] = tile[63 - i]

    x = np.random.default_rng(1).integers(0, 100, 128).astype(dtype)
    out = np.zeros(128, dtype)
    launch(kernel, 2, 64, x, out)
    np.testing.assert_array_equal(out, x.reshape(2, 64)[:, ::-1].ravel())


def test_shared_arrays_of_two_dimensions(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        tile = cuda.shared.array((16, 17), np.float32)
        i, j = cuda.threadIdx.y, cuda.threadIdx.x
        tile[i, j] = x[cuda.blockIdx.y * 16 + i, cuda.blockIdx.x * 16 + j]
        cuda.syncthreads()
        out[cuda.blockIdx.x * 16 + i, cuda.blockIdx.y * 16 + j] = tile[j, i]

    x = np.random.default_rng(1).normal(size=(32, 48)).astype(np.float32)
    out = np.zeros((48, 32), np.float32)
    launch(kernel, (3, 2), (16, 16), x, out)
    np.testing.assert_array_equal(out, x.T)


def test_dynamic_shared_arrays(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        tile = cuda.shared.array(0, np.float32)
        i = cuda.threadIdx.x
        tile[i] = x[i]
        cuda.syncthreads()
        out[i] = tile[cuda.blockDim.x - 1 - i]

    x, out = np.arange(96, dtype=np.float32), np.zeros(96, np.float32)
    launch(kernel, 1, 96, x, out, shared=96 * 4)
    np.testing.assert_array_equal(out, x[::-1])


def test_dynamic_shared_arrays_overlap(cuda: Any, launch: Launch) -> None:
    def kernel(out):
        words = cuda.shared.array(0, np.uint32)
        halves = cuda.shared.array(0, np.uint16)
        i = cuda.threadIdx.x
        words[i] = i * 65536 + i + 100
        cuda.syncthreads()
        out[2 * i] = halves[2 * i]
        out[2 * i + 1] = halves[2 * i + 1]

    out = np.zeros(64, np.int64)
    launch(kernel, 1, 32, out, shared=128)
    np.testing.assert_array_equal(out[::2], np.arange(32) + 100)
    np.testing.assert_array_equal(out[1::2], np.arange(32))


PARTICLE = np.dtype([("x", np.float32), ("n", np.int32)], align=True)


def record_type(package: Package) -> Any:
    """The package's type of PARTICLE."""
    import importlib

    place = "numba_cuda_mlir.numba_cuda" if package.name == "numba-cuda-mlir" else "numba.cuda"
    return importlib.import_module(f"{place}.np.numpy_support").from_dtype(PARTICLE)


def test_shared_records(package: Package, cuda: Any, launch: Launch) -> None:
    particle = record_type(package)

    def kernel(x, out):
        tile = cuda.shared.array(32, particle)
        i = cuda.threadIdx.x
        tile[i].x = x[i]
        tile[i].n = i
        cuda.syncthreads()
        out[i] = tile[31 - i].x + tile[31 - i].n

    x, out = np.arange(32.0), np.zeros(32)
    with refused_by(package, "numba-cuda-mlir"):
        launch(kernel, 1, 32, x, out)
        np.testing.assert_array_equal(out, 2 * x[::-1])


def test_local_arrays(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        window = cuda.local.array(5, np.float64)
        i = cuda.grid(1)
        for k in range(5):
            window[k] = x[(i + k) % x.shape[0]]
        for k in range(4):  # sorted by exchange
            for m in range(4 - k):
                if window[m] > window[m + 1]:
                    window[m], window[m + 1] = window[m + 1], window[m]
        out[i] = window[2]

    x, out = np.random.default_rng(1).normal(size=64), np.zeros(64)
    launch(kernel, 2, 32, x, out)
    windows = np.stack([np.roll(x, -k) for k in range(5)])
    np.testing.assert_array_equal(out, np.median(windows, axis=0))


def test_local_arrays_with_other_indices_per_thread(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        counts = cuda.local.array((4, 4), np.int32)
        i = cuda.grid(1)
        for k in range(16):
            counts[k // 4, k % 4] = 0
        for k in range(x.shape[1]):
            counts[x[i, k] // 4, x[i, k] % 4] += 1
        for k in range(16):
            out[i, k] = counts[k // 4, k % 4]

    x = np.random.default_rng(1).integers(0, 16, (64, 30))
    out = np.zeros((64, 16), np.int64)
    launch(kernel, 2, 32, x, out)
    np.testing.assert_array_equal(out, [np.bincount(row, minlength=16) for row in x])


def test_local_records(package: Package, cuda: Any, launch: Launch) -> None:
    particle = record_type(package)

    def kernel(x, out):
        own = cuda.local.array(3, particle)
        i = cuda.grid(1)
        for k in range(3):
            own[k].x = x[i] + k
            own[k].n = k
        out[i] = own[i % 3].x * 10 + own[i % 3].n

    x, out = np.arange(32.0), np.zeros(32)
    with refused_by(package, "numba-cuda-mlir"):
        launch(kernel, 1, 32, x, out)
        third = np.arange(32) % 3
        np.testing.assert_array_equal(out, (x + third) * 10 + third)


def test_reshape(package: Package, cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if i < x.size:
            flat = x.reshape(x.size)
            out[i] = flat[i]

    x, out = np.arange(60.0).reshape(6, 10), np.zeros(60)
    with refused_by(package, "numba-cuda-mlir"):
        launch(kernel, 2, 32, x, out)
        np.testing.assert_array_equal(out, x.ravel())
