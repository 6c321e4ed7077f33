"""numba.cuda of either package on the virtual device. Run under `warpglass run -m pytest`.

WARPGLASS_CHECKED names the package, numba_cuda or numba_cuda_mlir. Marks leave to one of them what the other
does not have, or has other words for.
"""

from __future__ import annotations

import importlib
import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

MLIR = os.environ.get("WARPGLASS_CHECKED") == "numba_cuda_mlir"
mlir_only = pytest.mark.skipif(not MLIR, reason="numba-cuda-mlir alone")
numba_only = pytest.mark.skipif(MLIR, reason="numba-cuda alone")
cuda: Any = importlib.import_module("numba_cuda_mlir.cuda" if MLIR else "numba.cuda")
TABLE = np.arange(8, dtype=np.float32) ** 2
POINT = np.dtype([("place", np.int32), ("weight", np.float64)], align=True)


@cuda.jit
def shift(x: Any, out: Any) -> None:
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + 1


@cuda.jit
def add(x: Any, y: Any, out: Any) -> None:
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def histogram(data: Any, counts: Any) -> None:
    i = cuda.grid(1)
    if i < data.size:
        cuda.atomic.add(counts, data[i], 1)


@mlir_only
def test_host_and_device_arrays() -> None:
    x = np.arange(1000, dtype=np.float32)
    out = np.zeros_like(x)
    add[8, 128](x, x, out)
    np.testing.assert_array_equal(out, 2 * x)
    stream = cuda.stream()
    there = cuda.to_device(x, stream=stream)
    result = cuda.device_array_like(x)
    start, end = cuda.event(), cuda.event()
    start.record(stream)
    add[8, 128, stream](there, there[:], result)
    end.record(stream)
    end.synchronize()
    assert cuda.event_elapsed_time(start, end) > 0
    np.testing.assert_array_equal(result.copy_to_host(stream=stream), 2 * x)


def test_memory_of_every_kind() -> None:
    x = np.arange(64, dtype=np.int32)
    out = np.zeros_like(x)
    shift[1, 64](x, out)
    np.testing.assert_array_equal(out, x + 1)
    for make in (cuda.device_array, cuda.mapped_array, cuda.managed_array, cuda.pinned_array):
        place = make(64, dtype=np.int32)
        shift.forall(64)(cuda.to_device(x), place)
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


@mlir_only
def test_arrays_of_others_are_used_in_place() -> None:
    class Foreign:
        def __init__(self, array: Any):
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    out = cuda.device_array(64, dtype=np.float32)
    x = cuda.to_device(np.ones(64, np.float32))
    add[1, 64](Foreign(x), cuda.as_cuda_array(Foreign(x)), Foreign(out))
    assert out.copy_to_host().tolist() == [2] * 64


@mlir_only
def test_atomics() -> None:
    data = np.random.default_rng(1).integers(0, 16, 5000).astype(np.int32)
    counts = np.zeros(16, np.int32)
    histogram[40, 128](data, counts)
    np.testing.assert_array_equal(counts, np.bincount(data, minlength=16))


@mlir_only
def test_records_and_constant_arrays() -> None:
    @cuda.jit
    def weigh(points: Any, out: Any) -> None:
        table = cuda.const.array_like(TABLE)
        i = cuda.grid(1)
        out[i] = points[i].weight * table[points[i].place]
        points[i].place = i

    points = np.zeros(8, POINT)
    points["place"], points["weight"] = np.arange(8)[::-1], 0.5
    out = np.zeros(8)
    weigh[1, 8](points, out)
    np.testing.assert_array_equal(out, 0.5 * TABLE[::-1])
    assert points["place"].tolist() == list(range(8))


@mlir_only
def test_shared_memory_shuffles_libdevice_and_complex_numbers() -> None:
    @cuda.jit
    def mix(x: Any, z: Any, out: Any) -> None:
        there = cuda.shared.array(0, dtype=np.float32)
        i = cuda.threadIdx.x
        there[i] = cuda.libdevice.fast_powf(x[i], np.float32(2)) + math.sqrt(x[i])
        cuda.syncthreads()
        out[i] = cuda.shfl_xor_sync(0xFFFFFFFF, there[31 - i], 31)
        z[i] = z[i] * (x[i] + 1j)

    x = np.full(32, 4, np.float32)
    z, out = np.ones(32, np.complex64), np.zeros(32, np.float32)
    mix[1, 32, 0, 128](x, z, out)
    np.testing.assert_array_equal(out, 18)
    np.testing.assert_array_equal(z, 4 + 1j)


@mlir_only
def test_halves() -> None:
    @cuda.jit
    def product(x: Any, y: Any) -> None:
        i = cuda.grid(1)
        y[i] = cuda.fp16.hfma(x[i], x[i], y[i])

    x, y = np.arange(8, dtype=np.float16) / 4, np.ones(8, np.float16)
    product[1, 8](x, y)
    np.testing.assert_array_equal(y, x * x + np.float16(1))


def test_cuda_source_is_linked() -> None:
    source = cuda.CUSource('extern "C" __device__ int twice(int* out, int x) { *out = 2 * x; return 0; }')
    twice = cuda.declare_device("twice", "int32(int32)", link=source)

    @cuda.jit
    def apply(out: Any) -> None:
        out[cuda.threadIdx.x] = twice(cuda.threadIdx.x)

    out = np.zeros(8, np.int32)
    apply[1, 8](out)
    assert out.tolist() == list(range(0, 16, 2))


@mlir_only
@pytest.mark.parametrize("kind", ["cu", "ptx"])
def test_code_of_others_is_linked(kind: str, tmp_path: Path) -> None:
    text = 'extern "C" __device__ int twice(int* out, int x) { *out = 2 * x; return 0; }'
    if kind == "ptx":
        program = importlib.import_module("cuda.core").Program
        options = importlib.import_module("cuda.core").ProgramOptions(
            arch="sm_90", relocatable_device_code=True
        )
        text = program(text, "c++", options).compile("ptx").code.decode()
    file = tmp_path / f"twice.{kind}"
    file.write_text(text, encoding="utf-8")
    twice = cuda.declare_device("twice", "int32(int32)", link=str(file))

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

    with pytest.raises(ValueError, match="Invalid value in kernel" if MLIR else "three"):
        refuse[1, 1](np.array([3]))


@mlir_only
def test_a_device_function_is_no_kernel() -> None:
    @cuda.jit(device=True)
    def helper(x: Any) -> Any:
        return x

    with pytest.raises((RuntimeError, SystemError)):  # the package loses its own message
        helper[1, 1](np.zeros(1))
    assert cuda.to_device(np.ones(3)).copy_to_host().tolist() == [1, 1, 1]


@numba_only
def test_registers_and_reduction() -> None:
    shift[1, 8](np.zeros(8, np.int32), np.zeros(8, np.int32))
    assert max(shift.get_regs_per_thread().values()) > 0
    total = cuda.reduce(lambda a, b: a + b)
    assert total(np.arange(1000, dtype=np.float64)) == 499500


def test_prints_and_says_what_it_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    @cuda.jit
    def hello() -> None:
        print("thread", cuda.threadIdx.x)  # noqa: T201  # the kernel prints

    hello[1, 2]()
    cuda.synchronize()
    assert capsys.readouterr().out == "thread 0\nthread 1\n"
    assert "vprintf" in next(iter(hello.inspect_asm().values()))


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


@mlir_only
def test_compiled_code_is_kept_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "from numba_cuda_mlir import cuda\n@cuda.jit(cache=True)\ndef fill(x):\n    x[cuda.grid(1)] = 7\n"
    (tmp_path / "filling.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    filling: Any = importlib.import_module("filling")
    for hits in (0, 1):
        x = np.zeros(8, np.int32)
        filling.fill[1, 8](x)
        assert x.tolist() == [7] * 8
        assert sum(filling.fill.stats.cache_hits.values()) == hits
        filling = importlib.reload(filling)
