"""numba_cuda_mlir on the virtual device. Run under `warpglass run -m pytest`."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

cuda: Any = importlib.import_module("numba_cuda_mlir.cuda")


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


def test_atomics() -> None:
    data = np.random.default_rng(1).integers(0, 16, 5000).astype(np.int32)
    counts = np.zeros(16, np.int32)
    histogram[40, 128](data, counts)
    np.testing.assert_array_equal(counts, np.bincount(data, minlength=16))
