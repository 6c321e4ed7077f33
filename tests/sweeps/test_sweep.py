"""Sweeps on processes: every cell has its verdict, is done once, and harms no other."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

import warpglass as wg
from warpglass.sweeps.local import Processes
from warpglass.sweeps.spec import make
from warpglass.sweeps.work import do, longest

pytestmark = pytest.mark.turns(3)

KERNELS = """
extern "C" __global__ void fill(int *x, int n) { if (threadIdx.x < n) x[threadIdx.x] = 2 * threadIdx.x; }
extern "C" __global__ void past(int *x, int n) { x[threadIdx.x + n] = 1; }
extern "C" __global__ void spin(volatile int *x, int n) { while (x[0] == 0) {} }
"""
REFERENCE = """
import numpy as np

def doubled(x, n):
    return np.where(np.arange(x.size) < n, 2 * np.arange(x.size), 0).astype(x.dtype)

def same(x, n):
    return x
"""
DIES = "import os\nos._exit(3)\n"
HANGS = "import time\ntime.sleep(1000)\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "k.cu").write_text(KERNELS)
    (tmp_path / "reference.py").write_text(REFERENCE)
    (tmp_path / "dies.py").write_text(DIES)
    (tmp_path / "hangs.py").write_text(HANGS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WARPGLASS_COMPILE_TIMEOUT", "2")
    return tmp_path


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "warpglass", "sweep", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def _kernel(kernel: str, name: str, **more: object) -> dict[str, object]:
    launch = {"grid": 1, "block": 32, "args": ["i4[32]", "i4={n}"]}
    return {"kernel": kernel, "name": name, **launch, **more}


def test_every_cell_has_its_verdict_and_is_done_once(folder: Path) -> None:
    spec = {
        "sweep": {"do": "time", "repeat": 1, "timeout": 0.5, "retries": 1},
        "axes": {"n": [7]},
        "kernel": [
            _kernel("k.cu:fill", "right", expect="reference.py:doubled"),
            _kernel("k.cu:fill", "wrong", expect="reference.py:same"),
            _kernel("k.cu:past", "past"),
            _kernel("k.cu:spin", "spin"),
            _kernel("k.cu:none", "none"),
            _kernel("dies.py:k", "dies"),
            _kernel("hangs.py:k", "hangs"),
        ],
    }
    found = wg.sweep(spec, workers=2)
    verdicts = {row.name: row.status for row in found.rows}
    assert verdicts == {
        **{"right": "done", "wrong": "wrong", "past": "failed", "spin": "failed", "none": "failed"},
        **{"dies": "lost", "hangs": "ended"},
    }
    texts = {row.name: row.text for row in found.rows}
    assert "k.cu:3: past: 4-byte write to x[32]" in texts["past"]
    assert "spin did not end within 0.5 s" in texts["spin"]
    assert texts["wrong"] == "array 1: [1] is 2, expected 0"
    assert texts["dies"] == "the process that did it ended with status 3"
    assert all(row.numbers["seconds"] > 0 for row in found.rows if row.status == "done")
    with sqlite3.connect("sweep.sqlite") as base:
        attempts = dict(base.execute("SELECT name, min(attempts) FROM results GROUP BY name"))
    assert (attempts["dies"], attempts["hangs"], attempts["past"], attempts["right"]) == (2, 2, 1, 1)

    again: list[str] = []
    repeated = wg.sweep(spec, progress=lambda done, count, what: again.append(what))
    assert (repeated.rows, again) == (found.rows, [])


def test_the_command(folder: Path) -> None:
    (folder / "s.toml").write_text(
        '[sweep]\ndo = ["counters", "check"]\nmetrics = ["gst_transactions"]\n[axes]\nn = [3, 32]\n'
        '[[kernel]]\nkernel = "k.cu:fill"\ngrid = 1\nblock = 32\nargs = ["i4[32]", "i4={n}"]\n'
    )
    ran = _run("s.toml", "--best", "gst_transactions", "--csv", "all.csv")
    assert ran.returncode == 0, ran.stderr
    assert "2 cells: 2 done" in ran.stdout
    assert "Best gst_transactions for model h100: 1, k.cu:fill (n=3)" in ran.stdout
    lines = (folder / "all.csv").read_text().splitlines()
    assert lines[0].startswith("name,n,model,status,gst_transactions,errors,warnings")
    assert [line.split(",")[1:5] for line in lines[1:]] == [
        ["3", "h100", "done", "1"],
        ["32", "h100", "done", "4"],
    ]
    drawn = _run("s.toml", "--heat-map", "gst_transactions,n,model", "--plot", "h.png", "--json")
    assert len(json.loads(drawn.stdout)["rows"]) == 2
    assert (folder / "h.png").read_bytes().startswith(b"\x89PNG")
    bad = _run("s.toml", "--heat-map", "gst_transactions,m,model", "--plot", "h.png")
    assert (bad.returncode, bad.stderr.strip()) == (2, "warpglass: there is no axis 'm'")


def test_cells_left_behind_leave_no_process(folder: Path) -> None:
    import multiprocessing

    cells = make({"axes": {"n": [1, 2, 3]}, "kernel": _kernel("k.cu:fill", "fill")}, folder).cells()
    with Processes(1, do, longest) as processes:
        next(iter(processes.done(cells)))
    assert not [child for child in multiprocessing.active_children() if child.is_alive()]
