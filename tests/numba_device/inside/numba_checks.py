"""numba.cuda (numba-cuda) on the virtual device. Run under `warpglass run -m pytest`."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

cuda: Any = importlib.import_module("numba.cuda")


@cuda.jit
def shift(x: Any, out: Any) -> None:
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + 1


def test_memory_of_every_kind() -> None:
    x = np.arange(64, dtype=np.int32)
    out = np.zeros_like(x)
    shift[1, 64](x, out)
    np.testing.assert_array_equal(out, x + 1)
    for make in (cuda.device_array, cuda.mapped_array, cuda.managed_array):
        place = make(64, dtype=np.int32)
        shift[1, 64](cuda.to_device(x), place)
        cuda.synchronize()
        seen = place.copy_to_host() if make is cuda.device_array else place
        np.testing.assert_array_equal(seen, x + 1)
    with cuda.pinned(out):
        cuda.to_device(x).copy_to_host(out)
    np.testing.assert_array_equal(out, x)


def test_strided_views_of_device_arrays() -> None:
    x = cuda.to_device(np.arange(64, dtype=np.int32).reshape(8, 8))
    out = cuda.device_array(8, dtype=np.int32)
    shift[1, 8](x[:, 2], out)
    np.testing.assert_array_equal(out.copy_to_host(), np.arange(8) * 8 + 3)


def test_cuda_source_is_linked() -> None:
    source = cuda.CUSource('extern "C" __device__ int twice(int* out, int x) { *out = 2 * x; return 0; }')
    twice = cuda.declare_device("twice", "int32(int32)", link=source)

    @cuda.jit
    def apply(out: Any) -> None:
        out[cuda.threadIdx.x] = twice(cuda.threadIdx.x)

    out = np.zeros(8, np.int32)
    apply[1, 8](out)
    assert out.tolist() == list(range(0, 16, 2))


def test_grids_are_synchronised() -> None:
    @cuda.jit("void(int32[:, ::1])")
    def rows(matrix: Any) -> None:
        column = cuda.grid(1)
        grid = cuda.cg.this_grid()
        for row in range(1, matrix.shape[0]):
            matrix[row, column] = matrix[row - 1, matrix.shape[1] - column - 1] + 1
            grid.sync()

    matrix = np.zeros((16, 64), np.int32)
    rows[2, 32](matrix)
    np.testing.assert_array_equal(matrix[:, 0], np.arange(16))


def test_a_kernels_exception_is_raised() -> None:
    @cuda.jit(debug=True, opt=False)
    def refuse(x: Any) -> None:
        if x[0] == 3:
            raise ValueError("three")

    with pytest.raises(ValueError, match="three"):
        refuse[1, 1](np.array([3]))


def test_registers_and_reduction() -> None:
    shift[1, 8](np.zeros(8, np.int32), np.zeros(8, np.int32))
    assert max(shift.get_regs_per_thread().values()) > 0
    total = cuda.reduce(lambda a, b: a + b)
    assert total(np.arange(1000, dtype=np.float64)) == 499500


def test_prints(capsys: pytest.CaptureFixture[str]) -> None:
    @cuda.jit
    def hello() -> None:
        print("thread", cuda.threadIdx.x)  # noqa: T201  # the kernel prints

    hello[1, 2]()
    cuda.synchronize()
    assert capsys.readouterr().out == "thread 0\nthread 1\n"


def test_launches_that_repeat_with_other_strides() -> None:
    @cuda.jit("void(float32[:], float32[:])")  # any strides
    def double(x: Any, out: Any) -> None:
        i = cuda.grid(1)
        if i < out.size:
            out[i] = 2 * x[i]

    x = np.arange(256, dtype=np.float32)
    there, out = cuda.to_device(x), cuda.device_array(128, np.float32)
    parts = there[:128], there[::2]
    for repeat in range(12):
        strided = repeat % 4 == 3
        double[1, 128](parts[strided], out)
        np.testing.assert_array_equal(out.copy_to_host(), 2 * (x[::2] if strided else x[:128]))
