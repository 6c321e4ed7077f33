"""What is said and drawn of occupancy, rooflines and GPUs: words, JSON, pictures."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from warpglass import devices
from warpglass.devices.device import limits_of
from warpglass.errors import ArgumentError
from warpglass.models.occupancy import Demand, occupancy
from warpglass.models.roofline import Peaks, Work, peaks_of
from warpglass.report.console import text_console, text_of
from warpglass.report.device import Present, print_device, print_present
from warpglass.report.occupancy import OccupancyReport, print_curve, print_occupancy
from warpglass.report.occupancy_chart import draw_curve
from warpglass.report.pictures import check_ending
from warpglass.report.roofline import print_roofline, roofline_report
from warpglass.report.roofline_chart import draw_roofline

A100 = peaks_of(devices.get("a100"))
WORKS = [
    Work("naive", {"fp32": 1.7e10}, {"dram": 5e8, "l2": 2e9, "l1": 4e10}, 5e-3),
    Work("tiled", {"fp32": 1.7e10}, {"dram": 5e7, "l2": 2e9, "l1": 2e9, "shared": 3.5e10}, 2.9e-3),
    Work("untimed", {"fp64": 2e8}, {"dram": 2.4e9}),
]


def report(demand: Demand, block: tuple[int, ...] | None = None, **rest: Any) -> OccupancyReport:
    fit = occupancy(demand, limits_of(rest.pop("capability", (9, 0))))
    return OccupancyReport(None, "a GPU", block or (demand.threads,), fit, **rest)


def said(one: OccupancyReport) -> str:
    console = text_console(200)
    print_occupancy(one, console)
    return text_of(console)


# ---------------------------------------------------------------------------------------- occupancy
def test_both_shares_are_shown_where_they_differ():
    text = said(report(Demand(16, 0), (4, 4), capability=(5, 2)))
    assert "32 blocks at once = 32 of 64 warps: occupancy 50 %, limited by blocks." in text
    assert "By threads it is 25 % (512 of 2048): 16 threads fill 0.5 warps, but take 1." in text
    assert "block 16 -> 64 threads gives 100 %" in text
    assert "By threads" not in said(report(Demand(64, 0), (8, 8), capability=(5, 2)))


@pytest.mark.parametrize(
    ("demand", "reason"),
    [
        (Demand(4096, 0), "4096 threads, but a block has at most 1024 and a multiprocessor holds 2048"),
        (Demand(1024, 65), "1024 threads of 65 registers take 73728 registers as allocated, but a block has"),
        (Demand(32, 300), "300 registers per thread, but there are at most 255"),
        (Demand(32, 32, 0, 300_000), "300000 bytes of shared memory, but a block has at most 232448"),
        (
            Demand(32, 32, 0, 60_000, opted_in=False),
            "60000 bytes of shared memory, but a block has at most 49152",
        ),
    ],
)
def test_impossible_blocks_say_why(demand: Demand, reason: str):
    text = said(report(demand))
    assert f"Such a block cannot run: {reason}" in text
    assert "occupancy" not in text.partition("cannot run")[2]


def test_every_reason_is_given():
    text = said(report(Demand(2000, 300, 500_000)))
    assert [part in text for part in ("2000 threads", "300 registers", "500000 bytes")] == [True] * 3


def test_machine_code_and_refusals_are_said():
    code = {
        "registers": 40, "static_shared": 64, "local": 16, "spill_stores": 8, "spill_loads": 12,
        "target": "sm_90", "assembler": "ptxas 13.5",
    }  # fmt: skip
    text = said(report(Demand(256, 32), compiled=code, refused="too deep"))
    assert "Machine code for sm_90 (ptxas 13.5): 40 registers, 64 bytes of static shared memory" in text
    assert "16 bytes of stack per thread, spills: 8 bytes stored, 12 loaded. Counted with the 32" in text
    assert "Even so a launch is refused: too deep." in text


def test_fewer_registers_come_with_the_way_to_ask_for_them():
    assert "registers 40 -> 32 gives 100 % (__launch_bounds__(256, 8))" in said(report(Demand(256, 40)))


def test_waves():
    text = said(report(Demand(256, 32), multiprocessors=132, grid=4224))
    assert "The grid of 4224 blocks is 4.00 waves of 1056 blocks on 132 multiprocessors." in text


def test_curve_bars():
    console = text_console(120)
    print_curve(report(Demand(256, 40), multiprocessors=132), console)
    lines = text_of(console).splitlines()
    bars = [line for line in lines if "█" in line]
    assert len(bars) == 32
    assert [line.startswith(">") for line in bars].index(True) == 7
    assert bars[7].count("█") == 30  # 75 % of 40
    assert bars[7].split("·")[-1].split() == ["75.0", "%", "6", "registers"]
    assert lines[-1].startswith("Best: ")


def test_json_has_it_all():
    record = json.loads(report(Demand(256, 40), multiprocessors=132, grid=10).to_json(True))
    assert record["active_blocks"] == 6
    assert record["limits"]["registers"] == 6
    assert record["limits"]["barriers"] is None
    assert record["gains"][0] == {"change": "registers 40 -> 32", "occupancy": 1.0}
    assert record["nsight"]["sm__maximum_warps_per_active_cycle_pct"] == 75
    assert len(record["curve"]) == 1024


# ---------------------------------------------------------------------------------------- roofline
def test_verdicts():
    console = text_console(160)
    print_roofline(roofline_report(WORKS, A100), console)
    text = text_of(console)
    assert "Memory-bound (L1): 0.425 FLOP/byte is left of the ridge at 1." in text
    assert "Memory-bound (L1 and shared memory, which are one)" in text
    assert "It took 2.900 ms = 5862 GFLOP/s: 65.46 % of what it can attain." in text


def test_what_is_missing_or_impossible_is_said():
    console = text_console(160)
    peaks = Peaks("some GPU", {"fp32": 1000}, {"dram": 100})
    works = [
        Work("fast", {"fp32": 1e9}, {"dram": 1e9}, 1e-3),
        Work("engine", {"fp32": 1e9}, {"dram": 1e6}, 1e-3, "engine"),
        Work("half", {"fp16": 1e9}, {}),
    ]
    print_roofline(roofline_report(works, peaks), console)
    text = text_of(console)
    assert "No rate is known for FP64, FP16, L2, L1, shared memory." in text
    assert "1000 % of what it can attain.\n  That is more than the GPU can" in text
    assert "It took 1.000 ms of engine time, which says nothing about this GPU." in text
    assert "Compute-bound (FP32): 1000 FLOP/byte is right of the ridge at 10 (DRAM)." in text
    assert "none of its counts has a rate here" in text


def test_roofline_json():
    record = json.loads(roofline_report(WORKS, A100).to_json())
    assert record["ridges"]["fp32"]["dram"] == pytest.approx(12.535, abs=1e-3)
    assert [work["bound"] for work in record["works"]] == ["l1", "l1 and shared", "dram"]


# ---------------------------------------------------------------------------------------- pictures
def test_roofline_picture_has_roofs_labels_and_kernels(tmp_path: Path):
    picture = tmp_path / "roof.svg"
    draw_roofline(roofline_report(WORKS, A100), picture)
    text = picture.read_text("utf-8")
    for label in (
        "arithmetic intensity, FLOP/byte",
        "performance, GFLOP/s",
        "DRAM 1555 GB/s",
        "L2 4600 GB/s",
        "L1, shared memory 19.5 TB/s",
        "FP64 9 746 GFLOP/s",
        "FP32 19 492 GFLOP/s",
        "naive: memory-bound, L1",
        "untimed: memory-bound, DRAM",
    ):
        assert f">{label}<" in text, label


@pytest.mark.parametrize("count", [0, 1, 40])
def test_any_number_of_kernels_in_a_png(tmp_path: Path, count: int):
    picture = tmp_path / "new" / "roof.png"
    works = [Work(f"kernel {i}", {"fp64": 1e9}, {"dram": 10 ** (7 + i / 10)}, 1e-2) for i in range(count)]
    draw_roofline(roofline_report(works, A100), picture)
    with Image.open(picture) as image:
        assert image.size == (1600, 992)
        assert len(image.convert("RGB").getcolors(2**24) or ()) > 20  # not blank


def test_kernels_without_operations_are_drawn_by_their_bandwidths(tmp_path: Path):
    moving = [
        Work("copy", {}, {"dram": 1e9, "l2": 1e9}, 1e-3),
        Work("sort", {}, {"l1": 1e9, "shared": 5e9}, 1e-3, "modelled"),
    ]
    picture = tmp_path / "moved.svg"
    draw_roofline(roofline_report(moving, A100), picture)
    text = picture.read_text("utf-8")
    for label in ("copy", "sort", "DRAM 1555 GB/s", "L1, shared memory 19492 GB/s"):
        assert f">{label}<" in text, label
    assert "arithmetic intensity" not in text
    draw_roofline(roofline_report([*WORKS, *moving], A100), picture)
    text = picture.read_text("utf-8")
    assert ">copy<" in text
    assert "arithmetic intensity" in text
    console = text_console(160)
    print_roofline(roofline_report(moving, A100), console)
    said_of = text_of(console)
    assert "No floating-point operations; bound by DRAM: it moves 1.0 GB there." in said_of
    assert "It took 1.000 ms = 1000 GB/s: 64.31 % of what it can attain." in said_of
    assert "The model says 1.000 ms = 6000 GB/s: 30.78 % of what it can attain." in said_of


def test_products_of_tensor_cores_are_not_called_no_operations():
    peaks = Peaks("some GPU", {}, {"dram": 100}, instructions={"tensor": 1000})
    products = {"tensor": 1e9}
    works = [
        Work("moved", {}, {"dram": 1e9}, instructions=products),
        Work("made", {}, {"dram": 1}, instructions=products),
    ]
    console = text_console(160)
    print_roofline(roofline_report(works, peaks), console)
    text = text_of(console)
    assert "1e+09 multiply-adds of tensor cores; bound by DRAM: it moves 1.0 GB there." in text
    assert "Bound by tensor cores: 1e+09 multiply-adds take longest." in text


def test_many_kernels_have_a_line_each():
    console = text_console(160)
    works = [replace(work, name=f"{work.name} {k}") for k in range(3) for work in WORKS]
    print_roofline(roofline_report(works, A100), console)
    text = text_of(console)
    assert "naive 2" in text
    assert "It can attain" not in text


def test_works_counted_for_another_gpu_are_said_to_be():
    console = text_console(160)
    print_roofline(roofline_report([replace(WORKS[0], gpu="h100")], A100), console)
    assert "Counted for NVIDIA H100 80GB HBM3: machine code, memory rules and caches" in text_of(console)


@pytest.mark.least("ci")
def test_pictures_repeat(tmp_path: Path):
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    for picture in (first, second):
        draw_roofline(roofline_report(WORKS, A100), picture)
    assert first.read_bytes() == second.read_bytes()


def test_curve_picture(tmp_path: Path):
    picture = tmp_path / "curve.svg"
    draw_curve(report(Demand(256, 40)), picture)
    text = picture.read_text("utf-8")
    assert ">threads per block<" in text
    assert ">256 threads: 75 %<" in text


def test_places_that_cannot_be_written(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ArgumentError, match="cannot write the picture"):
        draw_curve(report(Demand(256, 40)), tmp_path / "file" / "curve.svg")
    with pytest.raises(ArgumentError, match=r"curve.jpg: pictures are written as .png, .svg, .pdf"):
        check_ending(Path("curve.jpg"))


# ---------------------------------------------------------------------------------------- devices
@pytest.mark.parametrize("name", devices.names())
def test_a_gpus_numbers_stand_beside_their_sources(name: str):
    device = devices.get(name)
    console = text_console(160)
    print_device(device, console)
    text = text_of(console)
    assert f"{device.multiprocessors}" in text
    assert "memory: 2 x " in text
    for source in device.sources.values():
        assert f"\n{source}: " in text


def test_bandwidth_of_the_gpu_that_is_present():
    console = text_console(160)
    print_present(Present("NVIDIA H200", 4.2e12, 4.8e12, 3_125_000, 6144), console)
    text = text_of(console)
    assert "memory: 2 x 3125 MHz x 6144 bit / 8 = 4800 GB/s" in text
    assert "a copy within the device reaches 4200 GB/s, 87.5 % of that" in text
