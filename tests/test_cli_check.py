"""`warpglass check`: a kernel or a whole program, what is printed and written, and the exit status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from warpglass.cli import main
from warpglass.engine.cpu.order import Order

pytestmark = pytest.mark.turns(2)

ROOT = Path(__file__).parent.parent
RACE = """extern "C" __global__ void race(const float *x, float *y)
{
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void clean(float *y) { y[threadIdx.x] = threadIdx.x; }
extern "C" __global__ void past(float *y, int n) { y[n + threadIdx.x] = 1; }
"""
LAUNCH = ("--grid", "1", "--block", "64")
ARGS = ("--arg", "f4[64]:rand", "--arg", "f4[64]")
PROGRAM = """import sys
import numpy as np
import warpglass as wg
race, clean, past = (wg.load("k.cu", name) for name in ("race", "clean", "past"))
x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with kernels."""
    (tmp_path / "k.cu").write_text(RACE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run `warpglass check` in this process and return its exit status."""
    monkeypatch.setattr(sys, "argv", ["warpglass", "check", *arguments])
    monkeypatch.setenv("COLUMNS", "110")
    with pytest.raises(SystemExit) as leaving:
        main()
    return int(leaving.value.code or 0)


def start(*arguments: str) -> subprocess.Popen[str]:
    """Start it in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "110"}
    command = [sys.executable, "-m", "warpglass", "check", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True)


def program(*lines: str) -> str:
    Path("program.py").write_text(PROGRAM + "\n".join(lines) + "\n", encoding="utf-8")
    return "program.py"


# ---------------------------------------------------------------------------------------- one kernel
def test_a_finding_is_shown_with_lines_threads_and_hint(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "k.cu:race", *LAUNCH, *ARGS, "--schedules", "2") == 1
    output = capsys.readouterr().out
    for part in (
        "race<<<1, 64>>>",
        "error: shared-race of s[32]  (and 63 more of the same)",
        "    >    4 |     s[threadIdx.x] = x[threadIdx.x];",
        "    >    5 |     y[threadIdx.x] = s[63 - threadIdx.x];",
        "         3 |     __shared__ float s[64];",
        "  line 4: block (0, 0, 0) thread (32, 0, 0), warp 1 lane 0, before the first barrier",
        "  line 5: block (0, 0, 0) thread (31, 0, 0), warp 0 lane 31, before the first barrier",
        "  hint: add __syncthreads() before k.cu:5",
        "1 error, 0 warnings.",
        "2 random orders, seeds 1 to 2; the verdict holds for all schedules.",
    ):
        assert part in " ".join(output.splitlines()) or part in output, part


def test_nothing_found_is_status_0(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "k.cu:clean", *LAUNCH, "--arg", "out:f4[64]") == 0
    assert "Nothing found." in capsys.readouterr().out


def test_json_and_sarif(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--json", "--sarif", "build/out.sarif", "--seed", "5")
    assert call(monkeypatch, "k.cu:race", *LAUNCH, *ARGS, *options) == 1
    record = json.loads(capsys.readouterr().out)
    (finding,) = record["findings"]
    wanted = {"kind": "shared-race", "array": "s", "index": 32, "count": 64, "seed": None, "epoch": 0}
    assert wanted.items() <= finding.items()
    assert {"warp": 1, "lane": 0, "other_warp": 0, "other_lane": 31}.items() <= finding.items()
    assert record["seeds"] == [5]
    results = json.loads(Path("build/out.sarif").read_text("utf-8"))["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["shared-race"]


def test_suppressed_findings_do_not_count(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = '[[suppress]]\nfile = "k.cu"\nkind = "shared-race"\nkernel = "race"\nreason = "a lesson"\n'
    Path("lesson.toml").write_text(text, encoding="utf-8")
    assert call(monkeypatch, "k.cu:race", *LAUNCH, *ARGS, "--suppress", "lesson.toml") == 0
    output = capsys.readouterr().out
    assert "Nothing found. 1 suppressed." in output
    assert "suppressed: shared-race at k.cu:4 (lesson.toml, entry 1): a lesson" in output
    assert call(monkeypatch, "k.cu:clean", *LAUNCH, "--arg", "f4[64]", "--suppress", "lesson.toml") == 0
    assert "suppresses nothing" in " ".join(capsys.readouterr().out.split())
    Path("lesson.toml").rename("warpglass.toml")  # the nearest configuration counts without being named
    assert call(monkeypatch, "k.cu:race", *LAUNCH, *ARGS, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["findings"] == []
    assert record["suppressed"][0]["reason"] == "a lesson"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("k.cu:race", "--block", "64"), "--grid"),
        (("k.cu:race", *LAUNCH, "--schedules", "-1"), "schedules"),
        (("k.cu:race", *LAUNCH, "--seed", "-1"), "seed"),
        (("k.cu:race", *LAUNCH, "--seed", "x"), "seed"),
        (("k.cu:race", *LAUNCH, "--model", "gt9"), "gt9"),
        (("k.cu:race", *LAUNCH, "--suppress", "none.toml"), "none.toml"),
        (("k.cu:race", *LAUNCH, *ARGS, "--sarif", "k.cu/out"), "cannot be written"),
        (("k.cu:race", "stray", *LAUNCH, *ARGS), "--arg"),
        (("none.py",), "none.py"),
        (("none.cu:k", *LAUNCH), "none.cu"),
        (("--grid", "1", "program.py"), "--grid belongs to FILE:KERNEL"),
    ],
)
def test_bad_usage_is_status_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], word: str
) -> None:
    program("pass")
    assert call(monkeypatch, *arguments) == 2
    assert word in " ".join(capsys.readouterr().err.split())


def test_an_unknown_kernel_names_those_that_there_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "k.cu:rice", *LAUNCH) == 2
    assert "rice (did you mean race?); kernels in the file: race, clean, past" in capsys.readouterr().err


# ---------------------------------------------------------------------------------------- programs
def check_program(monkeypatch: pytest.MonkeyPatch, capsys: Any, *lines: str) -> tuple[int, dict[str, Any]]:
    status = call(monkeypatch, "--json", program(*lines), "a", "--b")
    return status, json.loads(capsys.readouterr().out)


def test_findings_are_told_by_launch_site(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (
        "for _ in range(3): race[1, 64](x, y)",
        "clean[1, 64](y)",
        "wg.run(race, 1, 64, (x, y))",
        "clean[1, 32](wg.out(y))",
        "print(y.sum(), sys.argv)",
    )
    status, record = check_program(monkeypatch, capsys, *lines)
    assert status == 1
    told = [
        (one["kernel"], one["site"], one["launches"], [(f["kind"], f["count"]) for f in one["findings"]])
        for one in record["checks"]
    ]
    assert told == [
        ("race", "program.py:6", 3, [("shared-race", 192)]),
        ("clean", "program.py:7", 1, []),
        ("race", "program.py:8", 1, [("shared-race", 64)]),
        ("clean", "program.py:9", 1, [("unwritten-output", 32)]),
    ]
    assert (record["status"], record["error"], record["arguments"]) == (0, "", ["a", "--b"])


def test_a_program_sees_its_results_and_words(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, program("clean[1, 64](y)", "print(y.sum(), sys.argv)"), "--", "a", "--json") == 0
    output = capsys.readouterr().out
    assert output.startswith("2016.0 ['program.py', 'a', '--json']\n")
    assert "program.py: 1 launch checked." in output
    assert "Nothing found." in output


@pytest.mark.parametrize(
    ("lines", "status", "said"),
    [
        (("sys.exit(7)",), 7, "exit status 7"),
        (("clean[1, 64](y)", "sys.exit('no')"), 1, "exit status 1"),
        (("race[1, 64](x, y)", "sys.exit(7)"), 1, "exit status 7"),
        (("clean[1, 64](y)", "raise ValueError('seven')"), 1, "exit status 1"),
        (("pass",), 0, "launched no kernel"),
    ],
)
def test_the_programs_own_end_is_told(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    lines: tuple[str, ...],
    status: int,
    said: str,
) -> None:
    assert call(monkeypatch, program(*lines)) == status
    captured = capsys.readouterr()
    assert said in captured.out
    assert ("ValueError: seven" in captured.err) == ("ValueError" in lines[-1])
    assert "cli/script.py" not in captured.err


def test_a_kernel_that_fails_ends_the_program_unless_it_copes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (
        "try: past[1, 64](y, 4)",
        "except wg.KernelFault as fault: print(fault.place.index)",
        "clean[1, 64](y)",
        "past[1, 64](y, 8)",
        "print('never')",
    )
    status, record = check_program(monkeypatch, capsys, *lines)
    kinds = [[finding["kind"] for finding in check["findings"]] for check in record["checks"]]
    assert kinds == [["out-of-bounds"], [], ["out-of-bounds"]]
    assert status == 1
    assert record["error"].startswith(str(Path.cwd() / "k.cu"))


def test_a_mistake_after_a_launch_does_not_hide_what_was_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, record = check_program(monkeypatch, capsys, "race[1, 64](x, y)", "clean[1, 64](y, y)")
    assert status == 1
    assert [len(check["findings"]) for check in record["checks"]] == [1]
    assert "clean" in record["error"]


def test_a_module_is_a_program_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program("race[1, 64](x, y)", "print(sys.argv[1:])")
    assert call(monkeypatch, "-m", "program", "--", "a", "--json") == 1
    output = capsys.readouterr().out
    assert output.startswith("['a', '--json']\n")
    assert "-m program: 1 launch checked." in output
    assert call(monkeypatch, "-m", "nowhere") == 2
    assert call(monkeypatch) == 2


def test_threads_that_a_program_leaves_behind_are_waited_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = (
        "import threading, time",
        "def late(): time.sleep(0.3); race[1, 64](x, y)",
        "for _ in range(2): threading.Thread(target=late).start()",
    )
    status, record = check_program(monkeypatch, capsys, *lines)
    assert (status, [check["launches"] for check in record["checks"]]) == (1, [2])


def test_a_timeout_bounds_every_launch(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = 'extern "C" __global__ void spin(volatile float* y) { while (y[0] == 0); }'
    path = program(f"wg.compile({text!r}, 'spin')[1, 1](y)")
    assert call(monkeypatch, "--timeout", "0.3", path) == 1
    assert "error: timeout" in capsys.readouterr().out


def test_sarif_of_a_program_with_random_orders(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = program("race[1, 64](x, y)", "clean[1, 64](y)")
    assert call(monkeypatch, "--sarif", "out.sarif", "--schedules", "2", path) == 1
    run = json.loads(Path("out.sarif").read_text("utf-8"))["runs"][0]
    assert [one["site"] for one in run["properties"]["launches"]] == ["program.py:6", "program.py:7"]
    assert len(run["results"]) == 1
    assert "seeds 1 to 2" in capsys.readouterr().out


def test_ctrl_c_shows_what_was_found_before(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = program(
        "race[1, 64](x, y)", "import os, signal", "os.kill(os.getpid(), signal.SIGINT)", "print(1)"
    )
    assert call(monkeypatch, path) == 1
    captured = capsys.readouterr()
    assert "error: shared-race" in captured.out
    assert "interrupted" in captured.out
    assert captured.err.splitlines()[1].startswith('  File "program.py", line ')
    assert captured.err.endswith("\nKeyboardInterrupt\n")


def test_ctrl_c_within_a_random_order_stops_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """extern "C" __global__ void slow(int* x) {
  for (int i = 0; i < 1 << 20; i++) x[threadIdx.x] += i;
}"""
    Path("slow.cu").write_text(text, encoding="utf-8")
    sent: list[float] = []

    def send() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    def interrupted(seed: int) -> Order:
        if seed == 2:  # what the first compiles is done, so that the signal comes within a launch
            threading.Timer(0.1, send).start()
        return Order(seed)

    monkeypatch.setattr("warpglass.lab.check.Order", interrupted)
    launch = ("--grid", "1", "--block", "32", "--arg", "i4[32]", "--schedules", "1000000")
    assert call(monkeypatch, "slow.cu:slow", *launch) == 130
    assert time.monotonic() - sent[0] < 5
    assert "Traceback" not in capsys.readouterr().err


def test_two_at_once() -> None:
    Path("out.sarif").write_text("old", encoding="utf-8")
    both = [start("k.cu:race", *LAUNCH, *ARGS, "--sarif", "out.sarif") for _ in range(2)]
    ends = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [1, 1], ends
    assert ends[0][0] == ends[1][0]
    assert "error: shared-race" in ends[0][0]
    json.loads(Path("out.sarif").read_text("utf-8"))


def test_numba_programs_find_the_virtual_gpu() -> None:
    pytest.importorskip("numba_cuda_mlir")
    Path("scan.py").write_text(
        """import os
import numpy as np
import warpglass as wg
from numba_cuda_mlir import cuda

@cuda.jit
def scan(x):
    s = cuda.shared.array(64, np.float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    x[t] = s[63 - t]

@cuda.jit(debug=False)
def turn(x, y):
    t = cuda.threadIdx.x
    y[t] = x[t]
    x[t] = y[63 - t]

x = cuda.to_device(np.arange(64, dtype=np.float32))
scan[1, 64](x)
print(x.copy_to_host()[62])
turn[1, 64](x, cuda.device_array(64, np.float32))
text = 'extern "C" __global__ void fresh() {} // ' + os.urandom(8).hex()  # in no cache
wg.compile(text, "fresh")[1, 1]()
""",
        encoding="utf-8",
    )
    process = start("--json", "scan.py")
    output, error = process.communicate(timeout=120)
    assert process.returncode == 1, error
    check, turn, fresh = json.loads(output)["checks"]
    assert "1.0\n" in error
    assert (check["kernel"], check["site"], fresh["kernel"]) == ("scan", "scan.py:20", "fresh")
    (found,) = turn["findings"]
    assert (found["kind"], found["source"]["line"], found["array"]) == ("global-race", 16, "y")
    (finding,) = check["findings"]
    assert finding["kind"] == "shared-race"
    assert {finding["source"]["line"], finding["other_source"]["line"]} == {10, 11}
