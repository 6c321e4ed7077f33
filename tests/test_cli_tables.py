"""Commands that look things up print their tables as CSV, Markdown and LaTeX too."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from warpglass.cli import main
from warpglass.records.check import SelfTest, SelfTestRow
from warpglass.records.sweep import SweepRecord, SweepRow
from warpglass.report.selftest import selftest_table
from warpglass.report.sweep import sweep_csv, sweep_table
from warpglass.report.tables import csv_text, latex_text, markdown_text
from warpglass.report.trace_steps import ranges

Call = Callable[..., str]
KERNEL = "examples/smooth.cu"
SMOOTH = f"{KERNEL}:smooth --grid 2 --block 128 --arg f4[200]:rand --arg f4[200] --arg i4=200"
ROOFLINE = ("roofline", "--flops", "3e9", "--bytes", "1.5e9", "--seconds", "0.002", "--model", "a100")
COMMANDS = (
    ("devices", ("cpu", "GPUs known by name", "NVIDIA H100 80GB HBM3")),
    ("devices gtx980", ("boost clock", "TechPowerUp")),
    ("list", ("reduction", "neighbored", "C++, Python")),
    (f"list {KERNEL}", ("smooth", "const float")),
    ("metrics", ("branch", "Nsight Compute", "bytes")),
    ("metrics gld_efficiency", ("nvprof", "bytes that global loads ask for")),
    ("occupancy --threads 8x8 --model gtx980 --curve", ("warps, blocks", "What fits", "Block sizes")),
    ("launch 76x62 --block 16x16", ("idle threads", "408", "ceil(62 / 16)")),
    ("trace oddeven_sort", ("1a", "blocks", "after")),
    (f"trace {SMOOTH}", ("store", "tile", "0-127")),
    (f"explain {SMOOTH}", ("lesson", "try", "share of the work")),
    (" ".join(ROOFLINE), ("DRAM", "What binds", "FLOP/byte")),
)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.chdir(Path(__file__).parent.parent)

    def run(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["warpglass", *words])
        with pytest.raises(SystemExit) as left:
            main()
        assert left.value.code == 0
        return capsys.readouterr().out

    return run


@pytest.mark.parametrize(("command", "shown"), COMMANDS)
def test_tables_in_three_forms(call: Call, command: str, shown: tuple[str, ...]) -> None:
    rows, markdown, latex = (call(*command.split(), form) for form in ("--csv", "--markdown", "--latex"))
    for text in shown:
        assert text in rows
        assert text in markdown.replace("\\", "")
        assert text in latex.replace("\\", "")
    blocks = [list(csv.reader(io.StringIO(part))) for part in rows.split("\n\n")]
    assert all(len(row) == len(block[0]) for block in blocks for row in block)
    assert len(blocks) == latex.count(r"\begin{tabular}")


def test_planted_bugs_are_a_table() -> None:
    row = SelfTestRow("race", "a/k.cu", 3, ("race",), 3, (), 0.1)
    table = selftest_table(SelfTest((row, replace(row, found=(), line=None)), "engine"))
    assert csv_text([table]).splitlines()[1:] == ["race,race,k.cu:3,3,silent,ok", "race,,,3,silent,FAILED"]


def test_equal_ranges_are_told_once() -> None:
    assert ranges([*range(16)] * 16) == "(0-15) x16"
    assert ranges([0, 0, 0, 5, 5, 5, 1, 2]) == "0 x3 5 x3 1 2"


def test_numbers_are_whole_in_csv(call: Call) -> None:
    block = call(*ROOFLINE, "--csv").split("\n\n")[-1]
    (row,) = csv.DictReader(io.StringIO(block))
    assert float(row["at least"]) == pytest.approx(1.5e9 / 1555e9)
    assert float(row["share of what it can attain"]) == pytest.approx(1.5e9 / 1555e9 / 0.002)


def test_a_sweep_has_the_same_forms() -> None:
    cell = SweepRow(
        name="k.cu:fill",
        axes={"n": 3},
        model="h100",
        status="done",
        numbers={"seconds": 0.0025, "device": "=1+1"},
        text="",
        seconds=0.5,
    )
    failed = replace(cell, axes={"n": 4}, status="failed", numbers={}, text="no, it did not", seconds=0.25)
    record = SweepRecord(axes=("n",), rows=(cell, failed))
    assert list(csv.DictReader(io.StringIO(sweep_csv(record)))) == [
        {
            "name": "k.cu:fill",
            "n": "3",
            "model": "h100",
            "status": "done",
            "seconds": "0.0025",
            "device": "'=1+1",  # no formula for a spreadsheet
            "text": "",
            "cell_seconds": "0.5",
        },
        {
            "name": "k.cu:fill",
            "n": "4",
            "model": "h100",
            "status": "failed",
            "seconds": "",
            "device": "",
            "text": "no, it did not",
            "cell_seconds": "0.25",
        },
    ]
    table = sweep_table(record)
    assert "| k.cu:fill | 3 | h100 | done | 2.500 ms |" in markdown_text([table])
    assert r"k.cu:fill & 4 & h100 & failed & - & -" in latex_text([table])
