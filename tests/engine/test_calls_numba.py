"""Device functions of Python kernels: calls, recursion, print, and exceptions in debug mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import warpglass as wg
from warpglass import lab

cuda: Any = pytest.importorskip("numba_cuda_mlir.cuda")


@cuda.jit(device=True)
def norm(x: Any, y: Any) -> Any:
    return (x * x + y * y) ** 0.5, x - y


@cuda.jit(device=True)
def factorial(n: Any) -> Any:
    if n < 2:
        return 1
    return n * factorial(n - 1)


@cuda.jit(device=True)
def fibonacci(n: Any) -> Any:
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


def two_results(x: Any, out: Any) -> None:
    i = cuda.grid(1)
    if i < x.shape[0]:
        length, distance = norm(x[i], 2.0)
        out[i] = length + 10 * distance


def recursive(out: Any) -> None:
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = factorial(i % 10) + fibonacci(i % 8)


def printing(x: Any) -> None:
    print("x is", x[cuda.grid(1)])  # noqa: T201


def raising(x: Any, out: Any) -> None:
    i = cuda.grid(1)
    if x[i] > 5:
        raise ValueError("too large")
    out[i] = x[i]


def test_several_results(mode: str) -> None:
    x, out = np.arange(40.0), np.zeros(40)
    wg.from_numba(two_results)[2, 32](x, out)
    np.testing.assert_allclose(out, np.sqrt(x * x + 4) + 10 * (x - 2), rtol=1e-15)


def test_recursion(mode: str) -> None:
    out = np.zeros(70, np.int64)
    wg.from_numba(recursive)[3, 32](out)
    fibonaccis = [0, 1, 1, 2, 3, 5, 8, 13]
    factorials = [1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880]
    assert out.tolist() == [factorials[i % 10] + fibonaccis[i % 8] for i in range(70)]


def test_print(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    wg.from_numba(printing)[2, 2](np.array([3.5, 1.0, 4.0, -1.0]))
    assert capsys.readouterr().out == "".join(f"x is {x:f}\n" for x in (3.5, 1, 4, -1))


def test_raising_disturbs_no_other_thread(mode: str) -> None:
    kernel = wg.from_numba(cuda.jit(debug=True, opt=False)(raising))
    x, out = np.arange(10.0), np.full(10, -1.0)
    with pytest.raises(ValueError, match="Invalid value in kernel"):
        lab.run(kernel, 1, 10, (x, out), device="cpu")
    assert out[:6].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
