"""Modelled times in words: the interval, a reason where there is none, which of two is faster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from warpglass.records.kernel_time import ModelledTime
from warpglass.report.kernel_time import modelled_sentence, ranking, verdict

SLOW = ModelledTime(
    device="h100",
    name="NVIDIA H100 80GB HBM3",
    seconds=40e-6,
    low=25e-6,
    high=64e-6,
    limiter="DRAM bandwidth",
    limits={"dram": 36e-6, "issue": 5e-6},
)
FAST = replace(SLOW, seconds=20e-6, limiter="latency", limits={"latency": 16e-6, "dram": 9e-6, "issue": 5e-6})
NONE = replace(SLOW, seconds=None, failure="its blocks wait for other blocks")


def test_a_time_stands_with_its_gpu_interval_and_limiter() -> None:
    text = modelled_sentence(SLOW)
    assert text == (
        "Modelled time on NVIDIA H100 80GB HBM3: 40.00 us (25.00 to 64.00 us), limited by DRAM bandwidth"
    )
    assert "(900 ns to 1.100 us)" in modelled_sentence(replace(SLOW, low=0.9e-6, high=1.1e-6))


def test_no_time_has_a_reason() -> None:
    assert modelled_sentence(NONE).endswith("HBM3: its blocks wait for other blocks")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            SLOW,
            FAST,
            "2.00 times faster, since DRAM bandwidth took 36.00 us, now 9.000 us; limited by latency",
        ),
        (FAST, SLOW, "2.00 times slower, since DRAM bandwidth took 9.000 us, now 36.00 us"),
        (SLOW, replace(SLOW, seconds=40.5e-6), "no difference that the model would stand for"),
        (SLOW, NONE, "No verdict on NVIDIA H100 80GB HBM3: its blocks wait"),
    ],
)
def test_verdict(before: ModelledTime, after: ModelledTime, said: str) -> None:
    assert said in verdict(before, after)


def test_several_launches_are_ranked() -> None:
    lines = ranking([("a", SLOW), ("b", FAST), ("c", NONE)])
    assert lines[0] == "On NVIDIA H100 80GB HBM3 (modelled), the fastest first:"
    assert [line.split(":")[0].strip() for line in lines[1:]] == ["b", "a", "c"]
    assert lines[2].endswith("2.00 times as long, limited by DRAM bandwidth")
    assert lines[3] == "  c: its blocks wait for other blocks"
    assert ranking([("a", SLOW), ("b", replace(FAST, device="a100"))]) == []
    assert ranking([("a", SLOW), ("b", None)]) == []


def test_no_verdict_on_different_gpus_or_without_times() -> None:
    assert verdict(SLOW, replace(FAST, device="a100")) == ""
    assert verdict(None, FAST) == ""
