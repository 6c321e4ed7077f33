"""Virtual cuBLAS through its C functions, against NumPy. Run under `warpglass run -m pytest`."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import KINDS, OnDevice, call, close, library, random

N, T, C = 0, 1, 2


@pytest.fixture(scope="module")
def blas() -> Any:
    return library("libcublas.so.13")


@pytest.fixture
def handle(blas: Any) -> ctypes.c_void_p:
    made = ctypes.c_void_p()
    assert blas.cublasCreate_v2(ctypes.byref(made)) == 0
    return made


def turned(matrix: Any, how: int) -> Any:
    return (matrix, matrix.T, matrix.conj().T)[how]


@pytest.mark.parametrize("letter", KINDS)
@pytest.mark.parametrize("how", [(N, N), (T, N), (N, C), (C, T)])
def test_products(blas: Any, handle: Any, letter: str, how: tuple[int, int]) -> None:
    kind = np.dtype(KINDS[letter])
    a, b, c = random((5, 4), kind), random((4, 6), kind, 2), random((7, 6), kind, 3)
    on = [OnDevice(turned(a, how[0])), OnDevice(turned(b, how[1])), OnDevice(c)]
    alpha, beta = kind.type(2), kind.type(0.5)
    arguments = (alpha, on[0], on[0].start.shape[0], on[1], on[1].start.shape[0], beta, on[2], 7)
    assert call(getattr(blas, f"cublas{letter}gemm_v2"), handle, *how, 5, 6, 4, *arguments) == 0
    close(on[2].now[:5], 2 * a @ b + c[:5] / 2)
    np.testing.assert_array_equal(on[2].now[5:], c[5:])  # beyond the rows nothing is written


def test_what_beta_0_makes_irrelevant_is_not_read(blas: Any, handle: Any) -> None:
    a, c = OnDevice(np.eye(2, dtype="f4")), OnDevice(np.full((2, 2), np.nan, "f4"))
    one, zero = np.float32(1), np.float32(0)
    assert call(blas.cublasSgemm_v2, handle, N, N, 2, 2, 2, one, a, 2, a, 2, zero, c, 2) == 0
    np.testing.assert_array_equal(c.now, np.eye(2))


@pytest.mark.parametrize("letter", KINDS)
def test_vectors(blas: Any, handle: Any, letter: str) -> None:
    kind = np.dtype(KINDS[letter])
    x, y = random((9,), kind), random((9,), kind, 2)
    on = OnDevice(x), OnDevice(y)
    assert call(getattr(blas, f"cublas{letter}axpy_v2"), handle, 3, kind.type(2), on[0], 2, on[1], 3) == 0
    right = y.copy()
    right[:9:3] += 2 * x[:5:2]
    close(on[1].now, right)
    result = np.zeros(1, kind.type(0).real.dtype)
    name = {"S": "S", "D": "D", "C": "Sc", "Z": "Dz"}[letter]
    assert (
        getattr(blas, f"cublas{name}nrm2_v2")(handle, 9, ctypes.c_void_p(int(on[0])), 1, result.ctypes) == 0
    )
    close(result[0], np.linalg.norm(x))
    place = np.zeros(1, "i4")
    function = getattr(blas, f"cublasI{letter.lower()}amax_v2")
    assert function(handle, 9, ctypes.c_void_p(int(on[0])), 1, place.ctypes) == 0
    assert place[0] == 1 + np.argmax(np.abs(x.real) + np.abs(x.imag))


def test_long_sums_are_as_exact_as_a_gpus(blas: Any, handle: Any) -> None:
    x = np.arange(1, 2**21 + 1) % 7 + np.float32(0.1)
    on, result = OnDevice(x.astype("f4")), np.zeros(1, "f4")
    right = np.dot(*2 * (x.astype("f4").astype("f8"),))
    assert blas.cublasSdot_v2(handle, len(x), *2 * (ctypes.c_void_p(int(on)), 1), result.ctypes) == 0
    assert result[0] == np.float32(right)
    assert blas.cublasSnrm2_v2(handle, len(x), ctypes.c_void_p(int(on)), 1, result.ctypes) == 0
    np.testing.assert_allclose(result[0], right**0.5, rtol=2e-7)


@pytest.mark.parametrize("letter", KINDS)
@pytest.mark.parametrize(("side", "upper", "how"), [(0, 0, N), (0, 1, T), (1, 0, C), (1, 1, N)])
def test_triangular_solutions(blas: Any, handle: Any, letter: str, side: int, upper: int, how: int) -> None:
    kind = np.dtype(KINDS[letter])
    a = random((4, 4), kind) + 4 * np.eye(4, dtype=kind)
    b = random((4, 4), kind, 2)
    on = OnDevice(a), OnDevice(b)
    arguments = (side, upper, how, 0, 4, 4, kind.type(3), on[0], 4, on[1], 4)
    assert call(getattr(blas, f"cublas{letter}trsm_v2"), handle, *arguments) == 0
    matrix = turned(np.triu(a) if upper else np.tril(a), how)
    found = on[1].now
    close(found @ matrix if side else matrix @ found, 3 * b)


@pytest.mark.parametrize("letter", KINDS)
def test_batches_of_factorisations(blas: Any, handle: Any, letter: str) -> None:
    pytest.importorskip("scipy")
    kind = np.dtype(KINDS[letter])
    matrices = [random((3, 3), kind, seed) for seed in range(4)]
    on, inverses = [OnDevice(one) for one in matrices], [OnDevice(0 * one) for one in matrices]
    places, targets = (OnDevice(np.array([int(one) for one in some], "u8")) for some in (on, inverses))
    pivots, info = OnDevice(np.zeros(12, "i4")), OnDevice(np.full(4, 9, "i4"))
    assert call(getattr(blas, f"cublas{letter}getrfBatched"), handle, 3, places, 3, pivots, info, 4) == 0
    function = getattr(blas, f"cublas{letter}getriBatched")
    assert call(function, handle, 3, places, 3, pivots, targets, 3, info, 4) == 0
    assert not info.now.any()
    for one, inverse in zip(matrices, inverses, strict=True):
        close(one @ inverse.now, np.eye(3))


@pytest.mark.parametrize("letter", KINDS)
def test_batches_of_least_squares(blas: Any, handle: Any, letter: str) -> None:
    pytest.importorskip("scipy")
    kind = np.dtype(KINDS[letter])
    matrices, rights = ([random((5, n), kind, seed + n) for seed in range(2)] for n in (3, 2))
    matrices[1][:, 2] = 0
    on, solutions = [OnDevice(one) for one in matrices], [OnDevice(one) for one in rights]
    places, targets = (OnDevice(np.array([int(one) for one in some], "u8")) for some in (on, solutions))
    info, singular = np.full(1, 9, "i4"), OnDevice(np.full(2, 9, "i4"))
    function = getattr(blas, f"cublas{letter}gelsBatched")
    assert call(function, handle, N, 5, 3, 2, places, 5, targets, 5, info, singular, 2) == 0
    assert (info[0], list(singular.now)) == (0, [0, 3])
    close(solutions[0].now[:3], np.linalg.lstsq(matrices[0], rights[0])[0])
    assert call(function, handle, T, 5, 3, 2, places, 5, targets, 5, info, singular, 2) == 15


def test_halves_and_bfloat16_are_summed_as_singles(blas: Any, handle: Any) -> None:
    a, b = random((4, 3), "f2"), random((3, 5), "f2", 2)
    on = OnDevice(a), OnDevice(b), OnDevice(np.zeros((4, 5), "f4"))
    one, zero = np.float32(1), np.float32(0)
    sides = (on[0], 2, 4, on[1], 2, 3, zero, on[2], 0, 4)
    assert call(blas.cublasGemmEx, handle, N, N, 4, 5, 3, one, *sides, 68, -1) == 0
    close(on[2].now, a.astype("f4") @ b.astype("f4"))
    target = OnDevice(np.zeros((4, 5), "u2"))
    sides = (on[0], 2, 4, on[1], 2, 3, zero, target, 14, 4)
    assert call(blas.cublasGemmEx, handle, N, N, 4, 5, 3, one, *sides, 68, -1) == 0
    found = (target.now.astype("u4") << 16).view("f4")
    np.testing.assert_allclose(found, on[2].now, rtol=2**-8)


def test_what_is_wrong_has_its_status(blas: Any, handle: Any, capfd: Any) -> None:
    a, one = OnDevice(np.eye(2, dtype="f4")), np.float32(1)
    assert call(blas.cublasSgemm_v2, handle, N, N, -1, 2, 2, one, a, 2, a, 2, one, a, 2) == 7
    assert (
        call(blas.cublasSgemm_v2, handle, N, N, 9, 9, 9, one, a, 9, a, 9, one, a, 9) == 7
    )  # leaves its array
    assert (
        call(blas.cublasSgemm_v2, 0, N, N, 2, 2, 2, one, a, 2, a, 2, one, a, 2) == 0
    )  # as no stream is asked
    assert blas.cublasSrotm_v2(handle) == 15
    assert blas.cublasSrotm_v2(handle) == 15
    said = capfd.readouterr().err
    assert said.count("cublasSrotm_v2: the virtual cuBLAS has no such function") == 1


def test_work_of_a_captured_stream_waits_for_its_graph(blas: Any, handle: Any) -> None:
    from support import device

    from warpglass.numba_device.calls import CALLS

    stream, graph, executable = (np.zeros(1, "u8") for _ in range(3))
    driver = {name: one.function for name, one in CALLS.items()}
    driver["cuStreamCreate"](device(), stream.ctypes.data, 0)
    assert blas.cublasSetStream_v2(handle, ctypes.c_void_p(int(stream[0]))) == 0
    x = OnDevice(np.ones(3))
    driver["cuStreamBeginCapture"](device(), int(stream[0]), 0)
    assert call(blas.cublasDscal_v2, handle, 3, np.float64(2), x, 1) == 0
    driver["cuStreamEndCapture"](device(), int(stream[0]), graph.ctypes.data)
    np.testing.assert_array_equal(x.now, 1)
    driver["cuGraphInstantiateWithFlags"](device(), executable.ctypes.data, int(graph[0]), 0)
    for times in (2, 4):
        driver["cuGraphLaunch"](device(), int(executable[0]), int(stream[0]))
        np.testing.assert_array_equal(x.now, times)
