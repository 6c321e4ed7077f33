"""The pytest plugin, in sessions of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the virtual GPU needs Linux")

_SESSION = '''
import numpy as np
import pytest
import warpglass as wg

SOURCE = """
extern "C" __global__ void rev(const float *x, float *out) {
    __shared__ float s[64];
    s[threadIdx.x] = x[threadIdx.x];
    SYNC
    out[threadIdx.x] = s[63 - threadIdx.x];
}
"""

def launch(sync):
    x = np.arange(64, dtype=np.float32)
    wg.run(wg.compile(SOURCE.replace("SYNC", sync), "rev"), 1, 64, (x, np.zeros_like(x)), device="cpu")

def test_good():
    launch("__syncthreads();")

def test_racy():
    launch("")

@pytest.mark.warpglass_allow("shared-race", reason="on purpose")
def test_allowed():
    launch("")

@pytest.mark.warpglass_allow("shared-rage")
def test_misspelt():
    launch("")

def test_within_budget(warpglass_profile):
    launch("__syncthreads();")
    assert warpglass_profile.metrics["gld_efficiency"] == 100
    assert warpglass_profile["rev"].counters is warpglass_profile.counters
    warpglass_profile.assert_at_most(shared_bank_conflicts=0)

def test_over_budget(warpglass_profile):
    launch("__syncthreads();")
    warpglass_profile.assert_at_most(gld_transactions=1)

def test_unknown_counter(warpglass_profile):
    launch("__syncthreads();")
    warpglass_profile.assert_at_most(shared_bank_conflict=0)

def test_nothing_counted(warpglass_profile):
    warpglass_profile.assert_at_least(gld_efficiency=1)

def test_finds_a_gpu():
    from cuda.bindings import driver
    assert driver.cuInit(0)[0] == 0 and driver.cuDeviceGetCount()[1] == 1
'''


def _session(folder: Path, *options: str) -> tuple[dict[str, str], str]:
    """Run the session; the outcome of each test, and what was printed."""
    (folder / "test_session.py").write_text(_SESSION, encoding="utf-8")
    # An installation from before the plugin does not announce it.
    announced = metadata.entry_points(group="pytest11", name="warpglass")
    words = [*(() if announced else ("-p", "warpglass.pytest_plugin")), "-p", "no:cacheprovider"]
    words += ["-v", "--color=no", *options]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    outcomes: dict[str, str] = {}
    for line in done.stdout.splitlines():
        parts = line.split()
        names = [part.partition("::test_")[2] for part in parts if part.startswith("test_session.py::")]
        verdicts = [part for part in parts if part in ("PASSED", "FAILED")]
        if names and verdicts and not line.startswith("FAILED"):
            outcomes[names[0]] = verdicts[0].lower()
    return outcomes, done.stdout + done.stderr


@pytest.mark.parametrize("workers", [(), pytest.param(("-n", "2"), marks=pytest.mark.least("full"))])
def test_a_bad_launch_fails_its_test(workers: tuple[str, ...], tmp_path: Path) -> None:
    sarif = tmp_path / "out.sarif"
    outcomes, said = _session(tmp_path, "--warpglass-check", f"--warpglass-sarif={sarif}", *workers)
    failing = {"racy", "misspelt", "over_budget", "unknown_counter", "nothing_counted"}
    passing = {"good", "allowed", "within_budget", "finds_a_gpu"}
    assert outcomes == dict.fromkeys(failing, "failed") | dict.fromkeys(passing, "passed"), said
    assert "shared-race of s[32]" in said
    assert "'shared-rage'; it may name shared-race" in said
    assert "sitecustomize" not in said
    assert "gld_transactions is 8, allowed is at most 1" in said
    assert "no counter or metric 'shared_bank_conflict' (did you mean shared_bank_conflicts?)" in said
    results = json.loads(sarif.read_text("utf-8"))["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["shared-race"]


def test_an_unknown_gpu_is_refused(tmp_path: Path) -> None:
    outcomes, said = _session(tmp_path, "--warpglass=gtx9999")
    assert not outcomes
    assert "gtx9999" in said
    assert "Traceback" not in said
