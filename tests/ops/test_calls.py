"""What calls take and refuse, on the engine; arrays of GPUs are in test_gpu.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import warpglass as wg
from warpglass import ops

pytestmark = pytest.mark.turns(3)

X = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: ops.sum(X, 2), "sum: axis 2: x has 2 dimensions"),
        (lambda: ops.sum(X, (0, -2)), r"sum: axis \(0, -2\) names an axis twice"),
        (lambda: ops.sum(X, 0.5), "axis 0.5: it may be None"),
        (lambda: ops.sum(X + 1j), "sum: x has the type complex128; operations take bool, int8"),
        (lambda: ops.sum(X.astype(">f8")), "x has the type >f8.*newbyteorder"),
        (lambda: ops.sum(["a"]), "x has the type <U1"),
        (lambda: ops.sum([[1], [2, 3]]), "x is no array of numbers"),
        (lambda: ops.sum(np.ma.array([1, 2], mask=[False, True])), "x is a masked array"),
        (lambda: ops.sum(X, dtype="complex64"), "dtype 'complex64': a result has one of int8"),
        (lambda: ops.sum(X, device="tpu"), "sum: device 'tpu'; it may be 'cpu' or 'gpu'"),
        (lambda: ops.dot(X[0], X[0, :3]), "dot: x has 4 elements, y 3"),
        (lambda: ops.dot(X[None], X), "dot: x has 3 dimensions, y 2"),
        (
            lambda: ops.matmul(X, X),
            r"matmul: a has shape \(3, 4\), b \(3, 4\): 4 columns do not go with 3 rows",
        ),
        (lambda: ops.matmul(X, 2), "matmul: b is a single number"),
        (lambda: ops.matmul(np.ones((2, 1, 1)), np.ones((3, 1, 1))), "cannot be broadcast"),
        (lambda: ops.sort(X, 5), "sort: axis 5: x has 2 dimensions"),
        (lambda: ops.transpose(X, (0, 0)), r"transpose: axes \(0, 0\): x has the axes 0 to 1"),
        (lambda: ops.histogram(X, 0), "histogram: bins is 0"),
        (lambda: ops.histogram(X, 3, (2, 1)), "two finite numbers in ascending order"),
        (lambda: ops.histogram(X, [1.0]), "histogram: bins has shape"),
        (lambda: ops.histogram(X, [1, 2], (0, 1)), "edges have their own"),
        (lambda: ops.convolve1d(X[0], X), "convolve1d: mask has shape"),
        (lambda: ops.convolve1d(X[0], [1.0], mode="wrap"), "mode 'wrap'; there is: same, full, valid"),
        (lambda: ops.convolve2d(X[0], X), "convolve2d: x has shape"),
        (lambda: ops.rgb_to_grey(X), "rgb_to_grey: rgb is of float64"),
        (
            lambda: ops.blur(np.zeros((2, 2), np.uint8), 8),
            "blur: reach is 8; it must be a whole number from 0 to 7",
        ),
        (lambda: ops.blur(np.zeros((2, 2, 5), np.uint8)), "blur: image is of uint8 and shape"),
    ],
)
def test_refusals(call: Callable[[], Any], complaint: str) -> None:
    with pytest.raises(wg.ArgumentError, match=complaint):
        call()


def test_out_is_filled_and_returned() -> None:
    held = np.zeros((4, 6))
    out = held.T[1:4]
    assert ops.transpose(X.T, out=out) is out
    np.testing.assert_array_equal(held[:, 1:4].T, X)
    total = np.zeros(())
    assert ops.sum(X, out=total) is total
    assert total == 66
    counts = np.zeros(3, np.int64)
    assert ops.histogram(X, 3, out=counts)[0] is counts
    assert counts.sum() == 12


def test_out_may_be_an_operand() -> None:
    x = X.copy()
    ops.cumsum(x, 1, out=x)
    np.testing.assert_array_equal(x, X.cumsum(1))
    ops.sort(x[:, ::-1], out=x)
    np.testing.assert_array_equal(x, X.cumsum(1))


@pytest.mark.parametrize(
    ("out", "complaint"),
    [
        (np.zeros(3), r"sum: out has shape \(3,\) and type float64; the result has \(\) and float64"),
        (np.zeros((), np.float32), "type float32; the result has"),
        (np.broadcast_to(np.zeros(1), (1,)).reshape(()), "out is read-only"),
        ([0.0], "out is a list"),
    ],
)
def test_out_is_refused_untouched(out: Any, complaint: str) -> None:
    if isinstance(out, np.ndarray) and "read-only" in complaint:
        out.flags.writeable = False
    before = np.array(out)
    with pytest.raises(wg.ArgumentError, match=complaint):
        ops.sum(X, out=out)
    np.testing.assert_array_equal(out, before)


def test_a_gpu_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPGLASS_DEVICE", "cpu")
    with pytest.raises(wg.ArgumentError, match=r"^sum: device 'gpu': WARPGLASS_DEVICE=cpu hides the GPUs$"):
        ops.sum(X, device="gpu")


def test_edges_that_descend() -> None:
    with pytest.raises(wg.ArgumentError, match=r"bins\[1\] is 2 and bins\[2\] is 1; edges must be in asc"):
        ops.histogram(X, [0, 2, 1])


def test_whatever_numpy_takes() -> None:
    assert ops.sum(3) == 3
    assert ops.sum([[1, 2], [3, 4]], axis=0).tolist() == [4, 6]
    assert ops.dot([1, 2], (3, 4)) == 11
    assert ops.sum(np.matrix([[1, 2]])) == 3
    assert isinstance(ops.sum(X), np.float64)
    assert ops.sum(X, dtype=np.float32).dtype == np.float32
    assert ops.sum(np.ones(300, np.uint8), dtype="uint8") == 44


def test_operands_are_left_alone() -> None:
    x = X.copy()
    x.flags.writeable = False
    for result in (ops.sort(x), ops.cumsum(x), ops.transpose(x), ops.matmul(x, x.T)):
        assert not np.shares_memory(result, x)
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize("start", range(1, 4))
def test_views_that_begin_anywhere(start: int) -> None:
    x = (np.arange(901) % 7).astype(np.float32)[start:]  # sums are exact
    assert ops.sum(x) == x.sum()
    assert ops.dot(x, x[::-1]) == x @ x[::-1]
    np.testing.assert_array_equal(ops.cumsum(x), x.cumsum())
    np.testing.assert_array_equal(ops.sort(x), np.sort(x))
    np.testing.assert_array_equal(ops.histogram(x, 9)[0], np.histogram(x, 9)[0])
    np.testing.assert_array_equal(ops.convolve1d(x, [1.0, 2, 3]), np.convolve(x, [1, 2, 3], "same"))
    a = x[:800].reshape(20, 40)
    np.testing.assert_array_equal(ops.transpose(a), a.T)
    np.testing.assert_array_equal(ops.matmul(a[:, :20], a), a[:, :20] @ a)
    pixels = np.arange(901, dtype=np.uint8)[start:][:810].reshape(15, 18, 3)
    np.testing.assert_array_equal(ops.rgb_to_grey(pixels), ops.rgb_to_grey(pixels.copy()))
    np.testing.assert_array_equal(ops.blur(pixels), ops.blur(pixels.copy()))


def test_memory_maps(tmp_path: Any) -> None:
    np.save(tmp_path / "x.npy", X)
    x = np.load(tmp_path / "x.npy", mmap_mode="r")
    np.testing.assert_array_equal(ops.cumsum(x, 0), X.cumsum(0))
