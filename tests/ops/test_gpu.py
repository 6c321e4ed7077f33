"""Operations on arrays of GPUs: Numba's on the virtual one, others' where there is a real one."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from warpglass import ops

pytestmark = pytest.mark.turns(2)


def test_arrays_on_the_virtual_gpu() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.ops.on_virtual_gpu"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def library(name: str) -> tuple[Any, Any, Any]:
    """The library, how it takes a NumPy array to the GPU, and how back."""
    module: Any = pytest.importorskip(name)
    if name == "cupy":
        return module, module.asarray, module.asnumpy
    return module, lambda x: module.as_tensor(x, device="cuda"), lambda x: x.cpu().numpy()


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["cupy", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "uint8"])
def test_the_callers_arrays(name: str, dtype: str) -> None:
    _, to, back = library(name)
    x = np.random.default_rng(0).integers(0, 9, (300, 41)).astype(dtype)
    there = to(x)
    for found, expected in (
        (ops.sum(there), x.sum()),
        (ops.sum(there, 0), x.sum(0)),
        (ops.cumsum(there, 1), x.cumsum(1)),
        (ops.sort(there, 0), np.sort(x, 0)),
        (ops.argsort(there), np.argsort(x, kind="stable")),
        (ops.transpose(there), x.T),
        (ops.matmul(there, ops.transpose(there)), x @ x.T),
        (ops.histogram(there, 9, (0, 9))[0], np.histogram(x, 9, (0, 9))[0]),
    ):
        assert type(found) is type(there)
        np.testing.assert_array_equal(back(found), expected)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["cupy", "torch"])
def test_the_callers_stream(name: str) -> None:
    module, to, back = library(name)
    stream = module.cuda.Stream()
    x = to(np.ones(10_000_000, np.float32))
    module.cuda.Device(0).synchronize() if name == "cupy" else module.cuda.synchronize()
    with stream if name == "cupy" else module.cuda.stream(stream):
        for _ in range(20):
            x = ops.cumsum(ops.cumsum(x) * 0 + 1) * 0 + 1
        total = ops.sum(x)
    stream.synchronize()
    assert back(total) == 10_000_000


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float16", "float64"])
@pytest.mark.parametrize(
    "shape",
    [(1, 1, 1), (65, 3, 130), (257, 258, 259), (1, 4096, 4099), (1000, 17, 4096), (300, 300, 1001)],
    ids=str,
)
def test_products_by_tensor_cores(dtype: str, shape: tuple[int, int, int]) -> None:
    """What is no number stays in its row; a matrix may begin anywhere, and is one of several."""
    cupy, _, _ = library("cupy")
    m, n, k = shape
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-4, 5, one).astype(dtype) for one in ((3, m, k), (k, n)))
    a[1, -1, -1] = np.nan
    room = cupy.zeros(a.size + 1, dtype)
    there = room[1:].reshape(a.shape)
    there[...] = cupy.asarray(a)
    found = cupy.asnumpy(ops.matmul(there, cupy.asarray(b)))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, (a.astype(float) @ b.astype(float)).astype(dtype))


@pytest.mark.gpu
@pytest.mark.least("full")
def test_more_than_31_bits_of_elements() -> None:
    cupy, _, _ = library("cupy")
    x = cupy.ones(2**31 + 3, cupy.uint8)
    assert ops.sum(x).item() == 2**31 + 3
    assert ops.histogram(x, 256, (0, 256))[0][1].item() == 2**31 + 3


@pytest.mark.gpu
def test_memory_that_there_is_not() -> None:
    cupy, _, _ = library("cupy")
    x = cupy.broadcast_to(cupy.ones(1), (2**40,))
    with pytest.raises(MemoryError):
        ops.cumsum(x)
    assert ops.sum(cupy.ones(5)).item() == 5
