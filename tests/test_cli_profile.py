"""The commands profile, metrics and compare: results, files, whole programs, messages for bad usage."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import warpglass as wg
from tests.report.profiles import make
from tests.report.test_kernel_time_report import FAST, SLOW
from warpglass.cli import main
from warpglass.records.profile import load, load_all

ROOT = Path(__file__).parent.parent
REDUCE = f"{ROOT / 'examples' / 'reduce.cu'}:reduce<256>"
LAUNCH = ("--grid", "16", "--block", "256", "--arg", "f8[4096]:rand", "--arg", "f8[16]", "--arg", "u4=4096")
PYTHON = f"{ROOT / 'src/warpglass/ladders/reduction/neighbored.py'}:neighbored"

Call = Any


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Call]:
    """Run a command in this process: (exit status, what it printed, its error)."""

    def run(*words: str, columns: int = 120) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["warpglass", *words])
        monkeypatch.setenv("COLUMNS", str(columns))
        with pytest.raises(SystemExit) as leaving:
            main()
        out, err = capsys.readouterr()
        return int(leaving.value.code or 0), out, err

    yield run
    wg.reset("cpu")  # after faults


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("columns", [80, 140])
def test_terminal(call: Call, columns: int):
    status, out, _ = call("profile", REDUCE, *LAUNCH, "--lines", columns=columns)
    assert status == 0
    lines = out.splitlines()
    assert lines[0] == "reduce<256><<<16, 256>>>"
    assert ["gld_transactions", "1,024", "exact"] in [line.split()[:3] for line in lines]
    assert any("shared[threadIdx.x] = i" in line for line in lines)
    assert max(len(line.rstrip()) for line in lines) <= columns


def test_python_kernel_by_line(call: Call):
    status, out, _ = call("profile", PYTHON, *LAUNCH, "--lines", "--no-caches")
    assert status == 0
    assert "x[base + tid] += x[base + tid + stride]" in out
    assert "Uncoalesced loads" in out
    assert "Most at neighbored.py:" in out


def test_command_of_the_course_notes(call: Call, tmp_path: Path):
    """nvprof --log-file log_oi.csv --csv --metrics a --metrics b ..., with all the metrics that they name."""
    names = (
        *("flop_count_dp", "flop_count_sp", "flop_count_hp", "gld_transactions", "gst_transactions"),
        *("atomic_transactions", "local_load_transactions", "local_store_transactions"),
        *("shared_load_transactions", "shared_store_transactions", "l2_read_transactions"),
        *("l2_write_transactions", "dram_read_transactions", "dram_write_transactions"),
    )
    log = tmp_path / "log_oi.csv"
    metrics = [word for name in names for word in ("--metrics", name)]
    status, out, _ = call("profile", "--log-file", str(log), "--csv", *metrics, REDUCE, *LAUNCH)
    assert (status, out) == (0, "")
    found = {row["Metric Name"]: row for row in rows(log.read_text())}
    assert tuple(found) == names
    assert found["gld_transactions"]["Avg"] == str(4096 * 8 // 32)
    assert found["flop_count_dp"]["Avg"] == str(16 * 255)
    assert float(found["dram_read_transactions"]["Avg"]) >= 1024


@pytest.mark.parametrize("option", ["--gpu-summary", "--print-gpu-summary"])
def test_summary(call: Call, option: str):
    status, out, _ = call("profile", "--csv", option, REDUCE, *LAUNCH)
    assert status == 0
    units, row = rows(out)
    assert units["Time"] == "ms"
    assert (row["Name"], row["Calls"], row["Time(%)"]) == ("reduce<256>", "1", "100.00")
    assert "reduce<256>" in call("profile", option, REDUCE, *LAUNCH)[1]


def test_csv_in_columns_of_ncu(call: Call):
    name = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
    _, out, _ = call("profile", REDUCE, *LAUNCH, "--csv", "--metrics", f"{name},gld_efficiency")
    first, second = rows(out)
    assert (first["Metric Name"], first["Metric Value"], first["Label"]) == (name, "1024", "exact")
    shown = [second[f"Metric {what}"] for what in ("Name", "Unit", "Value")]
    assert shown == ["gld_efficiency", "%", "100"]
    _, whole, _ = call("profile", REDUCE, *LAUNCH, "--csv", "--no-caches")
    assert {row["Metric Name"] for row in rows(whole)} > {name, "launch__grid_size"}


def test_all_metrics(call: Call):
    _, out, _ = call("profile", REDUCE, *LAUNCH, "--csv", "--metrics", "all")
    assert {row["Metric Name"] for row in rows(out)} > {
        "gld_efficiency",
        "flop_count_hp",
        "branch_efficiency",
    }


def test_gpus_without_machine_code_say_so(call: Call):
    """Registers of a GTX 980 are unknown, so that its occupancy is a guess."""
    _, out, _ = call("profile", REDUCE, *LAUNCH, "--json", "--model", "gtx980")
    record = json.loads(out)
    assert record["labels"]["theoretical_occupancy"] == "modelled"
    assert record["labels"]["launch__registers_per_thread"] == "modelled"
    assert record["labels"]["launch__grid_size"] == "exact"
    assert "registers are unknown" in record["notes"][0]


def test_sample_of_blocks(call: Call):
    _, out, _ = call("profile", REDUCE, *LAUNCH, "--blocks", "3")
    assert "counted in 3 of 16 blocks" in out
    assert ["gld_transactions", "1,024", "modelled"] in [line.split()[:3] for line in out.splitlines()]


def test_json_and_save_are_the_profile(call: Call, tmp_path: Path):
    path = tmp_path / "made" / "a.json"
    _, out, _ = call("profile", REDUCE, *LAUNCH, "--json", "--save", str(path))
    assert json.loads(out)["metrics"]["gld_transactions"] == 1024
    assert load(path).grid == (16, 1, 1)
    assert path.read_text() == out


# ---------------------------------------------------------------------------------------- programs
PROGRAM = """
import sys
import numpy as np
import warpglass as wg

kernel = wg.load({source!r}, "reduce<256>")
x, partial = np.ones(4096), np.zeros(16)
for _ in range(int(sys.argv[1])):
    kernel[16, 256](x, partial, x.size)
wg.run(kernel, 8, 256, (x, partial, np.uint32(2048)))
print("sum", partial.sum())
{end}
"""


def program(folder: Path, end: str = "") -> str:
    path = folder / "program.py"
    path.write_text(PROGRAM.format(source=str(ROOT / "examples" / "reduce.cu"), end=end))
    return str(path)


def test_every_launch_of_a_program_is_counted(call: Call, tmp_path: Path):
    path, saved = program(tmp_path), tmp_path / "all.json"
    status, out, _ = call("profile", "--no-caches", "--save", str(saved), path, "3", "--grid", "9")
    assert status == 0
    assert out.startswith("sum 4096.0")
    assert "program.py:9" in out
    assert "the first of 3 launches there" in " ".join(out.split())  # lines break where the path ends
    found = load_all(saved)
    assert [one.grid[0] for one in found] == [16, 16, 16, 8]
    assert [one.site for one in found] == [f"{path}:9"] * 3 + [f"{path}:10"]


THREADED = """
import threading
import numpy as np
import warpglass as wg

kernel = wg.load({source!r}, "reduce<256>")

def work():
    kernel[16, 256](np.ones(4096), np.zeros(16), 4096)

threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_launches_of_threads_are_counted(call: Call, tmp_path: Path):
    path = tmp_path / "threads.py"
    path.write_text(THREADED.format(source=str(ROOT / "examples" / "reduce.cu")))
    status, out, _ = call("profile", "--no-caches", "--json", str(path))
    assert status == 0
    found = json.loads(out)["profiles"]
    assert [one["metrics"]["gld_transactions"] for one in found] == [1024] * 3
    assert {one["site"] for one in found} == {f"{path}:9"}


def test_a_fault_in_a_program_leaves_no_half_profile(call: Call, tmp_path: Path):
    status, out, err = call("profile", program(tmp_path, "kernel[17, 256](x, partial, 4352)"), "1")
    assert status == 4
    assert out == "sum 4096.0\n"
    assert "but x has 4096 elements" in err


def test_csv_of_a_program_has_every_launch(call: Call, tmp_path: Path):
    path, log = program(tmp_path), tmp_path / "log.csv"
    call("profile", "--csv", "--metrics", "gld_transactions", "--log-file", str(log), path, "2")
    (row,) = rows(log.read_text())
    assert [row[key] for key in ("Invocations", "Min", "Max")] == ["3", "512", "1024"]


def test_programs_end_as_they_would_alone(call: Call, tmp_path: Path):
    assert call("profile", "--gpu-summary", program(tmp_path, "sys.exit(5)"), "1")[0] == 5
    status, out, err = call("profile", "--gpu-summary", program(tmp_path, "raise ValueError(7)"), "1")
    assert status == 1
    assert "reduce<256>" in out  # what was counted before
    assert err.splitlines()[1].strip().startswith('File "')
    assert "program.py" in err.splitlines()[1]
    assert err.endswith("ValueError: 7\n")


def test_program_without_launches(call: Call, tmp_path: Path):
    path = tmp_path / "empty.py"
    path.write_text("import sys; assert sys.argv[1:] == ['--csv']")
    status, out, _ = call("profile", str(path), "--", "--csv")
    assert (status, out.strip()) == (0, "The program launched no kernel.")


# ---------------------------------------------------------------------------------------- other commands
def test_metrics_lists_and_defines(call: Call):
    assert "gld_efficiency" in call("metrics")[1]
    status, out, _ = call("metrics", "gld_transactions")
    assert status == 0
    assert "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum" in out
    _, out, _ = call("metrics", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum")
    assert "gld_efficiency" in out
    record = json.loads(call("metrics", "--json")[1])["metrics"]
    assert record["gld_efficiency"]["tool"] == "nvprof"


def test_compare_of_three(call: Call, tmp_path: Path):
    names: list[str] = []
    for sectors, modelled in ((64, SLOW), (32, FAST), (16, FAST)):
        path = tmp_path / f"{sectors}.json"
        make(sectors=sectors, modelled=modelled).save(path)
        names.append(str(path))
    status, out, _ = call("compare", *names)
    assert status == 0
    assert out.count("2.00 times faster") == 2
    assert "64.json: 40.00 us (25.00 to 64.00 us), 2.00 times as long" in out
    status, out, _ = call("compare", *names, "--json", "--threshold", "0%")
    found = json.loads(out)
    assert status == 0
    assert [one["second"] for one in found["comparisons"]] == ["32.json", "16.json"]
    assert len(found["ranking"]) == 4


def test_compare(call: Call, tmp_path: Path):
    first, second = str(tmp_path / "a.json"), str(tmp_path / "b.json")
    call("profile", REDUCE, *LAUNCH, "--save", first, "--csv")
    call("profile", REDUCE, "--grid", "8", *LAUNCH[2:], "--save", second, "--csv")
    assert call("compare", first, first, "--threshold", "0%")[0] == 0
    status, out, _ = call("compare", first, second)
    assert status == 0
    assert "different grids: 16x1x1 and 8x1x1" in out
    status, out, _ = call(
        "compare", first, second, "--threshold", "5%", "--metrics", "gld_transactions", "--json"
    )
    assert status == 0  # fewer are no worse
    (change,) = json.loads(out)["pairs"][0]["changes"]
    assert (change["name"], change["ratio"]) == ("gld_transactions", 0.5)
    worse = ("compare", second, first, "--threshold", "5%", "--metrics", "gld_transactions")
    assert call(*worse)[0] == 1


def test_a_saved_profile_has_a_place_on_the_roofline(call: Call, tmp_path: Path):
    """At its modelled time; the engine's time is not taken for a GPU's."""
    path = str(tmp_path / "a.json")
    call("profile", REDUCE, *LAUNCH, "--save", path, "--csv")
    _, out, _ = call("roofline", path)
    assert "Memory-bound" in out
    assert "The model says" in out
    _, out, _ = call("roofline", path, "--model", "a100")
    assert "engine time, which says nothing about this GPU" in out


# ---------------------------------------------------------------------------------------- bench --counters
def test_rungs_say_how_they_use_memory(call: Call):
    """On 2^13 doubles in blocks of 512: neighbours at distance 1, 2, 4 touch every sector and use a third."""
    rungs = ("--rung", "cpu_recursive", "--rung", "neighbored", "--rung", "shared_interleaved_strided")
    small = ("--size", "8192", "--repeat", "1", "--device", "cpu")
    _, out, _ = call("bench", "reduction", *rungs, *small, "--counters", "--json", "-")
    record = json.loads(out)
    assert record["counted_for"] == "NVIDIA H100 80GB HBM3"
    host, cuda, python, *shared = record["rows"]
    assert host["metrics"] is None
    for row in (cuda, python):
        assert row["metrics"]["gld_efficiency"] == pytest.approx(33.3, abs=0.5)
        assert row["labels"]["gld_efficiency"] == "exact"
        assert row["metrics"]["shared_bank_conflicts"] == 0
    assert all(row["metrics"]["shared_bank_conflicts"] > 0 for row in shared)
    for columns in (80, 140):
        _, text, _ = call("bench", "reduction", *rungs, *small, "--counters", columns=columns)
        assert "Counted by the engine for NVIDIA H100 80GB HBM3" in text
        assert max(len(line.rstrip()) for line in text.splitlines()) <= columns
    _, out, _ = call("bench", "reduction", *rungs, *small, "--no-counters", "--json", "-")
    assert json.loads(out)["rows"][1]["metrics"] is None


# ---------------------------------------------------------------------------------------- bad usage
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((REDUCE, *LAUNCH, "--metrics", "gld_transaction"), "did you mean gld_transactions?"),
        ((REDUCE, *LAUNCH, "--metrics", "l1tex__t_sectors"), "no such counter or metric"),
        ((REDUCE, *LAUNCH, "--model", "h101"), "no GPU is called 'h101'"),
        ((REDUCE, *LAUNCH, "--blocks", "0"), "a sample has at least one"),
        ((REDUCE,), "--grid BLOCKS and --block THREADS"),
        ((REDUCE, *LAUNCH, "more"), "'more': what a kernel gets is given with --arg"),
        ((REDUCE, *LAUNCH, "--csv", "--log-file", f"{__file__}/x"), "cannot be written"),
        (("missing.cu:k", "--grid", "1", "--block", "1"), "no file missing.cu"),
        (("missing.py",), "no file missing.py"),
        (("--grid", "4", "missing.py"), "--grid belongs to FILE:KERNEL"),
        (("reduce.cu", "--grid", "1", "--block", "1"), "write FILE:KERNEL"),
    ],
)
def test_bad_usage(call: Call, words: tuple[str, ...], message: str):
    status, out, err = call("profile", *words)
    assert (status, out) == (2, "")
    assert message in err


def test_failing_kernel_reports_its_fault(call: Call):
    status, out, err = call("profile", REDUCE, "--grid", "32", *LAUNCH[2:-1], "u4=8192")
    assert (status, out) == (4, "")
    assert "reduce.cu:9" in err


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("metrics", "flop_cont_sp"), 2, "did you mean flop_count_sp?"),
        (("compare", "missing.json", "missing.json"), 2, "missing.json cannot be read"),
        (("compare", str(ROOT / "pyproject.toml"), "missing.json"), 2, "pyproject.toml is no JSON"),
        (("compare", "a", "b", "--threshold", "five"), 2, "threshold 'five': write a share as 5% or 0.05"),
    ],
)
def test_bad_usage_of_other_commands(call: Call, words: tuple[str, ...], status: int, message: str):
    found, out, err = call(*words)
    assert (found, out) == (status, "")
    assert message in err
