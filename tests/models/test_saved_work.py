"""From saved records to a roofline: whose times count, which GPU is meant, what ladders put on it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.report.profiles import make
from tests.report.test_bench_report import HOST, ROW
from warpglass import devices
from warpglass.models.roofline import peaks_of, place
from warpglass.models.saved_work import works_of_bench, works_of_numbers, works_of_profile
from warpglass.records.bench import Record
from warpglass.records.kernel_time import ModelledTime
from warpglass.records.work import CountedWork, work_together

H100, P100 = (
    ModelledTime(device=gpu, name=gpu, seconds=seconds) for gpu, seconds in (("h100", 2e-6), ("p100", 8e-6))
)
WORK = CountedWork(
    flops={"fp64": 0.0, "fp32": 64e6, "fp16": 0.0},
    bytes={"dram": 4e6, "l2": 8e6},
    passes={"l1": 1e6, "shared": 0.0},
    instructions={"issue": 5e6},
    asked=128e6,
)


def test_a_profile_has_the_time_of_its_own_gpu_only():
    (work,) = works_of_profile(make(work=WORK, modelled=H100))
    here, elsewhere = work.on("h100"), work.on("gtx980")
    assert (here.seconds, here.seconds_label, here.gpu) == (2e-6, "modelled", "h100")
    assert (elsewhere.seconds_label, elsewhere.known_seconds) == ("engine", None)
    assert here.bytes == {"dram": 4e6, "l2": 8e6, "l1": 128e6}
    assert here.flops == {"fp32": 64e6}


def test_measured_goes_before_modelled():
    profile = make(work=WORK, modelled=H100, device="NVIDIA H100 80GB HBM3", time_label="gpu", seconds=3e-6)
    (work,) = works_of_profile(profile)
    assert (work.on("h100").seconds, work.on("h100").seconds_label) == (3e-6, "gpu")
    assert work.on("p100").seconds is None


def test_a_modelled_time_is_a_point_under_the_roof():
    (work,) = works_of_profile(make(work=WORK, modelled=replace(H100, seconds=1e-4)))
    placed = place(work.on("h100"), peaks_of(devices.get("h100")))
    assert placed is not None
    assert placed.share_of_roof == pytest.approx(placed.least_seconds / 1e-4)


def bench(*rows: Any) -> Record:
    return Record(
        ladder="reduction",
        device="an engine",
        backend="cpu",
        version="0",
        rows=rows,
        counted_for="NVIDIA H100 80GB HBM3",
    )


def test_a_ladder_has_each_rung_once():
    row = replace(ROW, work=WORK, modelled=(H100, P100))
    works = works_of_bench(bench(HOST, row, replace(row, language="python", seconds=1.0)))
    assert [(work.name, work.gpu) for work in works] == [("complete_unroll_warps8", "h100")]
    assert works[0].on("p100").seconds == 8e-6


def test_a_rung_that_was_not_counted_has_the_least_work_of_its_problem():
    (work,) = works_of_bench(bench(ROW))
    assert work.bytes["dram"] == pytest.approx(4.74e9 * 0.0283)
    assert work.flops["fp64"] == pytest.approx(0.59e9 * 0.0283)


def test_work_of_several_launches():
    both = work_together([(WORK, 2), (replace(WORK, bytes={"l2": 1e6}, asked=0.0), 1)])
    assert both.flops["fp32"] == 3 * 64e6
    assert both.bytes == {"l2": 17e6}  # DRAM's are not known of one
    assert both.asked_intensity == pytest.approx(3 * 64 / 256)
    assert both.dram_intensity is None


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ({"metrics": {"flop_count_sp": 1}, "seconds": 1, "time_label": "mine"}, '"time_label" is .mine.'),
        ({"metrics": {"flop_count_sp": "many"}}, "many"),
    ],
)
def test_numbers_that_mean_nothing(record: dict[str, Any], text: str):
    with pytest.raises(ValueError, match=text):
        works_of_numbers(record)


def test_saved_and_read_again(tmp_path: Path):
    from warpglass.records.files import open_records

    make(work=WORK, modelled=H100).save(tmp_path / "p.json")
    bench(replace(ROW, work=WORK)).save(tmp_path / "b.json")
    (profile,), (record,) = (open_records(tmp_path / name) for name in ("p.json", "b.json"))
    assert getattr(profile, "work") == WORK  # noqa: B009
    assert isinstance(record, Record)
    assert record.rows[0].work == WORK
