"""The roofline: textbook cases, several levels, mixtures, and what is said when something is not known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from warpglass import devices
from warpglass.models.roofline import (
    BOTH,
    LEVELS,
    PRECISIONS,
    Peaks,
    Work,
    attainable,
    peaks_of,
    place,
    ridge,
)
from warpglass.models.saved_work import works_of_numbers

SIMPLE = Peaks("simple", {"fp64": 10_000, "fp32": 20_000}, {"dram": 1500})


# ---------------------------------------------------------------------------------------- worked examples
@pytest.mark.parametrize(
    ("precision", "operand", "edge", "gflops", "percent"),
    [("fp64", 8, 6.67, 187.5, 1.875), ("fp32", 4, 13.33, 375, 1.875)],
)
def test_one_operation_per_operand(precision: str, operand: int, edge: float, gflops: float, percent: float):
    """10 and 20 TFLOP/s and 1.5 TB/s. Of 20 TFLOP/s, 0.375 are 1.875 %; course notes have 3.75 %."""
    placed = place(Work("one", {precision: 1e9}, {"dram": operand * 1e9}), SIMPLE)
    assert placed is not None
    assert placed.bound == "dram"
    assert placed.memory_bound
    assert placed.ridge("dram") == pytest.approx(edge, abs=0.01)
    assert placed.gflops == pytest.approx(gflops)
    assert placed.share_of_peak == pytest.approx(percent / 100)


def test_roof_and_ridge():
    assert ridge(SIMPLE, "fp64", "dram") == pytest.approx(20 / 3)
    assert attainable(SIMPLE, "fp64", "dram", 0.125) == pytest.approx(187.5)
    assert attainable(SIMPLE, "fp64", "dram", 100) == 10_000


def test_right_of_the_ridge_is_compute_bound():
    placed = place(Work("dense", {"fp32": 1e12}, {"dram": 1e9}), SIMPLE)
    assert placed is not None
    assert (placed.bound, placed.memory_bound, placed.share_of_peak) == ("fp32", False, pytest.approx(1))


# ---------------------------------------------------------------------------------------- levels, mixtures
def test_the_slowest_level_binds():
    a100 = peaks_of(devices.get("a100"))
    flops = {"fp32": 2 * 2048**3}
    moved = {"dram": 5e7, "l2": 2e9, "l1": 2e9, "shared": 3.5e10}
    placed = place(Work("tiled", flops, moved), a100)
    assert placed is not None
    assert placed.bound == BOTH  # one memory since 7.0, whose wavefronts take turns
    assert placed.memory_bound
    assert placed.least_seconds == max(placed.seconds.values()) == pytest.approx(3.7e10 / 19491.84e9)
    assert placed.work.intensity(BOTH) == pytest.approx(flops["fp32"] / 3.7e10)
    assert {level: placed.work.intensity(level) for level in moved} == {
        level: pytest.approx(flops["fp32"] / moved[level]) for level in moved
    }


def test_memories_of_their_own_do_not_wait_for_each_other():
    gtx980 = peaks_of(devices.get("gtx980"))
    placed = place(Work("tiled", {"fp32": 1e9}, {"l1": 2e9, "shared": 3.5e10}), gtx980)
    assert placed is not None
    assert (placed.bound, BOTH in placed.seconds) == ("shared", False)


def test_instructions_are_a_roof():
    """Instructions that are no operations: four of every five that the schedulers issue."""
    h100 = peaks_of(devices.get("h100"))
    warps = 1e9
    flops = {"fp32": 64 * warps}
    placed = place(Work("k", flops, {}, instructions={"issue": 5 * warps, "integer": warps}), h100)
    assert placed is not None
    assert (placed.bound, placed.memory_bound, placed.compute_bound) == ("issue", False, False)
    assert placed.share_of_peak == pytest.approx(1 / 5)
    # additions alone reach half of what multiply-adds do
    added = place(Work("k", {"fp32": 32 * warps}, {}, instructions={"fp32": warps}), h100)
    assert added is not None
    assert (added.bound, added.share_of_peak) == ("fp32", pytest.approx(0.5))


def test_pipelines_of_two_precisions_work_at_once():
    placed = place(Work("mixed", {"fp64": 1e12, "fp32": 1e12}, {}), SIMPLE)
    assert placed is not None
    assert placed.bound == "fp64"
    assert placed.gflops == pytest.approx(20_000)  # both in the time of the FP64 half


def test_share_of_the_roof_needs_a_gpus_time():
    work = Work("copy", {"fp32": 1e9}, {"dram": 1.5e9}, seconds=2e-3)
    placed = place(work, SIMPLE)
    assert placed is not None
    assert placed.share_of_roof == pytest.approx(0.5)
    assert work.gflops == pytest.approx(500)
    of_the_engine = place(replace(work, seconds_label="engine"), SIMPLE)
    assert of_the_engine is not None
    assert of_the_engine.share_of_roof is None


def test_bytes_without_operations():
    placed = place(Work("copy", {}, {"dram": 1.5e9}), SIMPLE)
    assert placed is not None
    assert (placed.bound, placed.gflops, placed.peak_gflops) == ("dram", 0, None)
    assert placed.least_seconds == pytest.approx(1e-3)


@pytest.mark.parametrize("work", [Work("none", {}, {}), Work("zero", {"fp32": 0}, {"dram": 0})])
def test_work_without_counts_stands_nowhere(work: Work):
    assert place(work, SIMPLE) is None


def test_counts_without_a_rate_do_not_bind():
    placed = place(Work("k", {"fp16": 1e15, "fp32": 1e6}, {"l2": 1e15}), SIMPLE)
    assert placed is not None
    assert set(placed.seconds) == {"fp32"}


# ---------------------------------------------------------------------------------------- devices
@pytest.mark.parametrize("name", devices.names())
def test_every_gpu_has_peaks(name: str):
    device = devices.get(name)
    peaks = peaks_of(device)
    assert peaks.gflops["fp32"] > 0
    assert peaks.gb_s["dram"] == device.bandwidth_gb_s
    assert set(peaks.missing) | set(peaks.gflops) | set(peaks.gb_s) == {*PRECISIONS, *LEVELS}
    assert peaks.gb_s["shared"] > peaks.gb_s["dram"]
    assert peaks.notes.keys() == peaks.gb_s.keys()
    assert peaks.instructions["issue"] > 0
    if device.capability >= (2, 0):  # before, the caches served textures only
        assert set(LEVELS) == set(peaks.gb_s)
        assert peaks.gb_s["dram"] < peaks.gb_s["l2"] < peaks.gb_s["l1"]


def test_missing_rates_are_named():
    assert peaks_of(devices.get("8800gtx")).missing == ("fp64", "fp16", "l2", "l1")
    assert peaks_of(devices.get("gtx980")).missing == ("fp16",)
    assert peaks_of(devices.get("a100")).missing == ()


# ---------------------------------------------------------------------------------------- profiles
METRICS = {
    "flop_count_sp": 2e9,
    "dram_read_transactions": 1e6,
    "dram_write_transactions": 5e5,
    "gld_transactions": 4e6,
    "gst_transactions": 1e6,
    "shared_load_transactions": 3e6,
}


def test_points_of_a_profile():
    saved = {"kernel": "mm", "metrics": METRICS, "seconds": 1e-3, "time_label": "engine"}
    (work,) = works_of_numbers(saved)
    moved = {"dram": 48e6, "l1": 160e6, "shared": 384e6}
    assert work.on("h100") == Work("mm", {"fp32": 2e9}, moved, 1e-3, "engine")


def test_several_profiles_in_one_file():
    works = works_of_numbers({"profiles": [{"kernel": name, "metrics": METRICS} for name in "ab"]})
    assert [work.name for work in works] == ["a", "b"]


@pytest.mark.parametrize(
    ("record", "text"), [({}, "no .metrics."), ({"metrics": {"time": 1}}, "neither operations")]
)
def test_a_file_that_is_no_profile(record: dict[str, Any], text: str):
    with pytest.raises(ValueError, match=text):
        works_of_numbers(record)
