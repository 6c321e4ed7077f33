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
LOCAL = """
extern "C" __global__ void local_counts(int *y, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, bins[32];
    for (int k = 0; k < 32; ++k) bins[k] = 0;
    unsigned v = i;
    for (int k = 0; k < rounds; ++k) v = v * 1664525u + 1013904223u, bins[v >> 27] += k;
    for (int k = 0; k < 32; ++k) y[i] += bins[k];
}
"""
MARK = """
extern "C" __global__ void mark(int *x, bool always) {
    if (always || threadIdx.x < 9) x[threadIdx.x] = 1;
}
"""
WAIT = """
extern "C" __global__ void wait(volatile int *flag) {
    if (blockIdx.x == 0) *flag = 1;
    else while (*flag == 0) {}
}
"""
PRODUCTS = r"""
extern "C" __global__ void products(const unsigned *x, float *y, int n) {
    float c[4] = {};
    unsigned a = x[threadIdx.x];
    for (int k = 0; k < n; ++k)
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a));
    y[blockIdx.x * blockDim.x + threadIdx.x] = c[0] + c[1] + c[2] + c[3];
}
"""
# Threads of all blocks ask for one row at a time, and need it for the next step.
TOGETHER = """
extern "C" __global__ void together(const float *x, float *y, int rows, int apart) {
    float sum = 0;
    int row = blockIdx.x * apart;
    for (int k = 0; k < rows; ++k, row = (row + 1) % rows) sum = sum * 0.5f + x[row * 32 + threadIdx.x];
    y[blockIdx.x * 32 + threadIdx.x] = sum;
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
    assert found.modelled is not None
    assert found.modelled.seconds is None
    assert "caches" in found.modelled.failure
    assert "gpu__time_duration.sum" not in found.counters


def test_a_kernel_whose_blocks_wait_is_refused() -> None:
    found = wg.profile(wg.compile(WAIT, "wait"), 4, 1, (np.zeros(1, np.int32),))
    assert found.modelled is not None
    assert found.modelled.seconds is None
    assert "wait for other blocks" in found.modelled.failure


@pytest.mark.turns(2)
def test_bench_rows_have_times_on_every_model_asked_for() -> None:
    bench = wg.bench(
        "transpose", small=True, repeat=1, language="cuda", peers=False, counters=True, model=("h100", "p100")
    )
    for row in bench.rows:
        if row.grid is not None:
            assert [one.device for one in row.modelled] == ["h100", "p100"]
            assert all(one.seconds and one.cumulative_speedup for one in row.modelled)
    assert "modelled on Tesla P100-PCIE-16GB" in bench.table()


def test_a_byte_among_the_arguments_is_no_unknown_instruction() -> None:
    """From compute capability 9.0 on, the uniform datapath picks it out of its word."""
    x, always = np.zeros(32, np.int32), np.bool_(False)
    found = wg.profile(wg.compile(MARK, "mark"), 1, 32, (x, always), model="h100")
    assert found.modelled is not None
    assert found.modelled.seconds is not None, found.modelled.failure


def test_stores_of_local_memory_go_to_the_second_level() -> None:
    """Each lane counts in a table of its own, at 32 places; loads stay in the first level."""
    blocks, rounds = 528, 64
    kernel = wg.compile(LOCAL, "local_counts")
    y = np.zeros(256 * blocks, np.int32)
    found = wg.profile(kernel, blocks, 256, (y, np.int32(rounds)), model="h200")
    assert found.modelled is not None
    assert found.modelled.limiter == "L2 bandwidth"
    least = 8 * blocks * rounds * 15 / 37.6 / 1.98e9  # 15 lines a store, at least
    assert least < found.modelled.limits["l2"] < 4 * least


def test_products_of_tensor_cores_take_their_time() -> None:
    blocks, n = 528, 256
    x, y = np.zeros(256, np.uint32), np.zeros(256 * blocks, np.float32)
    found = wg.profile(wg.compile(PRODUCTS, "products"), blocks, 256, (x, y, np.int32(n)), model="h200")
    assert found.modelled is not None
    assert found.modelled.limiter == "tensor cores"
    device = devices.get("h200")
    clocks = blocks * 8 * n * 16 * 8 * 16 / device.limits.timing["tensor"]
    least = clocks / device.multiprocessors / (1e6 * device.clock_mhz)
    assert found.modelled.limits["tensor"] == pytest.approx(least)


def test_who_asks_for_what_is_on_its_way_waits_for_it_too() -> None:
    """Blocks that walk the same rows at the same time all wait for DRAM; those that start apart seldom do."""
    rows = 128
    kernel = wg.compile(TOGETHER, "together")
    x, y = np.ones(32 * rows, np.float32), np.zeros(32 * 64, np.float32)
    times: list[float] = []
    for apart in (0, 2):
        modelled = wg.profile(kernel, 64, 32, (x, y, np.int32(rows), np.int32(apart)), model="h200").modelled
        assert modelled is not None
        times.append(modelled.limits["latency"])
    waits = 673 / 1.98e9 * rows / 4  # of loads, four of which ptxas makes at once
    assert waits < times[0] < 4.5 * waits
    assert times[1] < 0.8 * times[0]
