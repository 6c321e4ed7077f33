"""Virtual cuBLASLt as C calls it. Run under `warpglass run -m pytest`."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from support import OnDevice, call, close, library, random

from warpglass.libraries.cublas import float8

F32, F16, BF16, E4M3 = 0, 2, 14, 28
COMPUTE_F32 = 68
TRANSA, TRANSB, EPILOGUE, BIAS, AUX, AUX_LD = 3, 4, 7, 8, 11, 12
A_SCALE, AMAX = 17, 21
ORDER, COUNT, STRIDE = 1, 5, 6


@pytest.fixture
def blas() -> Any:
    return library("libcublasLt.so.13")


@pytest.fixture
def handle(blas: Any) -> ctypes.c_void_p:
    made = ctypes.c_void_p()
    assert blas.cublasLtCreate(ctypes.byref(made)) == 0
    return made


def attributes(blas: Any, kind: str, descriptor: Any, given: dict[int, Any]) -> None:
    function = getattr(blas, f"cublasLt{kind}SetAttribute")
    for attribute, value in given.items():
        wide = isinstance(value, OnDevice) or attribute in (AUX_LD, STRIDE)
        number = (ctypes.c_int64 if wide else ctypes.c_int32)(int(value))
        assert function(descriptor, attribute, ctypes.byref(number), ctypes.sizeof(number)) == 0


def product(blas: Any, **given: Any) -> Any:
    made = ctypes.c_void_p()
    assert blas.cublasLtMatmulDescCreate(ctypes.byref(made), COMPUTE_F32, F32) == 0
    attributes(blas, "MatmulDesc", made, {globals()[name]: value for name, value in given.items()})
    return made


def layout(blas: Any, kind: int, rows: int, columns: int, leading: int, **given: int) -> Any:
    """One that lies where the program keeps it, as those of Init do."""
    made = (ctypes.c_uint64 * 8)()
    assert call(blas.cublasLtMatrixLayoutInit_internal, made, 64, kind, rows, columns, leading) == 0
    attributes(blas, "MatrixLayout", made, {globals()[name]: value for name, value in given.items()})
    return made


def multiply(blas: Any, handle: Any, how: Any, alpha: float, beta: float, *parts: Any) -> int:
    (a, one), (b, two), (c, three), (d, four) = parts
    factors = np.float32(alpha), np.float32(beta)
    given = how, factors[0], a, one, b, two, factors[1], c, three, d, four, None, None, 0, None
    return call(blas.cublasLtMatmul, handle, *given)


def test_transposed_batches_with_bias_and_relu(blas: Any, handle: Any) -> None:
    a, b, bias = random((2, 5, 4), "f4"), random((2, 5, 3), "f4", 2), random((4,), "f4", 3)
    on_a, on_b = (OnDevice(np.concatenate([one.T.ravel() for one in part])) for part in (a, b))
    c, on_bias = OnDevice(np.ones(24, "f4")), OnDevice(bias)
    how = product(blas, TRANSA=1, EPILOGUE=2 | 4, BIAS=on_bias)
    # What is stored by columns is the transpose of the C-ordered one that was raveled.
    parts = [
        (on_a, layout(blas, F32, 5, 4, 5, COUNT=2, STRIDE=20)),
        (on_b, layout(blas, F32, 5, 3, 5, COUNT=2, STRIDE=15)),
        *2 * [(c, layout(blas, F32, 4, 3, 4, COUNT=2, STRIDE=12))],
    ]
    count, results = ctypes.c_int32(), (ctypes.c_uint8 * 96)()
    found = call(
        *(blas.cublasLtMatmulAlgoGetHeuristic, handle, how, *(one for _, one in parts), None, 1),
        *(results, ctypes.byref(count)),
    )
    assert (found, count.value) == (0, 1)
    assert multiply(blas, handle, how, 2, 0.5, *parts) == 0
    for number in range(2):
        right = np.maximum(2 * a[number].T @ b[number] + 0.5 + bias[:, None], 0)
        close(c.now[12 * number :][:12].reshape(3, 4).T, right)


def test_matrices_by_rows_and_what_gelu_keeps(blas: Any, handle: Any) -> None:
    a, b = random((3, 4), "f4"), random((4, 2), "f4", 2)
    on = OnDevice(a.ravel()), OnDevice(b.ravel())
    d, aux = OnDevice(np.zeros(6, "f2")), OnDevice(np.zeros(6, "f2"))
    layouts = [layout(blas, F32, 3, 4, 4, ORDER=1), layout(blas, F32, 4, 2, 2, ORDER=1)]
    result = layout(blas, F16, 3, 2, 2, ORDER=1)
    how = product(blas, EPILOGUE=32 | 128, AUX=aux, AUX_LD=3)
    parts = (on[0], layouts[0]), (on[1], layouts[1]), (d, result), (d, result)
    assert multiply(blas, handle, how, 1, 0, *parts) == 0
    x = a @ b
    np.testing.assert_allclose(aux.now.reshape(2, 3).T, x, rtol=1e-3, atol=1e-3)
    right = 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))
    np.testing.assert_allclose(d.now.reshape(3, 2), right, rtol=2e-3, atol=2e-3)


def test_8_bit_floats_with_scales(blas: Any, handle: Any) -> None:
    values = np.array([[1.5, -2], [0.001953125, 448]], "f4")
    codes = OnDevice(float8.encode(values, E4M3))
    np.testing.assert_array_equal(float8.decode(codes.now, E4M3), values)
    np.testing.assert_array_equal(
        float8.encode(np.array([500, -1e9, 17, np.nan]), E4M3) & 0x7F, [126, 126, 88, 127]
    )
    scale, largest = OnDevice(np.array([0.5], "f4")), OnDevice(np.zeros(1, "f4"))
    d = OnDevice(np.zeros((2, 2), "u2"))
    small, result = layout(blas, E4M3, 2, 2, 2), layout(blas, BF16, 2, 2, 2)
    how = product(blas, TRANSA=1, A_SCALE=scale, AMAX=largest)
    parts = (codes, small), (codes, small), (d, result), (d, result)
    assert multiply(blas, handle, how, 1, 0, *parts) == 0
    right = 0.5 * values.T @ values
    np.testing.assert_allclose((d.now.astype("u4") << 16).view("f4"), right, rtol=4e-3)
    assert largest.now[0] == np.abs(right).max()


def test_what_is_not_there_is_said(blas: Any, handle: Any) -> None:
    one = layout(blas, F32, 2, 3, 2)
    parts = [(OnDevice(np.zeros(6, "f4")), one)] * 4
    assert multiply(blas, handle, product(blas), 1, 0, *parts) == 7  # 2 x 3 by 2 x 3
    assert multiply(blas, handle, product(blas, EPILOGUE=2 | 128), 1, 0, *parts) == 15
    assert multiply(blas, None, product(blas), 1, 0, *parts) == 1
    short = ctypes.c_int16()
    assert blas.cublasLtMatrixLayoutSetAttribute(one, ORDER, ctypes.byref(short), 2) == 7
