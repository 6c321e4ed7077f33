"""Old GPUs' memory: the course notes' table of a Fermi GPU, their lesson on a GTX 980, what is not exact."""

from __future__ import annotations

import numpy as np
import pytest

import warpglass as wg
from tests.notes_page import efficiencies
from warpglass import devices
from warpglass.models.caches import geometry
from warpglass.models.memory_rules import FirstLevel, Loads, rules_of
from warpglass.models.roofline import peaks_of, place
from warpglass.models.saved_work import works_of_profile
from warpglass.records.profile import Profile

# Table 3-6 of the notes (int, a Fermi GPU): load and store efficiency in percent.
TABLE_3_6 = {"neighbored": (16.73, 25.00), "interleaved": (77.94, 95.52), "unroll8": (94.68, 97.71)}
SOURCE = """
extern "C" __global__ void strided(const int* x, int* y, int stride) {
    __shared__ int room[64];
    room[threadIdx.x] = x[threadIdx.x * stride];
    __syncthreads();
    y[threadIdx.x] = room[63 - threadIdx.x];
}
extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
extern "C" __global__ void in_tiles(const float* a, const float* b, float* c, int n) {
    __shared__ float left[16][16], right[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int tile = 0; tile < n; tile += 16) {
        left[y][x] = a[row * n + tile + x];
        right[y][x] = b[(tile + y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
"""


@pytest.mark.least("ci")
def test_table_3_6_of_the_notes_comes_out_on_a_fermi_gpu():
    found = wg.bench(
        "reduction",
        size=2**13,
        dtype="int32",
        language="cuda",
        repeat=1,
        rungs=tuple(TABLE_3_6),
        model="m2070",
        counters=True,
        peers=False,
    )
    rows = {row.rung: row for row in found.rows if row.table == "global"}
    for rung, (loads, stores) in TABLE_3_6.items():
        metrics, labels = rows[rung].metrics or {}, rows[rung].labels or {}
        assert efficiencies()[rung] == pytest.approx(
            (metrics["gld_efficiency"], metrics["gst_efficiency"]), abs=0.006
        )
        assert metrics["gld_efficiency"] == pytest.approx(loads, abs=0.04)
        assert metrics["gst_efficiency"] == pytest.approx(stores, abs=0.005)
        assert labels["gld_efficiency"] == "exact"


def strided(model: str, stride: int) -> Profile:
    x, y = np.arange(64 * 32, dtype=np.int32), np.zeros(64, np.int32)
    return wg.profile(wg.compile(SOURCE, "strided"), 1, 64, [x, y, stride], model=model)


@pytest.mark.parametrize(
    ("model", "stride", "sectors"),
    [
        ("8800gtx", 1, 8),  # four half-warps of 64 bytes
        ("8800gtx", 2, 64),  # 32 bytes for each thread
        ("gtx280", 2, 16),  # segments of 128 bytes
        ("gtx280", 32, 64),  # each shrunk to 32 bytes
        ("m2070", 1, 8),
        ("m2070", 32, 256),  # a line for each thread
        ("gtx980", 32, 64),
    ],
)
def test_sectors_of_a_stride(model: str, stride: int, sectors: int):
    found = strided(model, stride)
    assert found.metrics["gld_transactions"] == sectors
    assert found.label("gld_transactions") == "exact"
    noted = rules_of(devices.get(model).capability).note
    assert (noted in found.notes) == bool(noted)


@pytest.mark.parametrize(("model", "label"), [("gtx280", "modelled"), ("gtx980", "ptx-level")])
def test_bank_conflicts_by_another_generations_banks_are_not_exact(model: str, label: str):
    found = strided(model, 1)
    assert found.label("shared_ld_bank_conflict") == label


def test_tiles_raise_what_a_product_can_attain_on_a_gtx_980():
    a = np.random.default_rng(1).random((64, 64), np.float32)
    peaks = peaks_of(devices.get("gtx980"))
    placed = []
    for name in ("product", "in_tiles"):
        kernel = wg.compile(SOURCE, name)
        profile = wg.profile(kernel, (4, 4), (16, 16), [a, a.copy(), np.zeros_like(a), 64], model="gtx980")
        placed.append(place(works_of_profile(profile)[0].on("gtx980"), peaks))
    naive, tiled = placed
    assert naive is not None
    assert tiled is not None
    assert (naive.bound, naive.memory_bound) == ("l2", True)
    assert tiled.share_of_peak > 2 * naive.share_of_peak


def test_what_the_first_level_keeps():
    kept = {name: geometry(devices.get(name), 0, 1) for name in ("gtx280", "m2070", "gtx980", "p100", "h100")}
    assert [one.first_level for one in kept.values()] == [
        FirstLevel.NONE,
        FirstLevel.LINES,
        FirstLevel.READ_ONLY,
        FirstLevel.ALL,
        FirstLevel.ALL,
    ]
    assert rules_of((1, 1)).loads is Loads.IN_ORDER
    assert rules_of((3, 5)).loads is Loads.LINES
