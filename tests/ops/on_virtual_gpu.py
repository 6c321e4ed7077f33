"""Arrays of Numba on the virtual GPU, whose driver is the engine: test_gpu.py runs this in a process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from warpglass.errors import ArgumentError
from warpglass.numba_device import activate

activate()

import numba_cuda_mlir.cuda  # noqa: E402  # finds the virtual GPU

from warpglass import ops  # noqa: E402
from warpglass.engine.gpu.resets import announce_reset  # noqa: E402
from warpglass.ops import calling  # noqa: E402

cuda: Any = numba_cuda_mlir.cuda

X = np.arange(600.0).reshape(20, 30)


def refused(call: Any, words: str) -> None:
    """A call raises an ArgumentError that says so."""
    with pytest.raises(ArgumentError) as caught:
        call()
    assert words in str(caught.value)


def broken_off(x: Any) -> None:
    """Ctrl-C in the middle of a call leaves no counters behind that the next call takes for zeros."""
    calls: Any = calling.gpu(0).calls
    launch = calls.launch

    def launch_and_stop(*parameters: Any) -> int:
        launch(*parameters)
        raise KeyboardInterrupt

    calls.launch = launch_and_stop
    with pytest.raises(KeyboardInterrupt):
        ops.sort(x, 0)
    calls.launch = launch
    areas = calling.gpu(0)._areas
    assert any(zeroed for _, zeroed in areas)
    assert not any(area.nbytes for (_, zeroed), area in areas.items() if zeroed)
    host = x.copy_to_host()
    np.testing.assert_array_equal(ops.cumsum(x).copy_to_host(), host.cumsum())
    np.testing.assert_array_equal(ops.sort(x, 0).copy_to_host(), np.sort(host, 0))


def main() -> None:
    """Results of Numba's own kind, of strided operands, in arrays of the caller's; refusals."""
    x = cuda.to_device(X)
    total = ops.sum(x)
    assert type(total) is type(x)
    assert total.copy_to_host() == X.sum()
    for _ in range(3):  # the task is ready, and scratch memory as the call before left it
        np.testing.assert_array_equal(ops.cumsum(x).copy_to_host(), X.cumsum())
    np.testing.assert_array_equal(ops.cumsum(x[::2, 3:9]).copy_to_host(), X[::2, 3:9].cumsum())
    np.testing.assert_array_equal(ops.sort(x, 0).copy_to_host(), X)
    held = cuda.to_device(np.zeros((30, 25)))
    out = held[:, :20]
    assert ops.transpose(x, out=out) is out
    np.testing.assert_array_equal(held.copy_to_host()[:, :20], X.T)
    assert ops.sum(X, device="gpu") == X.sum()
    ops.cumsum(x, 1, out=x)
    np.testing.assert_array_equal(x.copy_to_host(), X.cumsum(1))
    broken_off(x)
    before = calling.gpu(0)
    announce_reset(0)  # here nothing is lost; but what was kept is made again
    assert ops.sum(x) is not None
    assert calling.gpu(0) is not before
    refused(lambda: ops.dot(x[0], X[0]), "dot: x lies on GPU 0 (Numba), y in host memory: numpy.ndarray")
    refused(lambda: ops.dot(X[0], x[0]), "dot: y lies on a GPU, and other arrays in host memory")
    refused(lambda: ops.sum(x, device="cpu"), "the engine takes arrays in host memory")
    refused(lambda: ops.sum(x, out=np.zeros(())), "out must be one too, and is numpy.ndarray")
    refused(lambda: ops.sum(x, out=cuda.to_device(np.zeros(2))), "out has shape (2,)")


main()
