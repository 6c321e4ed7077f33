"""The bench's tables: they fit 80 and 120 columns, stay plain in a pipe, and say whose times they show."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from warpglass.ladders.rung import Rung
from warpglass.records.bench import Record, Row
from warpglass.report.bench import print_bench, render_text
from warpglass.report.console import stdout_console, text_console, text_of
from warpglass.report.explain.rungs import print_explanations
from warpglass.report.figures import format_bytes, format_ratio, format_seconds, format_sum
from warpglass.report.run import RunReport, print_run

ROW = Row(
    rung="complete_unroll_warps8",
    language="cuda",
    kernel="complete_unroll_warps8<double>",
    table="global",
    title="Reduction in global memory",
    as_written=False,
    size=2**24,
    dtype="float64",
    grid=32768,
    block=512,
    shared=0,
    final="host",
    label="engine",
    seconds=0.0283,
    repeats=(0.0283,),
    gb_per_s=4.74,
    gflop_per_s=0.59,
    step_speedup=1.26,
    cumulative_speedup=12.31,
    sum=8389084.624453,
    expected=8389084.624453,
    error=1e-9,
    bound=2e-8,
    verified=True,
)
HOST = replace(
    ROW,
    rung="cpu_recursive",
    language="python",
    kernel="cpu_recursive",
    grid=None,
    block=None,
    shared=None,
    label="host",
    step_speedup=None,
    cumulative_speedup=None,
)
SHARED = replace(
    ROW,
    rung="shared_interleaved_strided",
    kernel="shared_interleaved_strided<int>",
    table="shared",
    title="Reduction in shared memory",
    size=2**22,
    dtype="int32",
    block=128,
    sum=534857046,
    expected=534857046,
    error=0,
    bound=0.0,
)
FAILED = replace(
    ROW,
    as_written=True,
    rung="complete_unroll_as_written",
    kernel="complete_unroll<double, 512>",
    seconds=None,
    label=None,
    sum=None,
    error=None,
    bound=None,
    verified=False,
    failure="as_written/complete_unroll.cu:12: 8-byte read of x[100003]",
)


def make_record(*rows: Row) -> Record:
    return Record(ladder="reduction", device="a device", backend="cpu", version="0", rows=rows)


RECORD = make_record(
    HOST, ROW, replace(ROW, language="python", kernel="complete_unroll(512)"), FAILED, SHARED
)


@pytest.mark.parametrize("width", [80, 100, 110, 120, 200])
def test_every_line_fits_and_no_cell_is_cut(width: int) -> None:
    text = render_text(RECORD, width)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text  # what rich puts where it cuts
    for word in (
        "complete_unroll_warps8",
        "<<<32768, 512>>>",
        "8389084.624453",
        "534857046",
        "1.26",
        "12.31",
    ):
        assert word in text


def test_wide_report_is_one_table_with_kernel_names() -> None:
    text = render_text(RECORD, 120)
    line = next(line for line in text.splitlines() if "complete_unroll_warps8<double>" in line)
    assert line.split() == [
        *("2", "28.30", "ms", "8389084.624453", "<<<32768,", "512>>>", "complete_unroll_warps8<double>"),
        *("C++", "1.26", "12.31", "4.74", "0.59", "yes"),
    ]


def test_engine_times_are_never_called_gpu_times() -> None:
    engine = render_text(RECORD, 120)
    assert "engine time" in engine
    assert "GPU time" not in engine
    assert "They say nothing about a GPU's" in engine
    gpu = render_text(make_record(replace(ROW, label="gpu")), 120)
    assert "GPU time" in gpu
    assert "Sum on GPU" in gpu
    assert "engine" not in gpu


def test_host_time_is_marked_as_such() -> None:
    text = render_text(RECORD, 80)
    assert "(host time)" in next(line for line in text.splitlines() if "cpu_recursive" in line)


def test_wrong_and_failed_rows_stand_out() -> None:
    text = render_text(make_record(replace(ROW, verified=False, error=3.0), FAILED), 120)
    assert " no" in text
    assert "failed: as_written/complete_unroll.cu:12: 8-byte read of x[100003]" in text
    assert "Verified: 0 of 1" in text


def test_pipe_has_no_colours_and_keeps_rows_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    print_bench(RECORD, stdout_console())
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert "complete_unroll_warps8<double>" in text


def test_no_color_is_respected_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    print_bench(RECORD, console)
    assert isinstance(console.file, io.StringIO)
    assert "\x1b[3" not in console.file.getvalue()  # no foreground colour; bold is allowed


TOLD = Rung(
    name="complete_unroll_warps8",
    explanation="Everything is\nwritten out.\n\nSecond\nparagraph [not markup].\n",
    follows=None,
    table="",
    defect="it is long",
)


def test_explanations_carry_the_figures_of_the_record() -> None:
    console = Console(file=io.StringIO(), width=60)
    print_explanations([TOLD], RECORD, console)
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "C++: 28.30 ms (engine time), 1.26 times the previous rung" in " ".join(text.split())
    assert "  Everything is written out.\n" in text
    assert "Second paragraph [not markup]." in text
    assert "Defect: it is long." in text
    assert max(map(len, text.splitlines())) <= 60


METRICS = {
    "inst_executed": 12345.0,
    "gld_efficiency": 100 / 3,
    "gst_efficiency": 0.0,
    "gld_transactions": 9.0,
    "gst_transactions": 0.0,
    "shared_bank_conflicts": 7.0,
    "branch": 1.0,
    "branch_efficiency": 50.0,
    "warp_execution_efficiency": 99.0,
    "theoretical_occupancy": 75.0,
}


@pytest.mark.parametrize("width", [80, 120])
def test_counted_rungs_get_a_table_of_their_own(width: int) -> None:
    labels = {**dict.fromkeys(METRICS, "exact"), "inst_executed": "modelled"}
    counted = replace(ROW, metrics=METRICS, labels=labels)
    text = render_text(replace(RECORD, rows=(HOST, counted), counted_for="a GPU"), width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    start = next(k for k, line in enumerate(lines) if line.startswith("Counted by the engine for a GPU"))
    name = ROW.kernel if width == 120 else ROW.rung
    assert lines[start + 3].split() == [*"2 33.3 - 7 50.0 99.0 75.0 12.3k".split(), name, "C++"]
    assert "modelled: inst_executed" in lines
    assert "Counted" not in render_text(RECORD, width)
    console = text_console(100)
    print_explanations([TOLD], replace(RECORD, rows=(counted,)), console)
    assert "C++: gld_efficiency 33.3 % (exact), shared_bank_conflicts 7 (exact)" in text_of(console)


def test_run_report_names_the_kind_of_time() -> None:
    report = RunReport(
        "sum<512>", (32, 4), (16,), "a device", "engine", 0.001, (("x", "f8[4]", 1.5), ("y", "i4[2]", 3))
    )
    console = Console(file=io.StringIO(), width=80)
    print_run(report, console)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == [
        "Device: a device",
        "Kernel: sum<512><<<32x4, 16>>>",
        "Engine time: 1.000 ms",
        "Sum of x (f8[4]): 1.500000",
        "Sum of y (i4[2]): 3",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "-"),
        (12.3456, "12.35 s"),
        (1.0, "1.000 s"),
        (0.99996, "1.000 s"),
        (0.0283, "28.30 ms"),
        (0.0005, "500.0 us"),
        (2.5e-8, "25 ns"),
    ],
)
def test_seconds(seconds: float | None, text: str) -> None:
    assert format_seconds(seconds) == text


def test_other_figures() -> None:
    assert format_ratio(None) == "-"
    assert format_ratio(12.345) == "12.35"
    assert format_ratio(1234.5) == "1234"
    assert format_sum(7) == "7"
    assert format_sum(0.0) == "0.000000"
    assert format_sum(1.5e20) == "1.5e+20"
    assert format_bytes(134217728) == "134.2 MB"
    assert format_bytes(12) == "12 bytes"


def test_a_program_of_several_launches_goes_by_its_rungs_name() -> None:
    several = replace(ROW, rung="merge_path", kernel="bitonic_block<float>", launches=11)
    text = render_text(make_record(ROW, several), 160)
    assert "complete_unroll_warps8<double>" in text
    assert "merge_path" in text
    assert "bitonic_block" not in text
