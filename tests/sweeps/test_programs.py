"""Whole programs as cells: what they say and how they end, what is counted and found in their launches."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import warpglass as wg
from warpglass import ArgumentError
from warpglass.sweeps.spec import make

SCRIPT = """
import os, subprocess, sys, time
what, n = sys.argv[1:]
print(f"rate: {2 * int(n)} GB/s", flush=True)
if what == "fails":
    sys.exit("nothing fits")
if what == "dies":
    os.kill(os.getpid(), 11)
if what == "floods":
    for _ in range(100):
        print("spam " * 10_000)
    print("rate: 7 GB/s")
if what in ("hangs", "leaves"):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    open("left.txt", "w").write(str(child.pid))
    time.sleep(1000 * (what == "hangs"))
"""
PROGRAM = """
#include <cstdio>
#include <cstdlib>
__global__ void fill(int *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = n; }
__global__ void turn(int *x, bool waits) {
    __shared__ int s[WIDTH];
    s[threadIdx.x] = x[threadIdx.x];
    if (waits) __syncthreads();
    x[threadIdx.x] = s[WIDTH - 1 - threadIdx.x];
}
int main(int argc, char **argv) {
    int *x;
    cudaMalloc(&x, 64 * sizeof *x);
    for (int k = 0; k < atoi(argv[1]); k++) fill<<<1, 64>>>(x, 64);
    turn<<<1, 32>>>(x + 32, true);
    turn<<<1, WIDTH>>>(x, argc < 3);
    return cudaDeviceSynchronize();
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "p.py").write_text(SCRIPT)
    (tmp_path / "p.cu").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _ends(process: int) -> bool:
    """Whether a process ends within some seconds."""
    for _ in range(100):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        if ") Z " in Path(f"/proc/{process}/stat").read_text():
            return True
        time.sleep(0.1)
    return False


def test_each_run_has_its_end(folder: Path) -> None:
    words = {"program": "p.py", "numbers": {"rate": "rate: ([0-9.]+) GB"}}
    kernels = [
        {**words, "name": what, "arguments": [what, "{n / 2}"], "expect": "{n} GB"}
        for what in ("good", "fails", "dies", "hangs")
    ]
    kernels += [
        {**words, "name": "floods", "arguments": ["floods", "{n}"]},
        {**words, "name": "leaves", "arguments": ["leaves", "{n}"]},
        {**words, "name": "else", "arguments": ["good", "{n}"], "expect": "done"},
        {**words, "name": "lacks", "arguments": ["good", "{n}"], "numbers": {"x": "x = (.*)"}},
        {**words, "name": "none", "arguments": ["good", "{n}"], "numbers": {"x": "rate: (.*)"}},
    ]
    found = wg.sweep(
        {"sweep": {"do": "time", "repeat": 1, "timeout": 3}, "axes": {"n": [8]}, "kernel": kernels}, workers=1
    )
    rows = {row.name: row for row in found.rows}
    assert {name: row.status for name, row in rows.items()} == {
        **dict.fromkeys(("good", "floods", "leaves"), "done"),
        **dict.fromkeys(("fails", "dies", "hangs", "lacks", "none"), "failed"),
        "else": "wrong",
    }
    assert (rows["good"].numbers["rate"], rows["floods"].numbers["rate"]) == (8, 7)
    assert rows["good"].numbers["seconds"] > 0
    assert rows["fails"].text == "exit status 1\nnothing fits"
    assert rows["dies"].text.splitlines()[0] == "exit status 139 (SIGSEGV)"
    assert rows["hangs"].text == "it did not end within 3 s"
    assert rows["else"].text == "it does not print 'done'; its last line: rate: 16 GB/s"
    assert rows["lacks"].text == ("x: nothing in its output fits 'x = (.*)'; its last line: rate: 16 GB/s")
    assert "finds '16 GB/s', which is no number" in rows["none"].text
    assert _ends(int((folder / "left.txt").read_text()))


@pytest.mark.least("full")
def test_launches_are_counted_and_checked(folder: Path) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("programs need Linux")
    program = {"program": "p.cu", "flags": ["-DWIDTH=64"]}
    metrics = ["gst_transactions", "gst_efficiency", "launch__thread_count"]
    (good,) = wg.sweep(
        {"sweep": {"do": "counters", "metrics": metrics}, "kernel": {**program, "arguments": ["3"]}},
        workers=1,
    ).rows
    assert good.status == "done"
    assert good.numbers == {
        "kernels": 5,
        "gst_transactions": 3 * 8 + 4 + 8,
        "gst_efficiency": 100,
        "launch__thread_count": (4 * 64 + 32) / 5,  # the mean of the launches
    }
    (races,) = wg.sweep(
        {"sweep": {"do": "check"}, "kernel": {**program, "arguments": ["1", "races"]}}, workers=1
    ).rows
    assert races.status == "wrong"
    assert races.numbers["kernels"] == 3
    assert "shared-race" in races.numbers["findings"]


@pytest.mark.least("full")
def test_a_script_is_watched_as_well(folder: Path) -> None:
    (folder / "s.py").write_text(
        "import sys\nimport numpy as np\nfrom numba_cuda_mlir import cuda\n\n@cuda.jit\ndef fill(x):\n"
        "    x[cuda.grid(1)] = 1\n\nx = cuda.to_device(np.zeros(64, np.float32))\n"
        "fill[1, int(sys.argv[1])](x)\nprint(x.copy_to_host().sum())\n"
    )
    spec: dict[str, Any] = {
        "sweep": {"do": ["counters", "check"], "metrics": ["gst_transactions"]},
        "axes": {"n": [64, 65]},
        "kernel": {"program": "s.py", "arguments": ["{n}"]},
    }
    good, bad = wg.sweep(spec, workers=1).rows
    assert (good.status, good.numbers["gst_transactions"], good.numbers["kernels"]) == ("done", 8, 1)
    assert bad.status == "failed"
    assert "4-byte write to x[64], but x has 64 elements" in bad.text


def test_what_a_key_depends_on(folder: Path) -> None:
    (folder / "part.py").write_text("N = 1\n")
    (folder / "p.py").write_text("import part\n")
    (folder / "data.txt").write_text("1")
    spec = {"kernel": {"program": "p.py", "arguments": ["data.txt", "x" * 5000]}}

    def key() -> str:
        (cell,) = make(spec, folder).cells()
        return cell.key

    keys = [key()]
    for name in ("part.py", "data.txt"):
        (folder / name).write_text("N = 22\n")
        keys.append(key())
    assert len(set(keys)) == 3


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"program": "q.cu"}, "there is no file"),
        ({"program": 3}, "program: 3; write a file, or a list of files"),
        ({"program": "p.py", "flags": ["-O3"]}, "p.py is not compiled: it takes no other files and no flags"),
        ({"program": "data.txt"}, "is neither a source (.cu, .cpp, .c, .py) nor an executable"),
        ({"program": "k.cu"}, "k.cu has no main function; kernel = names one of its kernels"),
        ({"program": "p.py", "grid": 1}, "unknown key"),
        ({"program": "p.py", "kernel": "k.cu:k"}, "has one of kernel =, rung =, program ="),
        ({"program": "p.py", "arguments": ["{m}"]}, "there is no axis 'm'"),
        ({"program": "p.py", "numbers": {"seconds": "(.)"}}, "numbers: seconds is the name of a number"),
        ({"program": "p.py", "numbers": {"x": "(.)(.)"}}, "with the number in (brackets)"),
        ({"program": "p.py", "numbers": {"x": "("}}, "is no regular expression"),
        ({"program": "p.py", "numbers": 3}, "write a table such as"),
    ],
)
def test_what_is_refused(folder: Path, table: dict[str, Any], said: str) -> None:
    (folder / "data.txt").write_text("1")
    (folder / "k.cu").write_text("__global__ void k() {}\n")
    with pytest.raises(ArgumentError, match=re.escape(said)):
        list(make({"axes": {"n": [1]}, "kernel": table}, folder).cells())


def test_a_program_ends_with_its_worker(folder: Path) -> None:
    code = (
        "from warpglass.sweeps.spec import make\nfrom warpglass.sweeps.work import do\n"
        "spec = {'sweep': {'timeout': 900}, 'kernel': {'program': 'p.py', 'arguments': ['hangs', '1']}}\n"
        "do(next(make(spec).cells()))\n"
    )
    with subprocess.Popen([sys.executable, "-c", code]) as worker:
        left = folder / "left.txt"
        while not left.exists() or not left.read_text():
            assert worker.poll() is None
            time.sleep(0.05)
        worker.send_signal(signal.SIGKILL)
    assert _ends(int(left.read_text()))
