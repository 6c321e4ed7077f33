"""The commands devices, occupancy and roofline: results, exit status, messages for bad usage."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.models.test_saved_work import H100, ROW, WORK, bench
from warpglass.cli import main

ROOT = Path(__file__).parent.parent
REDUCE = f"{ROOT / 'examples' / 'reduce.cu'}:reduce<512>"
UNROLL = f"{ROOT / 'src/warpglass/ladders/reduction/unroll8.py'}:unroll8"

Call = Any


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Call:
    """Run a command in this process: (exit status, what it printed, its error)."""

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["warpglass", *words])
        monkeypatch.setenv("COLUMNS", "140")
        with pytest.raises(SystemExit) as leaving:
            main()
        out, err = capsys.readouterr()
        return int(leaving.value.code or 0), out, err

    return run


# ---------------------------------------------------------------------------------------- occupancy
def test_bare_numbers(call: Call):
    status, out, _ = call("occupancy", "--threads", "256", "--registers", "40", "--model", "cc 5.2")
    assert status == 0
    assert "6 blocks at once = 48 of 64 warps: occupancy 75 %, limited by registers." in out
    assert "registers 40 -> 32 gives 100 %" in out


@pytest.mark.parametrize("name", ["cc 5.2", "cc5.2", "5.2", "CC 5.2", "gtx980", "GTX 980"])
def test_ways_to_name_a_gpu(call: Call, name: str):
    status, out, _ = call("occupancy", "--threads", "64", "--model", name, "--json")
    assert status == 0
    assert json.loads(out)["compute_capability"] == "5.2"


def test_kernel_in_cuda(call: Call):
    _, out, _ = call("occupancy", REDUCE, "--block", "512", "--grid", "1024", "--json")
    record = json.loads(out)
    assert record["kernel"] == "reduce<512>"
    assert (record["static_shared"], record["dynamic_shared"], record["barriers"]) == (4096, 0, 1)
    assert record["compiled"]["target"] == "sm_90"
    assert record["registers"] == record["compiled"]["registers"] > 0
    assert record["nsight"]["launch__waves_per_multiprocessor"] == pytest.approx(1024 / (132 * 4))


def test_kernel_in_python_needs_types(call: Call):
    status, _, err = call("occupancy", UNROLL, "--block", "256")
    assert status == 2
    assert (
        "takes 3 arguments (x, partial, n), got 0; a Python kernel is compiled for types: give --arg" in err
    )
    types = [word for text in ("f8[1024]", "f8[1]", "i8=3") for word in ("--arg", text)]
    status, out, _ = call("occupancy", UNROLL, "--block", "256", *types, "--model", "rtx4090")
    assert status == 0
    assert "Machine code for sm_89" in out


def test_kernel_for_an_older_gpu_needs_its_registers(call: Call):
    status, _, err = call("occupancy", REDUCE, "--block", "512", "--model", "gtx980")
    assert status == 2
    assert "older than the oldest that CUDA 13 compiles for, 7.5: give the registers per thread" in err
    status, out, _ = call("occupancy", REDUCE, "--block", "512", "--model", "gtx980", "--registers", "20")
    assert status == 0
    assert "4096 bytes of shared memory" in out


def test_launch_bounds_refuse_a_block_that_would_fit(call: Call, tmp_path: Path):
    source = tmp_path / "k.cu"
    source.write_text('extern "C" __global__ void __launch_bounds__(128) k(int *x) { x[threadIdx.x] = 1; }')
    status, out, _ = call("occupancy", f"{source}:k", "--block", "256")
    assert status == 1
    assert "Even so a launch is refused: cudaErrorLaunchOutOfResources" in out
    assert "at most 128" in out


def test_block_that_cannot_run(call: Call):
    status, out, _ = call("occupancy", "--block", "64x64", "--model", "gtx980")
    assert status == 1
    assert "Such a block cannot run: 64x64 is 4096 threads, but a block has at most 1024" in out
    status, out, _ = call("occupancy", "--block", "1,1,128")
    assert status == 1
    assert "z is 128, but" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give the block: --threads 256"),
        (["--threads", "0"], "at least 1 thread, not 0"),
        (["--threads", "many"], "size 'many'"),
        (
            ["--threads", "256", "--model", "cc 5.9"],
            "compute capability 5.9 is not known; there is 1.0, 1.1",
        ),
        (["--threads", "256", "--model", "h1000"], "no GPU is called 'h1000' (did you mean h100?); known: "),
        (["--threads", "256", "--plot", "x.jpg"], "x.jpg: pictures are written as .png, .svg, .pdf"),
        (["none.cu:k", "--threads", "256"], "no file none.cu"),
        (["reduce", "--threads", "256"], "write FILE:KERNEL"),
        (["--threads", "256", "--shared", "lots"], "size 'lots'"),
        (["--threads", "256", "--registers", "-1"], "--registers"),
    ],
)
def test_bad_usage(call: Call, words: list[str], message: str):
    status, _, err = call("occupancy", *words)
    assert status == 2
    assert message in err


def test_curve_and_picture(call: Call, tmp_path: Path):
    picture = tmp_path / "curve.png"
    words = ("--threads", "256", "--registers", "40", "--shared-per-thread", "16", "--plot", str(picture))
    status, out, _ = call("occupancy", *words, "--curve")
    assert status == 0
    assert out.count("█") > 32
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_pages(call: Call, tmp_path: Path):
    fit, roof = tmp_path / "occupancy.html", tmp_path / "roofline.html"
    assert call("occupancy", "--threads", "256", "--registers", "40", "--html", str(fit))[0] == 0
    assert "6 blocks at once = 48 of 64 warps" in fit.read_text("utf-8")
    assert call("roofline", "--flops", "1", "--bytes", "8", "--html", str(roof))[0] == 0
    assert "Memory-bound (DRAM)" in roof.read_text("utf-8")
    assert "x.txt: pages are written as .html" in call("roofline", "--flops", "1", "--html", "x.txt")[2]


# ---------------------------------------------------------------------------------------- roofline
def test_roofline_of_numbers(call: Call, tmp_path: Path):
    picture = tmp_path / "roof.svg"
    counts = ("--flops", "1", "--bytes", "8", "--precision", "fp64")
    rates = ("--model", "a100", "--peak", "10000", "--bandwidth", "1500")
    status, out, _ = call("roofline", *counts, *rates, "--plot", str(picture))
    assert status == 0
    assert "It can attain 187.5 GFLOP/s, 1.875 % of the peak of 10000." in out
    assert "NVIDIA A100-SXM4-40GB with another peak and bandwidth" in picture.read_text("utf-8")


def test_roofline_of_profiles_and_numbers(call: Call, tmp_path: Path):
    saved = tmp_path / "profile.json"
    metrics = {"flop_count_sp": 1e9, "dram_read_transactions": 1e7}
    saved.write_text(json.dumps({"kernel": "saved", "metrics": metrics, "seconds": 1e-3, "label": "gpu"}))
    _, out, _ = call("roofline", str(saved), "--flops", "1e12", "--bytes", "1e9", "--json")
    works = json.loads(out)["works"]
    assert [(work["name"], work["bound"]) for work in works] == [("kernel", "fp32"), ("saved", "dram")]
    assert works[1]["share_of_attainable"] == pytest.approx(3.2e8 / 3352e9 / 1e-3)


def test_roofline_of_a_bench_on_the_gpu_that_it_was_counted_for(call: Call, tmp_path: Path):
    saved, other = tmp_path / "bench.json", tmp_path / "other.json"
    record = bench(replace(ROW, work=WORK, modelled=(replace(H100, seconds=1e-4),)))
    record.save(saved)
    replace(record, counted_for="Tesla P100-PCIE-16GB").save(other)
    status, out, _ = call("roofline", str(saved))
    assert status == 0
    assert "Roofline of NVIDIA H100 80GB HBM3" in out
    assert "The model says 100.0 us" in out
    _, out, _ = call("roofline", str(saved), "--model", "gtx980")
    assert "Counted for NVIDIA H100 80GB HBM3" in out
    assert "which says nothing about this GPU" in out
    status, _, err = call("roofline", str(saved), str(other))
    assert status == 2
    assert "counted for h100 and p100; --model says on whose roofline they go" in err


def test_roofline_of_a_gpu_alone(call: Call):
    status, out, _ = call("roofline", "--model", "8800gtx")
    assert status == 0
    assert "No rate is known for FP64, FP16, L2, L1." in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--seconds", "1"], "--seconds needs what was done in that time: --flops and --bytes"),
        (["--flops", "0"], "neither operations nor bytes"),
        (["--flops", "1", "--precision", "fp8"], "--precision 'fp8'; there is fp64, fp32, fp16"),
        (["--flops", "1", "--seconds", "-2"], "--seconds is -2.0; it must be above 0"),
        (["--flops", "1", "--peak", "inf"], "--peak is inf; it must be above 0"),
        (["--flops", "1", "--model", "voodoo"], "no GPU is called 'voodoo'"),
        (["none.json"], "none.json: No such file"),
    ],
)
def test_bad_usage_of_roofline(call: Call, words: list[str], message: str):
    status, _, err = call("roofline", *words)
    assert status == 2
    assert message in err


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "it is no JSON object"),
        ("{", "Expecting"),
        ("{}", 'no "metrics"'),
        ('{"metrics": {"flop_count_sp": "many"}}', "many"),
        ('{"profiles": 3}', "not iterable"),
    ],
)
def test_files_that_are_no_profiles(call: Call, tmp_path: Path, text: str, reason: str):
    saved = tmp_path / "bad.json"
    saved.write_text(text)
    status, _, err = call("roofline", str(saved))
    assert status == 2
    assert "bad.json is no saved profile or bench: " in err
    assert reason in err


# ---------------------------------------------------------------------------------------- devices
def test_one_gpu(call: Call):
    status, out, _ = call("devices", "rtx3050")
    assert status == 0
    assert "memory: 2 x 6000 MHz x 128 bit / 8 = 192 GB/s" in out  # as the notes compute it


def test_devices_as_json(call: Call):
    _, out, _ = call("devices", "h200", "--json")
    numbers = json.loads(out)["numbers"]
    assert numbers["bandwidth_gb_s"]["value"] == 4800
    assert all(set(number) == {"value", "unit", "source"} for number in numbers.values())
    _, out, _ = call("devices", "--json")
    record = json.loads(out)
    assert "cpu" in record["places"]
    assert len(record["devices"]) >= 23


def test_unknown_gpu(call: Call):
    status, _, err = call("devices", "voodoo")
    assert status == 2
    assert "no GPU is called 'voodoo'; known: " in err
