"""Whole programs under `check` and `profile`: each launch, by its place in the program."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from warpglass.programs import build
from warpglass.programs.bridge import host_places

from .conftest import SOURCES, Call, environment

pytestmark = pytest.mark.turns(2)

_LINES = pytest.mark.skipif(shutil.which("addr2line") is None, reason="needs addr2line for places")


@_LINES
def test_check_tells_both_lines_and_the_place_of_the_launch(call: Call) -> None:
    done = call("check", "--json", "race.cu")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert [(one["site"], one["kernel"], len(one["findings"])) for one in found["checks"]] == [
        ("race.cu:18", "fill", 0),
        ("race.cu:10", "smooth", 1),
        ("race.cu:20", "smooth", 1),
    ]
    (finding,) = found["checks"][1]["findings"]
    assert finding["kind"] == "shared-race"
    assert [finding[side]["line"] for side in ("source", "other_source")] == [4, 5]
    assert finding["source"]["file"].endswith("race.h")


@_LINES
def test_profile_counts_each_launch(call: Call) -> None:
    done = call("profile", "--csv", "--metrics", "gst_transactions", "race.cu")
    assert done.returncode == 0, done.stderr
    assert "smooth" in done.stdout
    assert "fill" in done.stdout


def test_a_summary_has_kernels_copies_and_calls(call: Call) -> None:
    done = call("profile", "--gpu-summary", "--csv", "race.cu")
    rows = list(csv.reader(done.stdout.splitlines()[2:]))
    assert done.returncode == 0, done.stderr
    assert {(row[0], row[7], int(row[3])) for row in rows} >= {
        ("GPU activities", "smooth", 3),
        ("GPU activities", "fill", 1),
        ("API calls", "cudaLaunchKernel", 4),
        ("API calls", "cudaMalloc", 2),
        ("API calls", "cudaDeviceSynchronize", 1),
    }


@pytest.mark.least("ci")
def test_a_summary_has_calls_of_virtual_libraries(call: Call) -> None:
    done = call("profile", "--gpu-summary", "--csv", "libraries.cu", "-lcublas", "-lnvrtc")
    rows = list(csv.reader(done.stdout.splitlines()[3:]))
    assert done.returncode == 0, done.stderr
    names = [row[7] for row in rows if row[0] == "On the host"]
    assert sorted(names) == [f"cublas{name}_v2 [virtual cuBLAS]" for name in ("Create", "Destroy", "Sdot")]


def test_a_check_passes_signals_on_and_leaves_nothing(tools: build.Tools) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "warpglass", "check", "ends.cu", "--", "wait"],
        env=environment(),
        cwd=SOURCES,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as watching:
        assert watching.stdout is not None
        assert watching.stdout.readline() == b"start\n"
        (child,) = _children(watching.pid)
        watching.send_signal(signal.SIGKILL)
        watching.wait(20)
    give_up = time.monotonic() + 20
    while _runs(child) and time.monotonic() < give_up:
        time.sleep(0.05)
    assert not _runs(child)


def _children(parent: int) -> list[int]:
    return list(map(int, Path(f"/proc/{parent}/task/{parent}/children").read_text().split()))


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.least("full")
def test_a_launch_of_a_template_is_told_by_its_line(call: Call) -> None:
    done = call("check", "places.cu", "-O3")
    assert "Launched at places.cu:9\n" in done.stdout, done.stdout + done.stderr


def test_an_inlined_host_function_of_the_kernel_is_no_place(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = "_ZN4deep3addILi3EEEvPi"
    frames = [host_places._Frame("add<3>", "a.cu", 4), host_places._Frame("_ZL6launchPi", "a.cu", 9)]
    monkeypatch.setattr(host_places, "_frames", lambda name, address: frames)
    assert host_places._place((("a.out", 1),), kernel) == "a.cu:9"
