"""Modelled times of counted launches: where they stand, when there are none, and what the load says."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from warpglass import devices
from warpglass.records.profile import from_json

COPY = """
extern "C" __global__ void copy(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
}
"""
WAIT = """
extern "C" __global__ void wait(volatile int *flag) {
    if (blockIdx.x == 0) *flag = 1;
    else while (*flag == 0) {}
}
"""
N = 1 << 16


def profiled(model: str, caches: bool = True) -> wg.Profile:
    x, y = np.ones(N, np.float32), np.zeros(N, np.float32)
    return wg.profile(wg.compile(COPY, "copy"), N // 256, 256, (x, y, N), model=model, caches=caches)


@pytest.mark.parametrize("model", ["h200", "p100", "gtx280"])
def test_a_profile_has_a_modelled_time(model: str) -> None:
    found = profiled(model)
    time = found.modelled
    assert time is not None
    assert time.device == model
    assert time.name == devices.get(model).name
    assert time.seconds is not None
    assert time.low is not None
    assert time.high is not None
    assert 1e-6 < time.low < time.seconds < time.high < 1e-3
    name = "gpu__time_duration.sum"
    assert found.label(name) == found.label("achieved_occupancy") == found.label("ipc") == "modelled"
    assert found.counters[name] < 1e9 * time.seconds
    assert 0 < found.metrics["achieved_occupancy"] <= 100
    again = from_json(found.to_json())
    assert again.modelled == time


def test_without_caches_there_is_no_time() -> None:
    found = profiled("h100", caches=False)
    assert found.modelled is None
    assert "gpu__time_duration.sum" not in found.counters


def test_a_kernel_whose_blocks_wait_is_refused() -> None:
    found = wg.profile(wg.compile(WAIT, "wait"), 4, 1, (np.zeros(1, np.int32),))
    assert found.modelled is not None
    assert found.modelled.seconds is None
    assert "wait for other blocks" in found.modelled.failure


def test_bench_rows_have_times_on_every_model_asked_for() -> None:
    bench = wg.bench(
        "transpose", small=True, repeat=1, language="cuda", peers=False, counters=True, model=("h100", "p100")
    )
    for row in bench.rows:
        if row.grid is not None:
            assert [one.device for one in row.modelled] == ["h100", "p100"]
            assert all(one.seconds and one.cumulative_speedup for one in row.modelled)
    assert "modelled on Tesla P100-PCIE-16GB" in bench.table()
