"""The command line: results, exit status, and messages for bad usage; no traceback is ever shown."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from warpglass import __version__
from warpglass.__main__ import main as command
from warpglass.cli import main

ROOT = Path(__file__).parent.parent
RUNGS = ROOT / "src" / "warpglass" / "ladders" / "reduction"
SMALL = ("bench", "reduction", "--device", "cpu", "--size", "1000", "--repeat", "1")


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run the command in this process and return its exit status."""
    monkeypatch.setattr(sys, "argv", ["warpglass", *arguments])
    monkeypatch.setenv("COLUMNS", "120")  # narrower tables have shorter names
    with pytest.raises(SystemExit) as leaving:
        main()
    return int(leaving.value.code or 0)


def start(*arguments: str, columns: str = "120") -> subprocess.Popen[str]:
    """Start `python -m warpglass` in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": columns}
    command = [sys.executable, "-m", "warpglass", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True)


def test_version_and_help_of_the_module() -> None:
    process = start("--version")
    assert process.communicate()[0].strip() == f"warpglass {__version__}"
    process = start("--help")
    output = process.communicate()[0]
    assert process.returncode == 0
    assert all(command in output for command in ("bench", "run", "list", "devices"))


def test_bench_prints_the_table_and_writes_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "build" / "bench.json"
    assert call(monkeypatch, *SMALL, "--rung", "unroll8", "--rung", "cpu_recursive", "--json", str(path)) == 0
    output = capsys.readouterr().out
    assert "unroll8<double>" in output
    assert "cpu_recursive" in output
    rows = json.loads(path.read_text())["rows"]
    assert [(row["rung"], row["language"]) for row in rows] == [
        ("cpu_recursive", "python"),
        ("unroll8", "cuda"),
        ("unroll8", "python"),
    ]
    assert all(row["verified"] for row in rows)


def test_json_alone_goes_to_standard_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, *SMALL, "--language", "python", "--rung", "unroll2", "--json", "-") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["rows"][0]["size"] == 1000
    assert record["rows"][0]["label"] == "engine"


def test_explanations_follow_the_table(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, *SMALL, "--language", "cuda", "--rung", "neighbored", "--explain") == 0
    assert "divergence" in capsys.readouterr().out


def test_as_written_rungs_show_their_defects_and_do_not_fail_the_bench(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, *SMALL, "--language", "cuda", "--rung", "neighbored_as_written") == 0
    output = capsys.readouterr().out
    assert "as written in the course notes" in output
    assert "x[1000]" in output


def test_run_prints_time_and_sums(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = f"{RUNGS / 'interleaved.cu'}:interleaved<double>"
    arguments = ("--arg", "f8[2^12]:one", "--arg", "f8[8]", "--arg", "u4=4096")
    launch = ("run", target, "--grid", "8", "--block", "512", "--device", "cpu")
    assert call(monkeypatch, *launch, *arguments) == 0
    output = capsys.readouterr().out
    assert "Engine time:" in output
    assert "Sum of partial (f8[8]): 4096.000000" in output
    assert call(monkeypatch, *launch, *arguments, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["sums"][1] == {"name": "partial", "argument": "f8[8]", "sum": 4096.0}
    assert (report["grid"], report["label"]) == ([8], "engine")


def test_run_takes_python_kernels(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = f"{RUNGS / 'shared_sequential.py'}:shared_sequential"
    arguments = ("--arg", "i4[1000]:one", "--arg", "i4[8]", "--arg", "u4=1000", "--shared", "512")
    assert (
        call(monkeypatch, "run", target, "--grid", "8", "--block", "128", "--device", "cpu", *arguments) == 0
    )
    assert "Sum of partial (i4[8]): 1000" in capsys.readouterr().out


def test_a_fault_is_one_message_and_status_4(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    process = start(
        *("run", f"{RUNGS / 'as_written' / 'shared_sequential.cu'}:shared_sequential<int>"),
        *("--grid", "2", "--block", "128", "--device", "cpu", "--shared", "512"),
        *("--arg", "i4[200]:one", "--arg", "i4[2]", "--arg", "u4=200"),
    )
    error = process.communicate()[1]
    assert process.returncode == 4
    assert "x[200]" in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("bench", "ascension"), "ascension"),
        (("bench", "reduction", "--size", "many"), "many"),
        (("bench", "reduction", "--block", "33"), "33"),
        (("bench", "reduction", "--dtype", "f2"), "f2"),
        (("bench", "reduction", "--rung", "top"), "top"),
        (("bench", "reduction", "--language", "fortran"), "fortran"),
        (("bench", "reduction", "--final", "never"), "never"),
        (("bench", "reduction", "--device", "abacus"), "abacus"),
        (("bench", "reduction", "--repeat", "0"), "repeat"),
        (("bench", "reduction", "--frobnicate"), "frobnicate"),
        (("frobnicate",), "frobnicate"),
        (("run", "nowhere.cu:k", "--grid", "1", "--block", "1"), "nowhere.cu"),
        (("run", "nowhere", "--grid", "1", "--block", "1"), "FILE:KERNEL"),
        (("run", f"{__file__}:k", "--grid", "1,1,1,1", "--block", "1"), "1,1,1,1"),
        (("run", f"{__file__}:k", "--grid", "1", "--block", "1", "--arg", "f9[3]"), "f9"),
    ],
)
def test_bad_usage_names_the_mistake_and_is_status_2(
    arguments: tuple[str, ...],
    word: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call(monkeypatch, *arguments) == 2
    captured = capsys.readouterr()
    assert word in captured.err
    assert "Traceback" not in captured.err
    assert captured.out == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux")
@pytest.mark.parametrize("words", [("devices",), ("metrics",), ("occupancy", "--threads", "64", "--json")])
def test_output_that_nobody_takes_is_no_defect(words: tuple[str, ...]) -> None:
    for redirection in (">/dev/full", ">&-", "| head -1"):
        line = f"{shlex.join([sys.executable, '-m', 'warpglass', *words])} {redirection}"
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(line, shell=True, env=environment, capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr, redirection
        assert "defect" not in done.stderr, redirection


def test_a_terminal_without_unicode_gets_what_it_can_show() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "ascii"}
    words = ("occupancy", "--threads", "256", "--registers", "40", "--curve")
    done = subprocess.run(
        [sys.executable, "-m", "warpglass", *words], env=environment, capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_lists(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(monkeypatch, "list") == 0
    output = capsys.readouterr().out
    assert "reduction:" in output
    assert "shared_sequential_as_written" in output
    assert call(monkeypatch, "devices") == 0
    output = capsys.readouterr().out
    assert "warpglass engine" in output
    assert "h100" in output


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to one process there")
def test_ctrl_c_leaves_quietly_with_status_130() -> None:
    process = start("bench", "reduction", "--device", "cpu", "--repeat", "1000", "--size", "2^22")
    time.sleep(2.5)
    process.send_signal(signal.SIGINT)
    error = process.communicate(timeout=30)[1]
    assert process.returncode == 130
    assert "Traceback" not in error


def test_the_command_handles_ctrl_c_as_usual_once_it_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    usual, seen = signal.getsignal(signal.SIGINT), list[object]()
    monkeypatch.setattr("warpglass.cli.main", lambda: seen.append(signal.getsignal(signal.SIGINT)))
    command()
    assert seen == [usual]
