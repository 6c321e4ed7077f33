"""Python kernels and what they call: device functions, closures, printing, random numbers, linked C++."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpglass as wg
from tests.source.refused import refused_by
from warpglass.source.numba_package import Package

Launch = Callable[..., None]
SCALE = 3
WEIGHTS = (0.25, 0.5, 0.25)


@pytest.mark.parametrize("inline", ["always", "never"])
def test_device_functions(cuda: Any, launch: Launch, inline: str) -> None:
    @cuda.jit(device=True, inline=inline)
    def blend(a, b, weight):
        return a * weight + b * (1 - weight)

    def kernel(x, y, out):
        i = cuda.grid(1)
        if i < x.shape[0]:
            out[i] = blend(x[i], y[i], 0.25)

    x, y, out = np.arange(40.0), np.ones(40), np.zeros(40)
    launch(kernel, 2, 32, x, y, out)
    np.testing.assert_array_equal(out, x * 0.25 + y * 0.75)


def test_device_functions_of_several_types(cuda: Any, launch: Launch) -> None:
    @cuda.jit(device=True)
    def double(a):
        return a + a

    def kernel(x, y, out):
        i = cuda.grid(1)
        out[i] = double(x[i]) + double(y[i])

    x, y, out = np.arange(32, dtype=np.int32), np.arange(32.0) / 2, np.zeros(32)
    launch(kernel, 1, 32, x, y, out)
    np.testing.assert_array_equal(out, 3.0 * x)


def test_device_functions_that_return_tuples(cuda: Any, launch: Launch) -> None:
    @cuda.jit(device=True)
    def parts(a):
        return a // 10, a % 10, a > 50

    def kernel(x, out):
        i = cuda.grid(1)
        tens, ones, large = parts(x[i])
        out[i] = ones * 10 + tens if large else -1

    x, out = np.arange(32) * 3, np.zeros(32, np.int64)
    launch(kernel, 1, 32, x, out)
    np.testing.assert_array_equal(out, np.where(x > 50, x % 10 * 10 + x // 10, -1))


def test_device_functions_that_write_arrays(cuda: Any, launch: Launch) -> None:
    @cuda.jit(device=True)
    def fill(row, value):
        for k in range(row.shape[0]):
            row[k] = value + k

    def kernel(out):
        i = cuda.grid(1)
        if i < out.shape[0]:
            fill(out[i], 10 * i)

    out = np.zeros((10, 5), np.int64)
    launch(kernel, 1, 32, out)
    np.testing.assert_array_equal(out, 10 * np.arange(10)[:, None] + np.arange(5))


def test_recursion(cuda: Any, launch: Launch) -> None:
    @cuda.jit(device=True)
    def steps(n):
        if n < 2:
            return 0
        if n % 2 == 0:
            return 1 + steps(n // 2)
        return 1 + steps(3 * n + 1)

    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = steps(x[i])

    def collatz(n: int) -> int:
        return 0 if n < 2 else 1 + collatz(n // 2 if n % 2 == 0 else 3 * n + 1)

    x, out = np.arange(1, 65), np.zeros(64, np.int64)
    launch(kernel, 2, 32, x, out)
    assert out.tolist() == [collatz(n) for n in x.tolist()]


def test_globals_and_closures(cuda: Any, launch: Launch) -> None:
    offset, table = 7, (1, 10, 100)

    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = x[i] * SCALE + offset + table[1] + table[i % 3]

    x, out = np.arange(32), np.zeros(32, np.int64)
    launch(kernel, 1, 32, x, out)
    np.testing.assert_array_equal(out, x * 3 + 17 + np.array(table)[np.arange(32) % 3])


def test_tuples_of_constants(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if 0 < i < x.shape[0] - 1:
            out[i] = x[i - 1] * WEIGHTS[0] + x[i] * WEIGHTS[1] + x[i + 1] * WEIGHTS[2]

    x, out = np.arange(64.0) ** 2, np.zeros(64)
    launch(kernel, 2, 32, x, out)
    np.testing.assert_array_equal(out[1:-1], x[:-2] * 0.25 + x[1:-1] * 0.5 + x[2:] * 0.25)


def test_loops(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        total = 0
        for k in range(1, x[i], 2):
            if k == 15:
                continue
            if k > 30:
                break
            total += k
        else:
            total += 1000
        n = x[i]
        while n > 0 and total < 5000:
            total += n % 7
            n //= 2
        out[i] = total

    def wanted(value: int) -> int:
        total = sum(k for k in range(1, min(value, 31), 2) if k != 15) + (1000 if value <= 31 else 0)
        while value > 0 and total < 5000:
            total += value % 7
            value //= 2
        return total

    x, out = np.arange(64), np.zeros(64, np.int64)
    launch(kernel, 2, 32, x, out)
    assert out.tolist() == [wanted(int(value)) for value in x]


def test_nested_conditions(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if x[i] % 2:
            if x[i] % 3:
                out[i] = 1
            elif x[i] % 5:
                out[i] = 2
            else:
                out[i] = 3
        else:
            out[i] = 4 if x[i] % 3 and x[i] % 5 else (5 if x[i] < 10 or x[i] > 50 else 6)

    x, out = np.arange(64), np.zeros(64, np.int64)
    launch(kernel, 2, 32, x, out)
    even = np.where((x % 3 > 0) & (x % 5 > 0), 4, np.where((x < 10) | (x > 50), 5, 6))
    odd = np.where(x % 3 > 0, 1, np.where(x % 5 > 0, 2, 3))
    np.testing.assert_array_equal(out, np.where(x % 2 > 0, odd, even))


def test_printing(cuda: Any, launch: Launch, capsys: pytest.CaptureFixture[str]) -> None:
    def kernel(x):
        i = cuda.grid(1)
        if i < x.shape[0]:
            print(i, "is", x[i], -3)  # noqa: T201

    launch(kernel, 2, 2, np.array([1.5, -2.0, 4.0]))
    lines = capsys.readouterr().out.splitlines()
    assert lines[: len(lines) // 2] == ["0 is 1.500000 -3", "1 is -2.000000 -3", "2 is 4.000000 -3"]


def test_random_numbers(package: Package, cuda: Any, launch: Launch) -> None:
    import importlib

    random = importlib.import_module(package.modules["cuda"] + ".random")
    uniform = random.xoroshiro128p_uniform_float64
    normal = random.xoroshiro128p_normal_float32

    def kernel(states, out, more):
        i = cuda.grid(1)
        if i < out.shape[0]:
            out[i] = uniform(states, i)
            more[i] = normal(states, i)

    states = np.zeros(100, [("s0", np.uint64), ("s1", np.uint64)])
    states["s0"] = np.random.default_rng(1).integers(1, 2**63, 100)
    states["s1"] = np.random.default_rng(2).integers(1, 2**63, 100)
    out, more = np.zeros(100), np.zeros(100, np.float32)
    wanted = [((int(s0) + int(s1)) % 2**64 >> 11) / 2**53 for s0, s1 in states.tolist()]
    with refused_by(package, "numba-cuda-mlir"):
        launch(kernel, 4, 32, states, out, more)
        assert out.tolist() == wanted
        assert abs(float(more.mean())) < 0.4
        assert 0.7 < float(more.std()) < 1.3


def test_linked_functions(package: Package, cuda: Any, launch: Launch, tmp_path: Path) -> None:
    file = tmp_path / "twice.cu"
    file.write_text('extern "C" __device__ int twice(int* out, int a) { *out = 2 * a; return 0; }\n')
    twice = cuda.declare_device("twice", "int32(int32)", link=str(file))

    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = twice(x[i])

    x, out = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    with refused_by(package, "numba-cuda-mlir"):  # asks the driver
        launch(kernel, 1, 32, x, out)
        np.testing.assert_array_equal(out, 2 * x)


def test_linked_functions_that_do_not_compile(cuda: Any, tmp_path: Path) -> None:
    file = tmp_path / "broken.cu"
    file.write_text('extern "C" __device__ int broken(int* out, int a) { return b; }\n')
    broken = cuda.declare_device("broken", "int32(int32)", link=str(file))

    def kernel(x):
        x[cuda.grid(1)] = broken(x[0])

    with pytest.raises(wg.CompileError):
        wg.from_numba(kernel).compile((np.zeros(3, np.int32),))


# ---------------------------------------------------------------------------------------- exceptions
def line_of(text: str) -> int:
    """The line of this file that carries a mark."""
    lines = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.rstrip().endswith(f"# {text}"))


def said(package: Package, line: int, tid: int, ctaid: int, message: str, short: str) -> str:
    """The message of a package for an exception in a function `kernel` of this file."""
    if package.name == "numba-cuda-mlir":
        return short
    place = f"In function 'kernel', file {__file__}, line {line}, "
    return f"{place}tid=[0, 0, {tid}] ctaid=[0, 0, {ctaid}]" + (f": {message}" if message else "")


def test_an_exception(package: Package, cuda: Any, launch: Launch) -> None:
    @cuda.jit(debug=True, opt=False)
    def kernel(x, out):
        i = cuda.grid(1)
        if x[i] == 37:
            raise ValueError("thirty-seven")  # marked raise
        out[i] = x[i]

    x, out = np.arange(64), np.zeros(64, np.int64)
    with pytest.raises(ValueError, match="kernel|thirty") as caught:
        launch(kernel, 2, 32, x, out)
    wanted = said(package, line_of("marked raise"), 5, 1, "thirty-seven", "Invalid value in kernel")
    assert str(caught.value) == wanted
    assert type(caught.value) is ValueError
    assert caught.value.__notes__ == ["raised by kernel kernel"]
    launch(kernel, 1, 32, x, out)  # the device is as it was, and the exception is forgotten
    np.testing.assert_array_equal(out[:32], x[:32])


ASSERTING = """
from {package} import cuda

@cuda.jit(debug=True, opt=False)
def kernel(x, out):
    i = cuda.grid(1)
    assert x[i] < 20, "too large"
    out[i] = x[i]
"""


def test_an_assertion(package: Package, tmp_path: Path) -> None:
    file = tmp_path / "asserting.py"  # pytest rewrites the assertions of its own files
    file.write_text(ASSERTING.format(package=package.modules[""]))
    x, out = np.zeros(64, np.int64), np.zeros(64, np.int64)
    x[40] = 20
    with pytest.raises(AssertionError) as caught:
        wg.run(wg.load(file), 2, 32, (x, out), device="cpu")
    place = f"In function 'kernel', file {file}, line 7, tid=[0, 0, 8] ctaid=[0, 0, 1]: too large"
    mlir = package.name == "numba-cuda-mlir"
    assert str(caught.value) == ("Kernel assertion failed" if mlir else place)


def test_division_by_zero(package: Package, cuda: Any, launch: Launch) -> None:
    @cuda.jit(debug=True, opt=False)
    def kernel(x, out):
        i = cuda.grid(1)
        out[i] = 100 // x[i]

    x, out = np.ones(64, np.int64), np.zeros(64, np.int64)
    x[33] = 0
    if package.name == "numba-cuda-mlir":  # does not look
        launch(kernel, 2, 32, x, out)
        np.testing.assert_array_equal(np.delete(out, 33), 100)
    else:
        with pytest.raises(ZeroDivisionError) as caught:
            launch(kernel, 2, 32, x, out)
        # numba-cuda knows no line here
        assert str(caught.value) == "tid=[0, 0, 1] ctaid=[0, 0, 1]: integer division by zero"


def test_a_step_of_zero(package: Package, cuda: Any, launch: Launch) -> None:
    @cuda.jit(debug=True, opt=False)
    def kernel(x, out):
        i = cuda.grid(1)
        for k in range(0, 10, x[i]):
            out[i] += k
            if k > 5:
                break

    x, out = np.ones(64, np.int64), np.zeros(64, np.int64)
    x[33] = 0
    kind, message = ValueError, "range() arg 3 must not be zero"
    if package.name == "numba-cuda-mlir":
        kind, message = ZeroDivisionError, "Division by zero in kernel"
    with pytest.raises(kind) as caught:
        launch(kernel, 2, 32, x, out)
    assert str(caught.value).endswith(message)


def test_exceptions_of_other_classes(package: Package, cuda: Any, launch: Launch) -> None:
    class Unhappy(Exception):
        """An exception of the user's own."""

    @cuda.jit(debug=True, opt=False)
    def kernel(x):
        raise Unhappy(7, "of", "9")  # marked class

    # numba-cuda-mlir makes RuntimeError of what it does not know
    kind = RuntimeError if package.name == "numba-cuda-mlir" else Unhappy
    with pytest.raises(kind) as caught:
        launch(kernel, 1, 1, np.zeros(1))
    assert caught.value.args[0] == said(
        package, line_of("marked class"), 0, 0, "7", "Runtime error in kernel"
    )
    assert caught.value.args[1:] == (() if kind is RuntimeError else ("of", "9"))


def test_without_debugging_nothing_is_raised(cuda: Any, launch: Launch) -> None:
    def kernel(x, out):
        i = cuda.grid(1)
        if x[i] == 3:
            raise ValueError("three")
        out[i] = x[i]

    x, out = np.arange(32), np.full(32, -1)
    launch(kernel, 1, 32, x, out)
    np.testing.assert_array_equal(np.delete(out, 3), np.delete(x, 3))


def test_the_first_exception_counts(package: Package, cuda: Any, launch: Launch) -> None:
    @cuda.jit(debug=True, opt=False)
    def kernel(x, out):
        i = cuda.grid(1)
        if x[i] < 0:
            raise IndexError("negative")
        if x[i] > 50:
            raise OverflowError("large")
        out[i] = math.sqrt(x[i])

    x, out = np.arange(-3.0, 61), np.zeros(64)
    with pytest.raises(IndexError):
        launch(kernel, 1, 32, x[:32], out[:32])
    kind = RuntimeError if package.name == "numba-cuda-mlir" else OverflowError
    with pytest.raises(kind):
        launch(kernel, 1, 32, x[32:], out[32:])
