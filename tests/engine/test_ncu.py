"""Launches for Nsight Compute arrive as they left; what a stand-in for ncu says is read as it is meant."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import warpglass as wg
from warpglass import lab
from warpglass.engine.gpu import ncu, ncu_runner
from warpglass.engine.launch.backend import Launch
from warpglass.errors import ArgumentError, WarpglassError

SCALE = wg.compile(
    'extern "C" __global__ void scale(float* x, const float* y, int n)'
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 2 * y[i]; }"
)
SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
UNKNOWN = "smsp__inst_executed_op_shared_atom.sum"  # as on a chip that lacks it

# Writes what ncu writes, after some of the complaints that it may have.
FAKE = """#!/bin/sh
while [ "$1" ]; do
  case "$1" in --metrics) metrics="$2";; --log-file) log="$2";; esac
  shift
done
case ",$metrics," in *,{unknown},*) echo '==ERROR== Failed to find metric {unknown}' > "$log"; exit 1;; esac
{body}
"""
TABLE = (
    "cat > \"$log\" <<'END'\n"
    "==PROF== Connected to process 7\n"
    '"ID","Kernel Name","CC","gpu__time_duration.sum","{sectors}","smsp__inst_executed.sum"\n'
    '"","","","nsecond","sector","inst"\n'
    '"0","scale","{cc}","2,048","1,234","n/a"\n'
    "END\n"
)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Put a script in the place of ncu, and pretend that there is a GPU."""
    real = lab.backend

    def place(device: str = "auto", model: str = "h100") -> Any:
        return SimpleNamespace(description="a GPU", name="gpu") if device == "gpu" else real(device, model)

    def install(body: str) -> None:
        script = tmp_path / "ncu"
        script.write_text(FAKE.format(unknown=UNKNOWN, body=body))
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setattr(lab, "backend", place)

    return install


def profile() -> wg.Profile:
    x, y = np.zeros(1024, "f4"), np.arange(1024, dtype="f4")
    found = wg.profile(SCALE, 4, 256, (x, y, np.int32(1024)), device="gpu", caches=False)
    assert (x == 2 * y).all()
    return found


# ---------------------------------------------------------------------------------------- the launch's file
def test_views_of_one_array_arrive_as_such(tmp_path: Path):
    owner = np.arange(100, dtype="f4")
    left, right = owner[3:90:2], owner[50:]
    right.flags.writeable = False
    launch = lab.make_launch(SCALE, (2, 3), 64, (left, right, np.int32(7)), 16, 5.0, lab.backend("cpu"))
    ncu.save_launch(launch, tmp_path / "launch")
    owner[:] = 0
    found = ncu.load_launch(tmp_path / "launch")
    assert (found.grid, found.block, found.shared, found.args[2]) == ((2, 3, 1), (64, 1, 1), 16, 7)
    a, b, _ = found.args
    assert isinstance(a, np.ndarray)
    assert isinstance(b, np.ndarray)
    assert a.tolist() == list(range(3, 90, 2))
    assert a.strides == left.strides
    assert (a.flags.writeable, b.flags.writeable) == (True, False)
    a[-1] = -1.0  # element 89 of the owner
    assert b[39] == -1.0
    assert found.compiled == launch.compiled


def test_arrays_of_a_gpu_stay_here(tmp_path: Path):
    interface = {"shape": (4,), "typestr": "<f4", "data": (512, False), "version": 3}
    array = SimpleNamespace(__cuda_array_interface__=interface)
    launch = lab.make_launch(
        SCALE, 1, 32, (array, np.zeros(4, "f4"), np.int32(4)), 0, 5.0, lab.backend("cpu")
    )
    with pytest.raises(ArgumentError, match="pass NumPy arrays"):
        ncu.save_launch(launch, tmp_path / "launch")


@pytest.mark.parametrize(("device", "ordinal"), [("gpu", None), ("gpu:1", 1)])
def test_runner_makes_the_launch_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, device: str, ordinal: int | None
):
    made: list[tuple[int | None, Launch]] = []
    monkeypatch.setattr(
        ncu_runner,
        "GpuBackend",
        lambda chosen: SimpleNamespace(run=lambda launch: made.append((chosen, launch))),
    )
    launch = lab.make_launch(
        SCALE, 4, 256, (np.ones(9, "f4"), np.ones(9, "f4"), np.int32(9)), 0, 5.0, lab.backend("cpu")
    )
    ncu.save_launch(launch, tmp_path / "launch")
    ncu_runner.main(str(tmp_path / "launch"), device)
    ((chosen, found),) = made
    assert chosen == ordinal
    assert (found.grid, found.block, found.timeout) == ((4, 1, 1), (256, 1, 1), float("inf"))


# ---------------------------------------------------------------------------------------- what ncu says
def test_measured_stands_beside_counted(fake: Any):
    fake(TABLE.format(sectors=SECTORS, cc="9.0"))
    found = profile()
    assert (found.counters[SECTORS], found.counted[SECTORS], found.label(SECTORS)) == (1234, 128, "measured")
    assert found.metrics["gld_transactions"] == 1234
    assert found.counted["gld_transactions"] == 128
    assert found.label("gld_transactions") == "measured"
    assert (found.metrics["inst_executed"] > 0, found.label("inst_executed")) == (True, "modelled")
    assert (found.seconds, found.time_label, found.device) == (2.048e-6, "gpu", "a GPU")
    assert not found.notes


def test_another_kind_of_gpu_is_noted(fake: Any):
    fake(TABLE.format(sectors=SECTORS, cc="8.6"))
    assert profile().notes == ("the GPU has compute capability 8.6, the engine counted for 9.0",)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission' > \"$log\"",
            "NVreg_RestrictProfilingToAdminUsers=0",
        ),
        ("echo '==WARNING== No kernels were profiled.' > \"$log\"; exit 1", "No kernels were profiled"),
        ("true", "it said nothing"),
    ],
)
def test_failures_say_what_to_do(fake: Any, body: str, message: str):
    fake(body)
    with pytest.raises(WarpglassError, match=message):
        profile()


def test_missing_ncu_is_said(fake: Any, monkeypatch: pytest.MonkeyPatch):
    fake("true")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(Path, "glob", lambda *_: iter(()))
    with pytest.raises(WarpglassError, match="there is no ncu on the path"):
        profile()


def test_without_a_gpu_there_is_nothing_to_measure(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WARPGLASS_DEVICE", "cpu")
    lab._gpu.cache_clear()  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(WarpglassError, match="no GPU"):
        profile()


# ---------------------------------------------------------------------------------------- on a GPU
@pytest.mark.gpu
def test_a_gpu_measures_what_the_engine_counts():
    try:
        ncu.find_ncu()
    except WarpglassError as problem:
        pytest.skip(str(problem))
    found = profile()
    assert found.label(SECTORS) == "measured"
    assert found.counters[SECTORS] == found.counted[SECTORS] == 128
    assert found.time_label == "gpu"
